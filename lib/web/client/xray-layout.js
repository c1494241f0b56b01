/**
 * What an X-ray draws, as plain objects: its marks, its words, its axis. Pure: xray.js puts it on the page.
 *
 * @typedef {import('./xray-story.js').Story} Story
 * @typedef {import('./xray-shapes.js').Mark} Mark
 * @typedef {import('./xray-scale.js').Panel} Panel
 */
import { curveMarks } from './xray-curve-marks.js';
import { placeLabels } from './xray-labels.js';
import { legendOf, signsIn } from './xray-legend.js';
import { panelMarks } from './xray-marks.js';
import { boxesOf, markedIn } from './xray-moments.js';
import { AXIS, scaleOf } from './xray-scale.js';
import { LARGE, WIDTH } from './xray-shapes.js';
import { lanesOf, sidesOf } from './xray-story.js';

const TICK_EVERY = 96; // px, at least
const BETWEEN = 20; // px, between two labels of the axis
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const SPANS_MS = [600, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000];

/** The axis of a live drawing grows in steps, not with every frame. */
export const spanFor = (/** @type {number} */ ms) =>
  SPANS_MS.find((span) => span >= ms) ?? Math.ceil(ms / 10_000) * 10_000;

/**
 * @typedef {object} View
 * @property {number} height  available
 * @property {number} [width]  default WIDTH; words keep their size at any width
 * @property {number} [sinceMs]  the axis calls its first moment this; default 0
 * @property {boolean} [hasLegend]  default true
 * @property {number} nowMs
 * @property {number} spanMs  of the axis
 * @property {boolean} isFinal  the story is complete: the two programs of a comparison share a zero
 * @property {boolean} [isEmpty]  draws empty lanes: nothing has begun
 * @property {{ lanes: number, curves: number, asked: import('./xray-story.js').Asked[] }} [expected]  keeps room for these
 * @property {(text: string, size: number) => number} widthOf
 * @property {Memo} [memo]  of the frame before
 * @property {import('./xray-moments.js').Moment[]} [moments]  marked, and kept free of words
 *
 * @typedef {{ place: string, marks: Map<object, Mark> }} Memo  finished marks, valid while `place` stays the same
 */

/** @returns {Memo} */
export const createMemo = () => ({ place: '', marks: new Map() });

/**
 * @param {Story} story @param {View} view
 * @returns {{ height: number, width: number, x: (ms: number) => number, marks: Mark[],
 *   marked: import('./xray-moments.js').Marked[] }}  x: of a time, in the first panel; marked: its moments
 */
export function arrange(story, view) {
  const signs = view.hasLegend === false ? [] : signsIn(story);
  const all = compose(story, view, signs);
  if (!view.isFinal) return all;
  const drawn = new Set(
    all.marks.filter(({ layer }) => layer !== 'legend').map(({ at }) => at.class),
  );
  const used = signs.filter((sign) => drawn.has(sign));
  return used.length < signs.length ? compose(story, view, used) : all;
}

/** @param {Story} story @param {View} view @param {string[]} signs */
function compose(story, view, signs) {
  const {
    isFinal,
    isEmpty = false,
    widthOf,
    width: full = WIDTH,
    sinceMs = 0,
    moments = [],
  } = view;
  const sides = isFinal ? sidesOf(story) : [];
  const panels = sides.length > 0 ? sides.map(asPanel) : [wholeOf(story)];
  const longestMs = Math.max(...sides.map(({ fromMs, toMs }) => toMs - fromMs));
  const scale = scaleOf(story, panels, {
    ...{ height: view.height, full, sinceMs, isEmpty, widthOf },
    nowMs: Math.max(view.nowMs, story.lastMs),
    spanMs: sides.length > 0 ? longestMs * 1.1 : view.spanMs,
    expected: isFinal ? undefined : view.expected,
    legend: legendOf(signs, { width: full, widthOf }),
  });
  const done = doneAt(scale, view.memo);
  const parts = [
    ...scale.panels.map((panel) => panelMarks(story, panel, { ...scale, done })),
    ...scale.curves.map((curve) => curveMarks(curve, scale)),
  ];
  const area = { left: 0, right: full, top: 0, bottom: scale.axisY };
  const marked = markedIn(moments, scale);
  const labels = placeLabels(
    parts.flatMap((part) => part.labels),
    { area, widthOf, free: marked.flatMap(boxesOf) },
  );
  const marks = [
    ...axisMarks(scale),
    ...parts.flatMap((part) => part.marks),
    ...labels.map(wordsOf),
    ...scale.legend.marks(scale.axisY + AXIS),
  ];
  return { height: scale.bottom, width: full, x: scale.panels[0].x, marks, marked };
}

/** The finished marks, or none of them if the lanes have moved. */
function doneAt({ panels, margin, lane, spanMs }, memo = createMemo()) {
  const lanes = panels.map(({ processes, lanesY, fromMs }) => [
    lanesY,
    fromMs,
    ...processes.map(({ pid }) => pid),
  ]);
  const place = [margin, lane, spanMs, ...lanes].join();
  if (place !== memo.place) memo.marks.clear();
  memo.place = place;
  return memo.marks;
}

const wholeOf = (story) => ({
  key: 'all',
  fromMs: story.originMs,
  processes: lanesOf(story),
  asked: [...story.asked.values()],
});

const asPanel = (/** @type {import('./xray-story.js').Side} */ side) => ({
  ...side,
  key: String(side.root.pid),
  lengthMs: side.toMs - side.fromMs,
});

/** Labels round times, as many as there is room for. */
function axisMarks({ margin, width, full, sinceMs, spanMs, axisY, widthOf }) {
  const lastMs = sinceMs + spanMs;
  const words = (ms) => (lastMs < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);
  const labelOf = (step) => widthOf(words(Math.floor(lastMs / step) * step), LARGE) + BETWEEN;
  const step =
    STEPS_MS.find((ms) => (ms / spanMs) * width >= Math.max(TICK_EVERY, labelOf(ms))) ?? 20_000;
  const first = Math.ceil(sinceMs / step);
  const count = Math.floor(lastMs / step) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step).flatMap((ms) => {
    const x = margin + ((ms - sinceMs) / spanMs) * width;
    const line = { class: 'grid', x1: x, x2: x, y1: 0, y2: axisY };
    const middle = Math.min(x, full - widthOf(words(ms), LARGE) / 2); // the last label must not be cut
    const at = { class: 'tick', x: middle, y: axisY + 30, 'font-size': LARGE };
    return [
      { key: `grid ${ms}`, layer: 'grid', tag: 'line', at: line },
      { key: `tick ${ms}`, layer: 'grid', tag: 'text', at, text: words(ms) },
    ];
  });
}

const wordsOf = ({ key, text, kind = 'says', size, x, y, anchor }) => ({
  key: `text ${key}`,
  layer: 'words',
  tag: 'text',
  at: { class: kind, x, y, 'text-anchor': anchor, 'font-size': size },
  text,
});
