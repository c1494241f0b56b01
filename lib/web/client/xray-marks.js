/**
 * The marks of an X-ray and their words, as plain objects, once it is known where each lane is (xray-layout.js).
 *
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
 */
import { endOf, heirsOf, nameOf } from './xray-story.js';

export const WIDTH = 1168; // unless told
export const RIGHT = 44; // half of the last label of the axis
export const BRACKET = 34;
export const CURVE = 130;
export const LARGE = 28;
export const SMALL = 24; // no words are smaller: a lane without room for its name has none, and the table has it
const MOST_NAMED = 8; // requests that have their own words

/** The lanes of a panel, what is in them, and their words. @returns {{ marks: Mark[], labels: Label[] }} */
export function panelMarks(story, panel, scale) {
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
  const { pid, bornMs, startedMs, listeningMs, diedMs, silent, requests } = one;
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
    const at = {
      class: kind === 'alive' ? `alive ${one.role ?? ''}`.trim() : kind,
      x: x(fromMs),
      y: top + down,
      width,
      height,
    };
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
  if (startedMs !== undefined)
    span('starting', 'starting', [bornMs, Math.min(startedMs, end)], { said: 'starts up' });
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
    const at = Math.min(x(diedMs), scale.full - RIGHT);
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

/** Counts over time, on the axis of all. @returns {{ marks: Mark[], labels: Label[] }} */
export function curveMarks({ name, label, most, names, points, y, x, fromMs }, scale) {
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
  const at = { class: 'floor', x1: x(fromMs), x2: scale.full - RIGHT, y1: bottom, y2: bottom };
  return { marks: [{ key: `floor ${name}`, layer: 'grid', tag: 'line', at }, ...marks], labels };
}
