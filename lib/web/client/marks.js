/**
 * Marks over an X-ray: boxes around the moments that decided a promise. Where a time is the drawing says; where a lane is is
 * read off its bars of lives: so a mark stands where the drawing has what it marks.
 */
const SVG = 'http://www.w3.org/2000/svg';
const NARROWEST = 10;
const TALLER = 1.36; // than the bar that it is on

/**
 * @param {Element} svg  as xray.js draws it
 * @param {{ moments: { pid: number, t: number, toMs?: number }[], lanes: { pid: number }[], fromMs: number, toMs: number,
 *   x: (ms: number) => number }} what  lanes: in their order; fromMs: where the axis begins; x: where a time is
 */
export function markMoments(svg, { moments, lanes, fromMs, toMs, x }) {
  const rows = rowsOf(svg);
  if (rows.length !== lanes.length) return;
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

function flag(number, x, y) {
  const group = make('g', { class: 'flag' });
  const words = make('text', { x, y: Math.max(20, y + 7) });
  words.textContent = number;
  group.append(make('circle', { cx: x, cy: Math.max(13, y), r: 13 }), words);
  return group;
}

/** Each process has one bar for its life; they stand in the order of the lanes. */
function rowsOf(svg) {
  const bars = [...svg.querySelectorAll('.alive')].map((bar) => {
    const [y, height] = ['y', 'height'].map((name) => Number(bar.getAttribute(name)));
    return { middle: y + height / 2, height };
  });
  return bars.sort((one, other) => one.middle - other.middle);
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
