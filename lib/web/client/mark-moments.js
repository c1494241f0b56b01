/** Marks over an X-ray: boxes around the moments that decided a promise, which the drawing has kept free of words. */
const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {Element} svg  as xray.js draws it
 * @param {import('./xray-moments.js').Marked[]} marked
 */
export function markMoments(svg, marked) {
  for (const { number, box, flag } of marked)
    svg.append(
      make('rect', {
        ...{ class: 'mark', x: box.left, y: box.top, rx: 5 },
        ...{ width: box.right - box.left, height: box.bottom - box.top },
      }),
      flagOf(String(number), flag),
    );
}

function flagOf(number, { x, y, radius }) {
  const group = make('g', { class: 'flag' });
  const words = make('text', { x, y: y + 7 });
  words.textContent = number;
  group.append(make('circle', { cx: x, cy: y, r: radius }), words);
  return group;
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
