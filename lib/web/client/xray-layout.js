/**
 * What an X-ray draws, as plain objects: where each lane is, each bar, each word. Pure: xray.js puts it on the page.
 *
 * @typedef {import('./xray-story.js').Story} Story
 * @typedef {import('./xray-story.js').Process} Process
 * @typedef {import('./xray-labels.js').Box} Box
 * @typedef {import('./xray-labels.js').Label} Label
 *
 * @typedef {object} Mark
 * @property {string} key  the same for the same thing in each frame
 * @property {string} layer
 * @property {string} tag
 * @property {Record<string, string | number>} at  attributes
 * @property {string} [text]
 * @property {() => string} [says]  what is told when somebody points at it
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
import { endOf, heirsOf, lanesOf, nameOf, sidesOf } from './xray-story.js';

export const WIDTH = 1168;
const RIGHT = 44; // half of the last label of the axis
const WIDEST_LANE = 80;
const WIDEST_ROW = 34;
const FEW = 2; // lanes or rows: they may be wider by half
const ROW = 12; // of a client, where there is room
const CLIENTS = 40; // at least, all rows together
const MOST_FOR_CLIENTS = 0.45;
const LEAST_LANE = 24;
const TOP = 4;
const AXIS = 36;
const BRACKET = 34;
const CURVE = 130;
const LARGE = 24;
const SMALL = 20;
const MOST_NAMED = 8; // requests that have their own words
const TICK_EVERY = 96; // px, at least
const STEPS_MS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const SPANS_MS = [600, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000];

/** How much time the axis shows while it goes on: it grows now and then, not with every frame. */
export const spanFor = (/** @type {number} */ ms) =>
  SPANS_MS.find((span) => span >= ms) ?? Math.ceil(ms / 10_000) * 10_000;

/**
 * @typedef {object} View
 * @property {number} height  that there is
 * @property {number} nowMs
 * @property {number} spanMs  of the axis
 * @property {boolean} isFinal  nothing more comes: sides of a comparison are put under one another
 * @property {boolean} [isEmpty]  nothing has begun: the lanes stand there
 * @property {{ lanes: number, curves: number, asked: import('./xray-story.js').Asked[] }} [expected]  what will be there, as
 *   far as is known: room is kept for it
 * @property {(text: string, size: number) => number} widthOf
 * @property {Memo} [memo]  of the frame before
 */

/** @typedef {{ place: string, marks: Map<object, Mark> }} Memo  what does not change any more while its place is the same */

/** @returns {Memo} */
export const createMemo = () => ({ place: '', marks: new Map() });

/**
 * @param {Story} story
 * @param {View} view
 * @returns {{ height: number, marks: Mark[] }}
 */
export function arrange(story, view) {
  const signs = signsIn(story);
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
  const sides = isFinal ? sidesOf(story) : [];
  const panels = sides.length > 0 ? sides.map(asPanel) : [wholeOf(story)];
  const longestMs = Math.max(...sides.map(({ fromMs, toMs }) => toMs - fromMs));
  const scale = scaleOf(story, panels, {
    height,
    nowMs: Math.max(nowMs, story.lastMs),
    spanMs: sides.length > 0 ? longestMs * 1.1 : spanMs,
    isEmpty,
    expected: isFinal ? undefined : expected,
    legend: legendOf(signs, { width: WIDTH, widthOf }),
    widthOf,
  });
  const done = doneAt(scale, view.memo);
  const parts = [
    ...scale.panels.map((panel) => panelMarks(story, panel, { ...scale, done })),
    ...scale.curves.map((curve) => curveMarks(curve, scale)),
  ];
  const area = { left: 0, right: WIDTH, top: 0, bottom: scale.axisY };
  const labels = placeLabels(
    parts.flatMap((part) => part.labels),
    { area, widthOf },
  );
  const marks = [
    ...axisMarks(scale),
    ...parts.flatMap((part) => part.marks),
    ...labels.map(wordsOf),
    ...scale.legend.marks(scale.axisY + AXIS),
  ];
  return { height: scale.bottom, marks };
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

function scaleOf(story, panels, { height, nowMs, spanMs, isEmpty, expected, legend, widthOf }) {
  const rows = panels.map(({ asked }) => clientRows(asked));
  if (expected) rows[0].count = Math.max(rows[0].count, clientRows(expected.asked).count);
  const born = panels.reduce((sum, one) => sum + one.processes.length, 0);
  const lanes = Math.max(1, born, expected?.lanes ?? 0);
  const brackets = panels.filter(({ lengthMs }) => lengthMs !== undefined).length * BRACKET;
  const curveCount = Math.max(story.curves.size, expected?.curves ?? 0);
  const room = height - TOP - AXIS - legend.height - brackets - curveCount * CURVE;
  const shares = rows.map(({ count }) => (count > 0 ? Math.max(CLIENTS, count * ROW + 10) : 0));
  const wanted = shares.reduce((sum, share) => sum + share, 0);
  const most = Math.min(MOST_FOR_CLIENTS * room, room - lanes * LEAST_LANE);
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
  const size = lane < 30 ? SMALL : LARGE;
  const names = [
    ...panels.flatMap(({ processes }) => processes.map(nameOf)),
    ...story.curves.keys(),
    ...(wanted > 0 ? ['clients'] : []),
  ];
  const margin = 24 + Math.max(80, ...names.map((name) => widthOf(name, size)));
  const width = WIDTH - margin - RIGHT;
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

function axisMarks({ margin, width, spanMs, axisY, widthOf }) {
  const step = STEPS_MS.find((ms) => (ms / spanMs) * width >= TICK_EVERY) ?? 20_000;
  const words = (ms) => (spanMs < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, index) => index * step).flatMap(
    (ms) => {
      const x = margin + (ms / spanMs) * width;
      const line = { class: 'grid', x1: x, x2: x, y1: 0, y2: axisY };
      const at = { class: 'tick', x, y: axisY + 26, 'font-size': LARGE };
      const isCut = x + widthOf(words(ms), LARGE) / 2 > WIDTH;
      return [
        { key: `grid ${ms}`, layer: 'grid', tag: 'line', at: line },
        ...(isCut ? [] : [{ key: `tick ${ms}`, layer: 'grid', tag: 'text', at, text: words(ms) }]),
      ];
    },
  );
}

function panelMarks(story, panel, scale) {
  const { processes, lanesY, key } = panel;
  const { lane } = scale;
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Label[]} */
  const labels = [];
  const add = (found) => (marks.push(...found.marks), labels.push(...found.labels));
  const yOf = new Map(processes.map((one, index) => [one, lanesY + index * lane]));
  if (panel.lengthMs !== undefined) add(bracketMarks(panel));
  if (panel.band > 0) {
    const y = panel.clientsY + panel.band / 2;
    labels.push(laneLabel(`clients ${key}`, 'clients', y, scale));
  }
  for (const one of processes) add(processMarks(one, yOf.get(one), panel, scale));
  for (const { dead, heir } of heirsOf(story))
    if (yOf.has(heir)) add(gapMarks(dead, heir, yOf.get(heir), panel, scale));
  add(clientMarks(panel, scale));
  marks.push(...handoffMarks(story, yOf, panel, scale));
  return { marks, labels };
}

/** @returns {Label} */
const laneLabel = (key, text, y, { margin, size }) => ({
  key,
  text,
  kind: 'lane',
  size,
  spots: [{ x: margin - 14, y: y + size * 0.36, anchor: /** @type {const} */ ('end') }],
});

/** From the first question to the last answer, with its length. */
function bracketMarks({ key, x, fromMs, lengthMs, bracketY }) {
  const [from, to] = [x(fromMs), x(fromMs + lengthMs)];
  const y = bracketY + BRACKET / 2 + 4;
  const d = `M${px(from)} ${px(y - 9)} v18 M${px(from)} ${px(y)} H${px(to)} M${px(to)} ${px(y - 9)} v18`;
  return {
    marks: [{ key: `bracket ${key}`, layer: 'clients', tag: 'path', at: { class: 'bracket', d } }],
    labels: [
      {
        key: `length ${key}`,
        text: `${Math.round(lengthMs)} ms`,
        kind: 'says length',
        size: LARGE,
        spots: [
          { x: to + 12, y: y + LARGE * 0.36, anchor: /** @type {const} */ ('start') },
          { x: to - 12, y: y + LARGE * 0.36, anchor: /** @type {const} */ ('end') },
        ],
      },
    ],
  };
}

/** Hollow while it waits; filled, with a tick, when it was answered; red and crossed out when it was not. */
function clientMarks({ asked, x, isSeen, clientsY, row, fromMs: zeroMs }, { nowMs, size }) {
  const seen = asked.filter(({ fromMs, toMs }) => isSeen(fromMs, toMs ?? nowMs));
  const isNamed = row >= size * 1.25 && seen.length <= MOST_NAMED;
  const starts = new Map(); // by row: where the next one begins
  const all = seen.toReversed().map((one) => {
    const next = starts.get(one.row) ?? Infinity;
    starts.set(one.row, x(one.fromMs));
    return { ...one, next };
  });
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Label[]} */
  const labels = [];
  for (const { fromMs, toMs, path = 'request', row: line, status, error, next } of all) {
    const key = `asked ${fromMs} ${line}`;
    const isFine = !error && status < 400;
    const y = clientsY + 4 + line * row;
    const height = Math.max(2, row - 3);
    const [from, to] = [x(fromMs), x(toMs ?? nowMs)];
    const width = Math.max(2, to - from);
    const kind = toMs === undefined ? 'waiting' : isFine ? 'answered' : 'failed';
    const says = () =>
      `${path}: ${spoken(fromMs, toMs, zeroMs)}, ${toMs === undefined ? 'waits' : (error ?? `answered ${status}`)}`;
    const at = { class: kind, x: from, y, width, height };
    marks.push({ key, layer: 'clients', tag: 'rect', at, says });
    if (toMs === undefined) continue;
    const sign = Math.min(14, height);
    const middle = y + height / 2;
    const left = isFine ? to + 2 : Math.max(from, to - sign);
    if (!isFine || (height >= 7 && to + sign + 4 < next))
      marks.push({
        key: `sign ${key}`,
        layer: 'clients',
        tag: 'path',
        at: {
          class: isFine ? 'done' : 'cross',
          d: isFine ? tick(left, middle, sign) : cross(left, middle, sign),
        },
      });
    if (isNamed)
      labels.push({
        key: `words ${key}`,
        text: `${path} ${rounded(toMs - fromMs)} ms`,
        short: `${rounded(toMs - fromMs)} ms`,
        size,
        spots: [
          { x: to + sign + 8, y: middle + size * 0.36 },
          { x: from - 8, y: middle + size * 0.36, anchor: 'end' },
        ],
      });
  }
  return { marks, labels };
}

const px = (/** @type {number} */ value) => value.toFixed(1);
const tick = (x, y, size) =>
  `M${px(x)} ${px(y)} l${px(size * 0.3)} ${px(size * 0.35)} l${px(size * 0.5)} ${px(-size * 0.75)}`;
const cross = (x, y, size) =>
  `M${px(x)} ${px(y - size / 2)} l${px(size)} ${px(size)} m0 ${px(-size)} l${px(-size)} ${px(size)}`;

const rounded = (/** @type {number} */ ms) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));

/** A time in words: when, and how long. */
function spoken(fromMs, toMs, zeroMs) {
  const from = `from ${(fromMs - zeroMs).toFixed(1)} ms`;
  if (toMs === undefined) return from;
  return `${from} to ${(toMs - zeroMs).toFixed(1)} ms (${(toMs - fromMs).toFixed(1)} ms)`;
}

/** From the process that accepted to the one that got the connection. */
function handoffMarks({ handoffs }, yOf, { x, isSeen }, { lane, bar, done }) {
  return handoffs.flatMap((one, index) => {
    const { ms, from, to } = one;
    if (!yOf.has(from) || !yOf.has(to) || !isSeen(ms, ms)) return [];
    if (!done.has(one)) {
      const y1 = yOf.get(from) + lane / 2;
      const y2 = yOf.get(to) + (lane - bar) / 2;
      const at = { class: 'handoff', x1: x(ms), x2: x(ms), y1, y2 };
      done.set(one, { key: `handoff ${index}`, layer: 'handoffs', tag: 'line', at });
    }
    return [done.get(one)];
  });
}

function processMarks(one, y, { x, isSeen, fromMs: zeroMs }, scale) {
  const { nowMs, lane, bar, size } = scale;
  const { pid, bornMs, listeningMs, diedMs, silent, requests } = one;
  const end = diedMs ?? nowMs;
  const top = y + (lane - bar) / 2;
  const name = nameOf(one);
  const place = `${name}, pid ${pid}`;
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Label[]} */
  const labels = [laneLabel(`lane ${pid}`, name, y + lane / 2, scale)];
  const span = (kind, key, [fromMs, toMs], { said = '', down = 0, height = bar } = {}) => {
    const until = toMs ?? end;
    if (!isSeen(fromMs, until)) return undefined;
    const width = Math.max(1.5, x(until) - x(fromMs));
    const at = { class: kind, x: x(fromMs), y: top + down, width, height };
    const layer = kind === 'alive' ? 'lanes' : 'work';
    const says = () => `${place}: ${said} ${spoken(fromMs, toMs, zeroMs)}`;
    const mark = { key: `${key} ${pid}`, layer, tag: 'rect', at, says };
    marks.push(mark);
    return mark;
  };
  if (scale.isEmpty) {
    const at = { class: 'empty', x: scale.margin, y: top, width: scale.width, height: bar };
    return { marks: [{ key: `empty ${pid}`, layer: 'lanes', tag: 'rect', at }], labels };
  }
  span('alive', 'alive', [bornMs, diedMs], { said: diedMs === undefined ? 'runs' : 'ran' });
  for (const [index, request] of requests.entries()) {
    const known = scale.done.get(request);
    if (known) {
      marks.push(known);
      continue;
    }
    const { fromMs, toMs } = request;
    const kind = toMs !== undefined ? 'served' : diedMs === undefined ? 'running' : 'lost';
    const said = { served: 'a request', running: 'at work', lost: 'a lost request' }[kind];
    const mark = span(kind, `work ${index}`, [fromMs, toMs ?? diedMs], { said });
    if (mark && kind === 'served') scale.done.set(request, mark);
    if (mark && kind === 'lost') marks.push(crossOver(`lost ${index} ${pid}`, boxOf(mark)));
  }
  const strip = Math.max(4, bar * 0.22);
  for (const [index, { fromMs, toMs }] of silent.entries()) {
    const options = { said: 'its event loop is blocked', down: bar - strip, height: strip };
    span('silent', `silent ${index}`, [fromMs, toMs ?? diedMs], options);
  }
  if (listeningMs !== undefined && isSeen(listeningMs, listeningMs)) {
    const d = `M${px(x(listeningMs))} ${px(top + bar)} v${px(-bar - 2)} l12 6 l-12 6 z`;
    const says = () => `${place}: listens from ${(listeningMs - zeroMs).toFixed(1)} ms`;
    marks.push({
      key: `listens ${pid}`,
      layer: 'work',
      tag: 'path',
      at: { class: 'listening', d },
      says,
    });
  }
  if (diedMs !== undefined && isSeen(diedMs, diedMs)) {
    const at = Math.min(x(diedMs), WIDTH - RIGHT);
    const bottom = top + bar;
    const d = `M${px(at)} ${px(bottom)} v-12 a8 8 0 0 1 16 0 v12 z`;
    const says = () => `${place}: ${endOf(one)} at ${(diedMs - zeroMs).toFixed(1)} ms`;
    marks.push({
      key: `grave ${pid}`,
      layer: 'work',
      tag: 'path',
      at: { class: 'grave', d },
      says,
    });
    const baseline = y + lane / 2 + size * 0.36;
    labels.push({
      key: `end ${pid}`,
      text: endOf(one),
      kind: 'says',
      size,
      spots: [
        { x: at + 22, y: baseline },
        { x: at - 6, y: baseline, anchor: 'end' },
      ],
      avoid: marks.filter((mark) => mark.key.startsWith('work')).map(boxOf),
    });
  }
  return { marks, labels };
}

/** @returns {Box} */
function boxOf(/** @type {any} */ { at: { x, y, width, height } }) {
  return { left: x, right: x + width, top: y, bottom: y + height };
}

/** @returns {Mark} */
function crossOver(key, { left, right, top, bottom }) {
  const d = `M${px(left)} ${px(top)} L${px(right)} ${px(bottom)} M${px(right)} ${px(top)} L${px(left)} ${px(bottom)}`;
  return { key, layer: 'work', tag: 'path', at: { class: 'cross', d } };
}

/** From a death to the moment at which the next one listens. The lane was empty before. */
function gapMarks(dead, heir, y, { x, isSeen }, { lane, size, nowMs }) {
  if (!isSeen(dead.diedMs, heir.listeningMs)) return { marks: [], labels: [] };
  const avoid = heir.requests.map(({ fromMs, toMs }) => ({
    left: x(fromMs),
    right: x(toMs ?? nowMs),
    top: y,
    bottom: y + lane,
  }));
  const [from, to] = [x(dead.diedMs), x(heir.listeningMs)];
  const middle = y + lane / 2;
  const length = `${Math.round(heir.listeningMs - dead.diedMs)} ms`;
  const d = `M${px(from)} ${px(middle - 8)} v16 M${px(from)} ${px(middle)} H${px(to)}`;
  const baseline = middle + size * 0.36;
  return {
    marks: [{ key: `gap ${heir.pid}`, layer: 'work', tag: 'path', at: { class: 'gap', d } }],
    labels: [
      {
        key: `gap ${heir.pid}`,
        text: `${length} until it listens`,
        short: length,
        kind: 'says',
        size,
        spots: [
          { x: from - 10, y: baseline, anchor: /** @type {const} */ ('end') },
          { x: to + 18, y: baseline, anchor: /** @type {const} */ ('start') },
        ],
        avoid,
      },
    ],
  };
}

/** Counts over time, on the axis of all. */
function curveMarks({ name, label, most, names, points, y, x, fromMs }, scale) {
  const [top, bottom] = [y + 34, y + CURVE - 8];
  const level = (value) => bottom - (value / most) * (bottom - top);
  /** @type {Label[]} */
  const labels = [
    laneLabel(`curve ${name}`, name, (top + bottom) / 2, { ...scale, size: scale.size }),
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
    /** @type {Label['spots']} */
    const spots = [
      { x: x(peak.ms) + 12, y: baseline + 6 },
      ...along.map((at) => ({ x: at, y: baseline })),
    ];
    labels.push({ key: `peak ${name} ${index}`, text, kind: 'says', size: SMALL, spots, avoid });
    const at = { class: `curve curve-${index}`, points: all.join(' ') };
    return { key: `curve ${name} ${index}`, layer: 'work', tag: 'polyline', at };
  });
  const at = { class: 'floor', x1: x(fromMs), x2: WIDTH - RIGHT, y1: bottom, y2: bottom };
  return { marks: [{ key: `floor ${name}`, layer: 'grid', tag: 'line', at }, ...marks], labels };
}

/** @returns {Mark} */
const wordsOf = ({ key, text, kind = 'says', size, x, y, anchor }) => ({
  key: `text ${key}`,
  layer: 'words',
  tag: 'text',
  at: { class: kind, x, y, 'text-anchor': anchor, 'font-size': size },
  text,
});
