/** The requests of an X-ray's clients, as plain objects: a bar for each, with a sign at its end, and words if there is room. */
import { cross, spoken, tick } from './xray-shapes.js';

/** @typedef {import('./xray-shapes.js').Mark} Mark  @typedef {import('./xray-labels.js').Label} Label */

const MOST_NAMED = 8; // with more requests in a panel, none has words

/**
 * @param {any} panel  as xray-scale.js has placed it: each request has the number of its row, and x(ms) is where a time lies
 * @param {{ nowMs: number, size: number }} scale  size: of the font
 * @returns {{ marks: Mark[], labels: Label[] }}
 */
export function clientMarks(panel, { nowMs, size }) {
  const { asked, x, isSeen, rowHeight, fromMs: zeroMs } = panel;
  const seen = asked.filter(({ fromMs, toMs }) => isSeen(fromMs, toMs ?? nowMs));
  const isNamed = rowHeight >= size * 1.25 && seen.length <= MOST_NAMED;
  const bars = withNextStart(seen, x).map((one) => barOf(one, panel, nowMs));
  const ended = bars.filter(({ kind }) => kind !== 'waiting');
  return {
    marks: bars.flatMap((bar) => [barMark(bar, zeroMs), ...(hasSign(bar) ? [signMark(bar)] : [])]),
    labels: isNamed ? ended.map((bar) => durationLabel(bar, size)) : [],
  };
}

/** Adds where the next request of the same row begins. */
function withNextStart(asked, x) {
  const starts = new Map(); // by row
  return asked.toReversed().map((one) => {
    const next = starts.get(one.row) ?? Infinity;
    starts.set(one.row, x(one.fromMs));
    return { ...one, next };
  });
}

function barOf(one, { x, clientsY, rowHeight }, nowMs) {
  const { fromMs, toMs, path = 'request', row, status, error } = one;
  const end = !error && status < 400 ? 'answered' : 'failed';
  const y = clientsY + 4 + row * rowHeight;
  const height = Math.max(2, rowHeight - 3);
  return {
    ...one,
    key: `asked ${fromMs} ${row}`,
    path,
    kind: toMs === undefined ? 'waiting' : end,
    from: x(fromMs),
    to: x(toMs ?? nowMs),
    y,
    height,
    middle: y + height / 2,
    sign: Math.min(14, height),
  };
}

/** Hollow while it waits, filled when answered, red when it failed. @returns {Mark} */
function barMark(bar, zeroMs) {
  const { key, kind, fromMs, toMs, path, status, error, from, to, y, height } = bar;
  const result = kind === 'waiting' ? 'waits' : (error ?? `answered ${status}`);
  const says = () => `${path}: ${spoken(fromMs, toMs, zeroMs)}, ${result}`;
  const at = { class: kind, x: from, y, width: Math.max(2, to - from), height };
  return { key, layer: 'clients', tag: 'rect', at, says };
}

/** A cross lies on its bar; a tick stands behind it and needs room. */
const hasSign = ({ kind, height, to, sign, next }) =>
  kind === 'failed' || (kind === 'answered' && height >= 7 && to + sign + 4 < next);

function signMark({ key, kind, from, to, middle, sign }) {
  const at =
    kind === 'answered'
      ? { class: 'done', d: tick(to + 2, middle, sign) }
      : { class: 'cross', d: cross(Math.max(from, to - sign), middle, sign) };
  return { key: `sign ${key}`, layer: 'clients', tag: 'path', at };
}

function durationLabel({ key, path, fromMs, toMs, from, to, middle, sign }, size) {
  const ms = toMs - fromMs;
  const short = `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const y = middle + size * 0.36;
  return {
    key: `words ${key}`,
    text: `${path} ${short}`,
    short,
    size,
    spots: [
      { x: to + sign + 8, y },
      { x: from - 8, y, anchor: 'end' },
    ],
  };
}
