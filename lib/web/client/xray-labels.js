/**
 * Places the words of an X-ray so that none overlaps another or is cut. A label lists its spots, the best first; if none is
 * free its short form is tried, then it is left out.
 *
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Box
 *
 * @typedef {object} Label
 * @property {string} key @property {string} text @property {string} [short]
 * @property {string} [kind]  its class, default `says`
 * @property {number} size  of the font, in px
 * @property {{ x: number, y: number, anchor?: 'start' | 'middle' | 'end' }[]} spots  y: of the baseline
 * @property {Box[]} [avoid]  lies on these only if no other spot is free
 */

/** The height above and below the baseline, in parts of the font's size. */
const ABOVE = 0.97;
const BELOW = 0.27;

const meet = (/** @type {Box} */ a, /** @type {Box} */ b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function boxOf(width, size, { x, y, anchor = 'start' }) {
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return { left, right: left + width, top: y - ABOVE * size, bottom: y + BELOW * size };
}

/**
 * @param {Label[]} labels  the most important first
 * @param {{ area: Box, widthOf: (text: string, size: number) => number, free?: Box[] }} options  free: to be kept clear
 * @returns {(Label & { x: number, y: number, anchor: string })[]}  without labels that found no room
 */
export function placeLabels(labels, { area, widthOf, free: kept = [] }) {
  const taken = [...kept];
  const isInside = (/** @type {Box} */ box) =>
    box.left >= area.left &&
    box.right <= area.right &&
    box.top >= area.top &&
    box.bottom <= area.bottom;
  return labels.flatMap((label) => {
    const { text, short, size, spots, avoid = [] } = label;
    const forms = short === undefined ? [text] : [text, short];
    const tries = forms.flatMap((words) =>
      spots.map((spot) => ({ ...spot, words, box: boxOf(widthOf(words, size), size, spot) })),
    );
    const free = tries.filter(
      ({ box }) => isInside(box) && !taken.some((other) => meet(box, other)),
    );
    const found = free.find(({ box }) => !avoid.some((other) => meet(box, other))) ?? free[0];
    if (!found) return [];
    taken.push(found.box);
    return [
      { ...label, text: found.words, x: found.x, y: found.y, anchor: found.anchor ?? 'start' },
    ];
  });
}
