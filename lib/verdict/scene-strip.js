/**
 * A scene under load, drawn for a terminal: a column for each slice of time.
 * @typedef {{ asked: number, failed: number, p50Ms: number | null, p99Ms: number | null, workers: number }} Slice  asked: requests sent in
 *   it; failed: those of them that got no good answer; p50Ms, p99Ms: of the answered ones, null without any; workers: the fewest that served
 * @typedef {{ startMs: number, sliceMs: number, slices: Slice[], most: number, blows: { name: string, how: string, isBack: boolean, fromMs: number, toMs: number }[] }} Scene
 *   startMs: on the timeline's clock; most: workers in calm; blows: their times in ms since startMs; isBack: all serve again at toMs
 * @typedef {{ sentence: string, got: string, ms: number | undefined }} FirstBroken
 */
import { wrap } from './terminal.js';

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MARGIN = 10;

/** So many blows are numbered; a longer scene has more than one in most columns. */
export const MOST_NUMBERED = 9;

/**
 * @param {Scene} scene @param {number | undefined} brokenMs  the moment of the first broken promise, on the timeline's clock
 * @param {import('./style.js').Style} style @param {number} columns  of the terminal @returns {string[]}
 */
export function sceneLines({ startMs, sliceMs, slices, blows }, brokenMs, style, columns) {
  const columnOf = (/** @type {number} */ ms) =>
    Math.max(0, Math.min(slices.length - 1, Math.floor(ms / sliceMs)));
  const slowestMs = Math.max(1, ...slices.map(({ p99Ms }) => p99Ms ?? 0));
  const heightOf = (/** @type {number | null} */ ms) => (ms === null ? ' ' : level(ms / slowestMs));
  const row = (/** @type {string} */ name, /** @type {string[]} */ cells) =>
    `  ${name.padEnd(MARGIN)}${cells.join('')}`;
  const [asked, failed] = [sum(slices, 'asked'), sum(slices, 'failed')];
  const lines = [
    `  The scene: ${asked} requests, ${failed} of them failed; a column is ${sliceMs} ms`,
    row('blows', blowCells(blows, slices.length, columnOf)),
    row(
      'answered',
      slices.map((slice) => shareCell(slice, style)),
    ),
    row(
      'p50',
      slices.map(({ p50Ms }) => heightOf(p50Ms)),
    ),
    row(
      'p99',
      slices.map(({ p99Ms }) => heightOf(p99Ms)),
    ) + `  at most ${Math.round(slowestMs)} ms`,
    row(
      'workers',
      slices.map(({ workers }) => String(Math.min(9, workers))),
    ),
  ];
  if (brokenMs !== undefined)
    lines.push(style.red(`${' '.repeat(2 + MARGIN + columnOf(brokenMs - startMs))}▲ here`));
  return [
    ...lines,
    ...wrap(legendOf(blows), columns - 2 - MARGIN).map((line) => style.dim(row('', [line]))),
  ];
}

/**
 * The first broken promise, and its moment on the timeline's clock if there is one.
 * @param {import('./outcome.js').PromiseRecord[]} promises @returns {FirstBroken | undefined}
 */
export function firstBroken(promises) {
  const broken = promises.find(({ verdict }) => verdict === 'failed');
  if (!broken) return undefined;
  const { sentence, got = '', shows } = broken;
  return { sentence, got, ms: shows?.moments[0]?.t };
}

/**
 * How many blows a program has stood: all workers served again before its first promise broke.
 * @param {Scene} scene @param {import('./outcome.js').PromiseRecord[]} promises
 * @returns {number | null}  null if the moment is of an earlier scene
 */
export function blowsStood({ startMs, blows }, promises) {
  const { ms = Infinity } = firstBroken(promises) ?? {};
  if (ms < startMs) return null;
  return blows.filter(({ isBack, toMs }) => isBack && startMs + toMs < ms).length;
}

/** "1 kill · 2 deploy", or of many how often each struck: "31 kill · 31 deploy". */
export function legendOf(/** @type {Scene['blows']} */ blows) {
  const names = blows.map(({ name }) => name);
  const countOf = (/** @type {string} */ name) => names.filter((one) => one === name).length;
  const all =
    names.length <= MOST_NUMBERED
      ? names.map((name, index) => `${index + 1} ${name}`)
      : [...new Set(names)].map((name) => `${countOf(name)} ${name}`);
  return all.join(' · ');
}

/** A blow's number where it strikes, then a line until the capacity is back. */
function blowCells(blows, /** @type {number} */ count, columnOf) {
  const cells = Array(count).fill(' ');
  for (const [index, { fromMs, toMs }] of blows.entries()) {
    const [from, to] = [fromMs, toMs].map(columnOf);
    cells.fill('─', from, to + 1);
    cells[from] = blows.length <= MOST_NUMBERED ? String(index + 1) : '┬';
  }
  return cells;
}

/** The share of the requests that were answered; a single lost one shows. */
function shareCell({ asked, failed }, /** @type {import('./style.js').Style} */ style) {
  if (asked === 0) return ' ';
  if (failed === 0) return style.green(LEVELS[7]);
  return style.red(LEVELS[Math.min(6, Math.floor((1 - failed / asked) * 8))]);
}

const level = (/** @type {number} */ share) =>
  LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))];

const sum = (/** @type {any[]} */ all, /** @type {string} */ field) =>
  all.reduce((total, one) => total + one[field], 0);
