/**
 * Where the words of an X-ray find room: none lies on another, none is cut. A label has several spots, the best first;
 * where none is free its short form is tried, and where that has none either it is left out: the table has it, too.
 *
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Box
 *
 * @typedef {object} Label
 * @property {string} key
 * @property {string} text
 * @property {string} [short]
 * @property {string} [kind]  its class, `says` unless told
 * @property {number} size  of the font, in px
 * @property {{ x: number, y: number, anchor?: 'start' | 'middle' | 'end' }[]} spots  y: of the baseline
 * @property {Box[]} [avoid]  what it lies on only where there is no other room
 */

/** Above and below the baseline, in parts of the font's size: more than any usual font needs. */
const ABOVE = 0.97;
const BELOW = 0.27;

const meet = (/** @type {Box} */ a, /** @type {Box} */ b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** @returns {Box} */
function boxOf(width, size, { x, y, anchor = 'start' }) {
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return { left, right: left + width, top: y - ABOVE * size, bottom: y + BELOW * size };
}

/**
 * @param {Label[]} labels  the most important first
 * @param {{ area: Box, widthOf: (text: string, size: number) => number, free?: Box[] }} options  free: where none may lie
 * @returns {(Label & { x: number, y: number, anchor: string })[]}  those that have found room
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
