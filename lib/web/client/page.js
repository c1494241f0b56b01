/** Elements of the page. */

/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement[]}
 */
export const all = (selector, within = document) => [
  .../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector)),
];

/**
 * Does this key mean something to what has the focus? To a button only Space and Enter, to code the keys that scroll it: all
 * others are the presenter's, wherever he has clicked.
 * @param {KeyboardEvent} event
 */
export function isTaken({ key, target }) {
  const place = /** @type {Element} */ (target);
  if (place.closest?.('input')) return true;
  if (place.closest?.('button, summary, a')) return [' ', 'Enter'].includes(key);
  return Boolean(place.closest?.('pre')) && ['ArrowUp', 'ArrowDown'].includes(key);
}

/** After a click with the mouse the button lets the focus go: the next Space turns the slide. */
export function letGo(/** @type {any} */ { detail, currentTarget }) {
  if (detail > 0) currentTarget.blur();
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<HTMLElementTagNameMap[Name]>} [properties]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export const make = (name, properties = {}) =>
  Object.assign(document.createElement(name), properties);
