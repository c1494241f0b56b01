/**
 * Marks over an X-ray: boxes around the moments that decided a promise. Where a time and a lane are is read off the
 * drawing itself, off its axis and the bars of lives, so that a mark stands where the drawing has what it marks.
 */
const SVG = 'http://www.w3.org/2000/svg';
const NARROWEST = 10;
const HALO = 4; // around words
const TALLER = 1.36; // than the bar that it is on

/**
 * @param {Element} svg  as xray.js draws it
 * @param {{ moments: { pid: number, t: number, toMs?: number }[], lanes: { pid: number }[], fromMs: number, toMs: number }} what
 *   lanes: in their order; fromMs: where the axis begins
 */
export function markMoments(svg, { moments, lanes, fromMs, toMs }) {
  const x = scaleOf(svg, fromMs);
  const rows = rowsOf(svg);
  if (!x || rows.length !== lanes.length) return;
  moments.forEach((moment, index) => {
    const lane = lanes.findIndex(({ pid }) => pid === moment.pid);
    if (lane < 0 || moment.t > toMs || (moment.toMs ?? moment.t) < fromMs) return;
    const [left, right] = [
      x(Math.max(fromMs, moment.t)),
      x(Math.min(toMs, moment.toMs ?? moment.t)),
    ];
    const width = Math.max(NARROWEST, right - left + 6);
    const start = (left + right) / 2 - width / 2;
    const height = rows[lane].height * TALLER;
    const top = rows[lane].middle - height / 2;
    svg.append(
      make('rect', { class: 'mark', x: start, y: top, width, height, rx: 5 }),
      flag(String(index + 1), start + width / 2, top),
    );
  });
}

/**
 * The axis tells the time of the whole run, not that of the stretch; the last of these words may be longer than those that
 * there was room for, and move to the left.
 * @param {SVGSVGElement} svg
 * @param {number} byMs
 */
export function tellTimes(svg, byMs) {
  const { width } = svg.viewBox.baseVal;
  /** @type {NodeListOf<SVGTextElement>} */
  const ticks = svg.querySelectorAll('text.tick');
  for (const tick of ticks) {
    const ms = msOf(tick) + byMs;
    tick.textContent = `${Number((ms / 1_000).toFixed(3))} s`;
    const rightmost = width - HALO - tick.getComputedTextLength() / 2;
    tick.setAttribute('x', String(Math.min(Number(tick.getAttribute('x')), rightmost)));
  }
}

function flag(number, x, y) {
  const group = make('g', { class: 'flag' });
  const words = make('text', { x, y: Math.max(20, y + 7) });
  words.textContent = number;
  group.append(make('circle', { cx: x, cy: Math.max(13, y), r: 13 }), words);
  return group;
}

/**
 * Where a time is, from two labels of the axis that nobody has changed yet.
 * @param {Element} svg
 * @param {number} fromMs
 * @returns {((ms: number) => number) | undefined}
 */
export function scaleOf(svg, fromMs) {
  const ticks = [...svg.querySelectorAll('.tick')].map((tick) => ({
    ms: msOf(tick),
    x: Number(tick.getAttribute('x')),
  }));
  const [first, last] = [ticks[0], ticks.at(-1)];
  if (ticks.length < 2 || first.ms === last.ms) return undefined;
  const perMs = (last.x - first.x) / (last.ms - first.ms);
  return (ms) => first.x + (ms - fromMs - first.ms) * perMs;
}

/** Each process has one bar for its life; they stand in the order of the lanes. */
function rowsOf(svg) {
  const bars = [...svg.querySelectorAll('.alive')].map((bar) => {
    const [y, height] = ['y', 'height'].map((name) => Number(bar.getAttribute(name)));
    return { middle: y + height / 2, height };
  });
  return bars.sort((one, other) => one.middle - other.middle);
}

/** What a label of the axis says, in seconds or milliseconds. @param {Element} tick */
const msOf = ({ textContent }) =>
  parseFloat(textContent) * (textContent.trim().endsWith('ms') ? 1 : 1_000);

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
