/**
 * The boxes around the moments that decided a promise; words keep clear of them. Pure.
 *
 * @typedef {import('./xray-labels.js').Box} Box
 * @typedef {{ pid: number, t: number, toMs?: number }} Moment
 * @typedef {{ number: number, box: Box, flag: { x: number, y: number, radius: number } }} Marked  number: from 1
 */
const NARROWEST = 10;
const TALLER = 1.36; // than the bar that it is on
const RADIUS = 13;

/**
 * @param {Moment[]} moments @param {{ panels: any[], lane: number, bar: number, spanMs: number }} scale  of xray-scale.js
 * @returns {Marked[]}  without moments outside the drawing
 */
export function markedIn(moments, { panels: [panel], lane, bar, spanMs }) {
  const { processes, lanesY, x, fromMs } = panel;
  const endMs = fromMs + spanMs;
  return moments.flatMap(({ pid, t, toMs = t }, index) => {
    const row = processes.findIndex((/** @type {any} */ one) => one.pid === pid);
    if (row < 0 || t > endMs || toMs < fromMs) return [];
    const [from, to] = [x(Math.max(fromMs, t)), x(Math.min(endMs, toMs))];
    const half = Math.max(NARROWEST, to - from + 6) / 2;
    const middle = lanesY + (row + 0.5) * lane;
    const [top, bottom] = [middle - (bar * TALLER) / 2, middle + (bar * TALLER) / 2];
    const box = { left: (from + to) / 2 - half, right: (from + to) / 2 + half, top, bottom };
    const flag = { x: box.right, y: Math.max(RADIUS, top), radius: RADIUS };
    return [{ number: index + 1, box, flag }];
  });
}

/** @param {Marked} marked @returns {Box[]} */
export const boxesOf = ({ box, flag: { x, y, radius } }) => [
  box,
  { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius },
];
