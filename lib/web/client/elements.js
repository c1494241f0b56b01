/** Finds and makes elements of a page, and knows which keys they need. */

/** @param {string} selector  @param {ParentNode} [within]  @returns {HTMLElement[]} */
export const all = (selector, within = document) => [
  .../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector)),
];

/** The keys of a clicker, and of the wall: a field for a number, a time or a choice doesn't need them. */
const STEERING = /^(Page(Up|Down)|Arrow(Left|Right)|Escape|[bo.])$/;

/** Whether the focused element needs this key; the presenter's shortcuts get all others. @param {KeyboardEvent} event */
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

/** Takes the focus from a button clicked with the mouse, so that the next Space turns the slide. */
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

/** A line that a screen reader reads when it appears. @param {string} textContent */
export function note(textContent) {
  const words = make('p', { className: 'note', textContent });
  words.setAttribute('role', 'status');
  return words;
}

/** A line with a button for one click. @param {string} textContent @param {() => void} act */
export function onceButton(textContent, act) {
  const line = make('p', {});
  const button = make('button', { type: 'button', textContent });
  button.addEventListener('click', act, { once: true });
  line.append(button);
  return line;
}
