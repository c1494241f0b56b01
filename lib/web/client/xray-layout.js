/**
 * What an X-ray draws, as plain objects: where each lane is, each bar, each word. Pure: xray.js puts it on the page.
 *
 * @typedef {import('./xray-story.js').Story} Story
 * @typedef {import('./xray-story.js').Process} Process
 * @typedef {import('./xray-marks.js').Mark} Mark
 *
 * @typedef {object} Panel  lanes that share a zero
 * @property {string} key
 * @property {number} fromMs
 * @property {Process[]} processes
 * @property {import('./xray-story.js').Asked[]} asked
 * @property {number} [lengthMs]  to be bracketed
 */
import { legendOf, signsIn } from './xray-legend.js';
import { placeLabels } from './xray-labels.js';
import {
  BRACKET,
  CURVE,
  LARGE,
  RIGHT,
  SMALL,
  WIDTH,
  curveMarks,
  panelMarks,
} from './xray-marks.js';
import { boxesOf, markedIn } from './xray-moments.js';
import { lanesOf, nameOf, sidesOf } from './xray-story.js';

const WIDEST_LANE = 80;
const WIDEST_ROW = 34;
const FEW = 2; // lanes or rows: they may be wider by half
const ROW = 12; // of a client, where there is room
const CLIENTS = 40; // at least, all rows together
const MOST_FOR_CLIENTS = 0.45;
const LINE = 1.27; // of a name, in parts of its font's size
const LEAST_LANE = LINE * SMALL;
const TOP = 4;
const AXIS = 40;
const TICK_EVERY = 96; // px, at least
const BETWEEN = 20; // px, between two labels of the axis
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const SPANS_MS = [600, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000];

/** How much time the axis shows while it goes on: it grows now and then, not with every frame. */
export const spanFor = (/** @type {number} */ ms) =>
  SPANS_MS.find((span) => span >= ms) ?? Math.ceil(ms / 10_000) * 10_000;

/**
 * @typedef {object} View
 * @property {number} height  that there is
 * @property {number} [width]  WIDTH unless told: words keep their size, so a narrower one shows less time between them
 * @property {number} [sinceMs]  what the axis calls its first moment; 0 unless told
 * @property {boolean} [hasLegend]  unless told, it has
 * @property {number} nowMs
 * @property {number} spanMs  of the axis
 * @property {boolean} isFinal  nothing more comes: sides of a comparison are put under one another
 * @property {boolean} [isEmpty]  nothing has begun: the lanes stand there
 * @property {{ lanes: number, curves: number, asked: import('./xray-story.js').Asked[] }} [expected]  what will be there, as
 *   far as is known: room is kept for it
 * @property {(text: string, size: number) => number} widthOf
 * @property {Memo} [memo]  of the frame before
 * @property {import('./xray-moments.js').Moment[]} [moments]  to be marked: no words lie there
 */

/** @typedef {{ place: string, marks: Map<object, Mark> }} Memo  what does not change any more while its place is the same */

/** @returns {Memo} */
export const createMemo = () => ({ place: '', marks: new Map() });

/**
 * @param {Story} story
 * @param {View} view
 * @returns {{ height: number, width: number, x: (ms: number) => number, marks: Mark[],
 *   marked: import('./xray-moments.js').Marked[] }}  x: where a time is, of the first panel; marked: where its moments are
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
  const { height, nowMs, spanMs, isFinal, isEmpty = false, expected, widthOf } = view;
  const { width: full = WIDTH, sinceMs = 0, moments = [] } = view;
  const sides = isFinal ? sidesOf(story) : [];
  const panels = sides.length > 0 ? sides.map(asPanel) : [wholeOf(story)];
  const longestMs = Math.max(...sides.map(({ fromMs, toMs }) => toMs - fromMs));
  const scale = scaleOf(story, panels, {
    height,
    full,
    sinceMs,
    nowMs: Math.max(nowMs, story.lastMs),
    spanMs: sides.length > 0 ? longestMs * 1.1 : spanMs,
    isEmpty,
    expected: isFinal ? undefined : expected,
    legend: legendOf(signs, { width: full, widthOf }),
    widthOf,
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

/** The marks that are finished, unless all have moved. */
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

/** @returns {Panel} */
const wholeOf = (story) => ({
  key: 'all',
  fromMs: story.originMs,
  processes: lanesOf(story),
  asked: [...story.asked.values()],
});

/** @returns {Panel} */
const asPanel = (/** @type {import('./xray-story.js').Side} */ side) => ({
  ...side,
  key: String(side.root.pid),
  lengthMs: side.toMs - side.fromMs,
});

function scaleOf(story, panels, view) {
  const { height, full, sinceMs, nowMs, spanMs, isEmpty, expected, legend, widthOf } = view;
  const rows = panels.map(({ asked }) => clientRows(asked));
  if (expected) rows[0].count = Math.max(rows[0].count, clientRows(expected.asked).count);
  const born = panels.reduce((sum, one) => sum + one.processes.length, 0);
  const lanes = Math.max(1, born, expected?.lanes ?? 0);
  const brackets = panels.filter(({ lengthMs }) => lengthMs !== undefined).length * BRACKET;
  const curveCount = Math.max(story.curves.size, expected?.curves ?? 0);
  const room = height - TOP - AXIS - legend.height - brackets - curveCount * CURVE;
  const shares = rows.map(({ count }) => (count > 0 ? Math.max(CLIENTS, count * ROW + 10) : 0));
  const wanted = shares.reduce((sum, share) => sum + share, 0);
  const least = shares.filter((share) => share > 0).length * CLIENTS;
  const most = Math.max(least, Math.min(MOST_FOR_CLIENTS * room, room - lanes * LEAST_LANE));
  const cut = Math.max(0, wanted - most);
  const widestLane = WIDEST_LANE * (lanes <= FEW ? 1.5 : 1);
  const lane = Math.min(widestLane, Math.max(12, (room - wanted + cut) / lanes));
  const spare = Math.max(0, room - wanted + cut - lane * lanes);
  const above = shares.map((share) => Math.max(0, share - CLIENTS)); // what can be taken from each
  const allAbove = Math.max(1, ...[above.reduce((sum, one) => sum + one, 0)]);
  const bands = rows.map(({ count }, index) => {
    const widest = Math.max(CLIENTS, count * widestRow(count) + 10);
    const taken = (cut * above[index]) / allAbove;
    return count > 0 ? Math.min(widest, shares[index] - taken + spare / rows.length) : 0;
  });
  const size = lane >= LINE * LARGE ? LARGE : SMALL;
  const names = [
    ...panels.flatMap(({ processes }) => processes.map(nameOf)),
    ...story.curves.keys(),
    ...(wanted > 0 ? ['clients'] : []),
  ];
  const margin = 24 + Math.max(80, ...names.map((name) => widthOf(name, size)));
  const width = full - margin - RIGHT;
  let y = TOP;
  const placed = panels.map((panel, index) => {
    const bracketY = y;
    if (panel.lengthMs !== undefined) y += BRACKET;
    const clientsY = y;
    y += bands[index];
    const lanesY = y;
    y += panel.processes.length * lane;
    const { rows: asked, count } = rows[index];
    const row = (bands[index] - 8) / Math.max(1, count);
    const share = (ms) => Math.min(1, Math.max(0, (ms - panel.fromMs) / spanMs));
    const x = (ms) => margin + share(ms) * width;
    const isSeen = (fromMs, toMs) => toMs >= panel.fromMs && fromMs <= panel.fromMs + spanMs;
    const place = { bracketY, clientsY, lanesY, row: Math.min(row, widestRow(count)), x, isSeen };
    return { ...panel, ...place, asked, band: bands[index] };
  });
  const lanesEnd = TOP + brackets + bands.reduce((sum, band) => sum + band, 0) + lanes * lane;
  const curves = [...story.curves].map(([name, curve], index) => ({
    name,
    ...curve,
    y: lanesEnd + index * CURVE,
    x: placed[0].x,
    fromMs: placed[0].fromMs,
  }));
  const axisY = lanesEnd + curveCount * CURVE;
  const bottom = axisY + AXIS + legend.height;
  return {
    panels: placed,
    curves,
    legend,
    lane,
    bar: lane * 0.62,
    size,
    margin,
    width,
    full,
    sinceMs,
    spanMs,
    nowMs,
    isEmpty,
    axisY,
    bottom,
    widthOf,
  };
}

const widestRow = (/** @type {number} */ count) => WIDEST_ROW * (count <= FEW ? 1.5 : 1);

/** Each request of a client on the first row that is free. */
function clientRows(asked) {
  const ends = [];
  const rows = asked.map((one) => {
    const free = ends.findIndex((end) => end <= one.fromMs);
    const row = free < 0 ? ends.length : free;
    ends[row] = one.toMs ?? Infinity;
    return { ...one, row };
  });
  return { rows, count: ends.length };
}

/** Round times, as many as their labels leave room for. */
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
    const middle = Math.min(x, full - widthOf(words(ms), LARGE) / 2); // the last one is not cut
    const at = { class: 'tick', x: middle, y: axisY + 30, 'font-size': LARGE };
    return [
      { key: `grid ${ms}`, layer: 'grid', tag: 'line', at: line },
      { key: `tick ${ms}`, layer: 'grid', tag: 'text', at, text: words(ms) },
    ];
  });
}

/** @returns {Mark} */
const wordsOf = ({ key, text, kind = 'says', size, x, y, anchor }) => ({
  key: `text ${key}`,
  layer: 'words',
  tag: 'text',
  at: { class: kind, x, y, 'text-anchor': anchor, 'font-size': size },
  text,
});
