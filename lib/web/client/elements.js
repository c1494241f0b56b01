/** Elements of the page. */

/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement[]}
 */
export const all = (selector, within = document) => [
  .../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector)),
];

/** What a clicker sends, and what steers the wall: no field for a number, a time or a choice needs it. */
const STEERING = /^(Page(Up|Down)|Arrow(Left|Right)|Escape|[bo.])$/;

/**
 * Does this key mean something to what has the focus? To a button only Space and Enter, to a field what can be typed there,
 * to code and notes the keys that scroll them: all others are the presenter's, wherever he has clicked.
 * @param {KeyboardEvent} event
 */
export function isTaken({ key, target }) {
  const place = /** @type {Element} */ (target);
  const has = (selector) => Boolean(place.closest?.(selector));
  if (has('input[type=search]')) return !/^Page(Up|Down)$/.test(key);
  if (has('input[type=number], input[type=time]')) return !STEERING.test(key) && key !== ' ';
  if (has('select')) return !STEERING.test(key);
  if (has('input')) return true;
  if (has('button, summary, a')) return [' ', 'Enter'].includes(key);
  return has('pre, #talk') && ['ArrowUp', 'ArrowDown'].includes(key);
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
