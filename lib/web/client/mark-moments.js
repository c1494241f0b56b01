/** Draws a box, with its number on a round flag, around each moment that decided a promise. */
const SVG = 'http://www.w3.org/2000/svg';

/** @param {Element} svg  drawn by xray.js  @param {import('./xray-moments.js').Marked[]} marked */
export function markMoments(svg, marked) {
  for (const { number, box, flag } of marked)
    svg.append(
      make('rect', {
        class: 'mark',
        x: box.left,
        y: box.top,
        rx: 5,
        width: box.right - box.left,
        height: box.bottom - box.top,
      }),
      drawFlag(String(number), flag),
    );
}

function drawFlag(number, { x, y, radius }) {
  const group = make('g', { class: 'flag' });
  const words = make('text', { x, y: y + 7 }); // the baseline of a digit in the middle
  words.textContent = number;
  group.append(make('circle', { cx: x, cy: y, r: radius }), words);
  return group;
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
