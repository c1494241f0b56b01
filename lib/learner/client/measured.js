/** What was measured: the headline as a picture, beside the prediction and earlier saves; the rest as numbers. */
import { chartOf, measurementOf } from '../../web/client/charts.js';
import { make } from '../../web/client/elements.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 560;
const NAMES = 194; // px, for the longest name in a narrow window, where words are larger
const ROW = 34;

/** @param {HTMLElement} place  @param {{ key: string, activity: import('./activity.js').Activity }} page */
export function createNumbers(place, { key, activity }) {
  const { button, status } = solutionMeter(key, activity);
  return {
    /**
     * @param {any} check  has measurements once it is over
     * @param {{ value: number, low?: number, high?: number }} [solution]  its headline on this machine
     */
    update(check, solution) {
      const {
        id,
        isOver,
        lesson,
        measurements = [],
        charts = [],
        earlier = [],
        prediction,
      } = check;
      const now = `${id} ${isOver} ${solution?.value}`;
      if (place.dataset.holds === now) return;
      place.dataset.holds = now;
      place.hidden = measurements.length + charts.length === 0;
      if (place.hidden) return;
      const isComparable = measurements.some((one) => one.isHeadline && isFine(one));
      const hasButton = isComparable && !solution && lesson.key === key;
      status.textContent = '';
      place.replaceChildren(
        make('h3', { textContent: 'What was measured' }),
        ...measurements.map((one) => measurementIn(one, { prediction, earlier, solution })),
        ...(hasButton ? [button, status] : []),
        ...charts.map(chartOf),
      );
    },
  };
}

/** The button that has the solution measured, and its status. */
function solutionMeter(key, activity) {
  const button = make('button', { type: 'button', textContent: 'Measure the solution here' });
  const status = make('p', { className: 'note' });
  status.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    const fault = await activity.start(`/lessons/${key}/measure`, (run) => {
      if (run.isOver) status.textContent = run.fault ?? '';
    });
    status.textContent = fault ?? 'It takes as long as a check does.';
  });
  return { button, status };
}

const isFine = ({ roughness, value }) => roughness !== 'unknown' && Number.isFinite(value);

/** A measurement too rough to say anything has no number. */
function measurementIn(one, known) {
  if (isFine(one)) return one.isHeadline ? pictureOf(one, known) : measurementOf(one);
  const words = `${one.label}: too rough to tell${one.note ? ` (${one.note})` : ''}`;
  return make('p', { className: 'note', textContent: words });
}

/** Prediction, measurement with its interval, ceiling and earlier saves, on one scale. */
function pictureOf(measurement, { prediction, earlier, solution }) {
  const { label, value, low, high, ceiling, unit, note, judged, roughness } = measurement;
  const remarks = [roughness, note, judged].filter(Boolean);
  const rows = [
    ...(prediction === undefined
      ? []
      : [{ kind: 'predicted', name: 'you predicted', value: prediction }]),
    ...earlier.map((one, index) => ({
      ...{ kind: 'earlier', name: `${earlier.length - index} before`, ...one },
    })),
    { kind: 'now', name: 'measured now', value, low, high },
    ...(solution ? [{ kind: 'solution', name: 'the solution here', ...solution }] : []),
    ...(ceiling === undefined ? [] : [{ kind: 'ceiling', name: 'ceiling', value: ceiling }]),
  ];
  const figure = make('figure', { className: 'picture' });
  figure.append(
    make('figcaption', { textContent: `${label} (${unit === 'times' ? 'times as fast' : unit})` }),
    drawing(rows),
    ...remarks.map((textContent) => make('p', { className: 'note', textContent })),
  );
  return figure;
}

function drawing(rows) {
  const most = Math.max(...rows.flatMap(({ value, high }) => [value, finite(high, value)])) * 1.05;
  const x = (value) => NAMES + (Math.min(value, most) / most) * (WIDTH - NAMES - 70);
  const height = rows.length * ROW;
  const words = rows.map((row) => `${row.name} ${wordsOf(row)}`).join('; ');
  const svg = draw('svg', { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': words });
  rows.forEach((row, index) => {
    const y = index * ROW + ROW / 2;
    const group = draw('g', { class: row.kind });
    group.append(say(row.name, { x: NAMES - 12, y: y + 5, 'text-anchor': 'end' }));
    group.append(draw('line', { class: 'bar', x1: NAMES, x2: x(row.value), y1: y, y2: y }));
    if (Number.isFinite(row.low))
      group.append(
        draw('line', {
          class: 'interval',
          x1: x(row.low),
          x2: x(finite(row.high, most)),
          y1: y,
          y2: y,
        }),
      );
    group.append(draw('circle', { cx: x(row.value), cy: y, r: 6 }));
    const end = Math.max(x(row.value), !Number.isFinite(row.low) ? 0 : x(finite(row.high, most)));
    group.append(say(round(row.value), { x: end + 12, y: y + 5 }));
    svg.append(group);
  });
  return svg;
}

/** JSON knows no Infinity. */
const finite = (value, otherwise) => (Number.isFinite(value) ? value : otherwise);
const round = (value) => value.toFixed(value < 100 ? 2 : 0);
const wordsOf = ({ value, low, high }) =>
  !Number.isFinite(low) || !Number.isFinite(high)
    ? round(value)
    : `${round(value)}, 95 % interval ${round(low)} to ${round(high)}`;

function say(content, attributes) {
  const element = draw('text', attributes);
  element.textContent = content;
  return element;
}

function draw(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
