/** The curves of an X-ray, as plain objects: counts over time, drawn below the lanes. */
import { CURVE, RIGHT, SMALL, laneLabel, px } from './xray-shapes.js';

/** @typedef {import('./xray-shapes.js').Mark} Mark  @typedef {import('./xray-labels.js').Label} Label */

/** One curve: a line for each count, on the time axis of the lanes. @returns {{ marks: Mark[], labels: Label[] }} */
export function curveMarks({ name, label, most, names, points, y, x, fromMs }, scale) {
  const [top, bottom] = [y + 34, y + CURVE - 8];
  const level = (value) => bottom - (value / most) * (bottom - top);
  const labels = [
    laneLabel(`curve ${name}`, name, (top + bottom) / 2, scale),
    {
      key: `about ${name}`,
      text: label,
      kind: 'says quiet',
      size: SMALL,
      spots: [{ x: x(fromMs) + 8, y: y + 24 }],
    },
  ];
  const avoid = names.flatMap((_, index) =>
    points.slice(1).map(({ ms, values }, before) => {
      const [from, to] = [level(points[before].values[index]), level(values[index])];
      const [left, right] = [x(points[before].ms), x(ms)];
      return { left, right, top: Math.min(from, to) - 3, bottom: Math.max(from, to) + 3 };
    }),
  );
  const marks = names.map((series, index) => {
    const all = points.map(({ ms, values }) => `${px(x(ms))},${px(level(values[index]))}`);
    const peak = points.reduce((a, b) => (b.values[index] > a.values[index] ? b : a));
    const text = `${series}: at most ${peak.values[index]} seen`;
    const baseline = level(peak.values[index]) - 10;
    const along = [0.5, 0.3, 0.7, 0.1].map((part) => x(fromMs) + part * scale.width);
    const spots = [
      { x: x(peak.ms) + 12, y: baseline + 6 },
      ...along.map((at) => ({ x: at, y: baseline })),
    ];
    labels.push({ key: `peak ${name} ${index}`, text, kind: 'says', size: SMALL, spots, avoid });
    const at = { class: `curve curve-${index}`, points: all.join(' ') };
    return { key: `curve ${name} ${index}`, layer: 'work', tag: 'polyline', at };
  });
  const at = { class: 'floor', x1: x(fromMs), x2: scale.full - RIGHT, y1: bottom, y2: bottom };
  return { marks: [{ key: `floor ${name}`, layer: 'grid', tag: 'line', at }, ...marks], labels };
}
