/** The requests of an X-ray's clients, as plain objects: a bar for each, with a sign at its end, and words if there is room. */
import { cross, spoken, tick } from './xray-shapes.js';

/** @typedef {import('./xray-shapes.js').Mark} Mark  @typedef {import('./xray-labels.js').Label} Label */

const MOST_NAMED = 8; // requests that have their own words

/** @returns {{ marks: Mark[], labels: Label[] }} */
export function clientMarks({ asked, x, isSeen, clientsY, row, fromMs: zeroMs }, { nowMs, size }) {
  const seen = asked.filter(({ fromMs, toMs }) => isSeen(fromMs, toMs ?? nowMs));
  const isNamed = row >= size * 1.25 && seen.length <= MOST_NAMED;
  const bars = withNextStart(seen, x).map((one) => barOf(one, { x, clientsY, row, nowMs }));
  const answered = bars.filter(({ toMs }) => toMs !== undefined);
  return {
    marks: bars.flatMap((bar) => [
      barMark(bar, zeroMs),
      ...(bar.toMs !== undefined && hasSign(bar) ? [signMark(bar)] : []),
    ]),
    labels: isNamed ? answered.map((bar) => durationLabel(bar, size)) : [],
  };
}

/** Each request with the place where the next one on its row begins. */
function withNextStart(asked, x) {
  const starts = new Map(); // by row
  return asked.toReversed().map((one) => {
    const next = starts.get(one.row) ?? Infinity;
    starts.set(one.row, x(one.fromMs));
    return { ...one, next };
  });
}

function barOf(one, { x, clientsY, row, nowMs }) {
  const { fromMs, toMs, path = 'request', row: line, status, error } = one;
  const y = clientsY + 4 + line * row;
  const height = Math.max(2, row - 3);
  const isFine = !error && status < 400;
  return {
    ...one,
    ...{ path, key: `asked ${fromMs} ${line}`, isFine },
    ...{ from: x(fromMs), to: x(toMs ?? nowMs), y, height },
    ...{ middle: y + height / 2, sign: Math.min(14, height) },
  };
}

/** Hollow while it waits, filled when answered, red when it failed. @returns {Mark} */
function barMark(bar, zeroMs) {
  const { key, fromMs, toMs, path, status, error, isFine, from, to, y, height } = bar;
  const kind = toMs === undefined ? 'waiting' : isFine ? 'answered' : 'failed';
  const result = toMs === undefined ? 'waits' : (error ?? `answered ${status}`);
  const says = () => `${path}: ${spoken(fromMs, toMs, zeroMs)}, ${result}`;
  const at = { class: kind, x: from, y, width: Math.max(2, to - from), height };
  return { key, layer: 'clients', tag: 'rect', at, says };
}

/** A cross lies on its bar; a tick stands behind it and needs room. */
const hasSign = ({ isFine, height, to, sign, next }) =>
  !isFine || (height >= 7 && to + sign + 4 < next);

function signMark({ key, isFine, from, to, middle, sign }) {
  const at = isFine
    ? { class: 'done', d: tick(to + 2, middle, sign) }
    : { class: 'cross', d: cross(Math.max(from, to - sign), middle, sign) };
  return { key: `sign ${key}`, layer: 'clients', tag: 'path', at };
}

function durationLabel({ key, path, fromMs, toMs, from, to, middle, sign }, size) {
  const ms = toMs - fromMs;
  const short = `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const y = middle + size * 0.36;
  return {
    ...{ key: `words ${key}`, text: `${path} ${short}`, short, size },
    spots: [
      { x: to + sign + 8, y },
      { x: from - 8, y, anchor: 'end' },
    ],
  };
}
