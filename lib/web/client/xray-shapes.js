/**
 * The sizes and shapes that all marks of an X-ray share.
 *
 * @typedef {object} Mark  an SVG element, as a plain object
 * @property {string} key  the same for the same thing in each frame
 * @property {string} layer @property {string} tag
 * @property {Record<string, string | number>} at  attributes
 * @property {string} [text]
 * @property {() => string} [says]  describes it when the pointer is on it
 */

export const WIDTH = 1168; // the default
export const RIGHT = 44; // half of the last label of the axis
export const BRACKET = 34;
export const CURVE = 130;
export const LARGE = 28;
export const SMALL = 24; // the smallest words: a lane too low for its name has none, and the table has it

/** @returns {import('./xray-labels.js').Label} */
export const laneLabel = (key, text, y, { margin, size }) => ({
  key,
  text,
  kind: 'lane',
  size,
  spots: [{ x: margin - 14, y: y + size * 0.36, anchor: /** @type {const} */ ('end') }],
});

export const px = (/** @type {number} */ value) => value.toFixed(1);

export const tick = (x, y, size) =>
  `M${px(x)} ${px(y)} l${px(size * 0.3)} ${px(size * 0.35)} l${px(size * 0.5)} ${px(-size * 0.75)}`;

export const cross = (x, y, size) =>
  `M${px(x)} ${px(y - size / 2)} l${px(size)} ${px(size)} m0 ${px(-size)} l${px(-size)} ${px(size)}`;

/** A time in words, from the panel's zero: when, and how long. */
export function spoken(fromMs, toMs, zeroMs) {
  const from = `from ${(fromMs - zeroMs).toFixed(1)} ms`;
  if (toMs === undefined) return from;
  return `${from} to ${(toMs - zeroMs).toFixed(1)} ms (${(toMs - fromMs).toFixed(1)} ms)`;
}

/** The box that a bar fills. @returns {import('./xray-labels.js').Box} */
export function boxOf(/** @type {any} */ { at: { x, y, width, height } }) {
  return { left: x, right: x + width, top: y, bottom: y + height };
}

/** @returns {Mark} */
export function crossOver(key, { left, right, top, bottom }) {
  const d = `M${px(left)} ${px(top)} L${px(right)} ${px(bottom)} M${px(right)} ${px(top)} L${px(left)} ${px(bottom)}`;
  return { key, layer: 'work', tag: 'path', at: { class: 'cross', d } };
}
