/** The seats of the board by address; a button frees a seat at the second press, so that no slip throws out a learner. */
import { make } from '../../web/client/elements.js';

const WORDS = { here: '', away: 'away', silent: 'has said nothing yet' };

const panel = document.getElementById('seats');
const summary = panel.querySelector('summary');
const list = panel.querySelector('div');
const status = document.getElementById('freed');
const token = document.querySelector('meta[name=token]').getAttribute('content');
/** @type {{ from: string, seats: { id: number, name: string, state: string }[] }[]} */
let shown = [];
/** The value of the button that was pressed once. */
let armed = '';

/** Escape or a click elsewhere takes the first press back; captured, since the button's own listener redraws the button. */
addEventListener('keydown', ({ key }) => key === 'Escape' && arm(''));
addEventListener('click', ({ target }) => list.contains(/** @type {Node} */ (target)) || arm(''), {
  capture: true,
});

/** @param {typeof shown} addresses @param {number} most  seats in all */
export function showSeats(addresses, most) {
  if (JSON.stringify(addresses) === JSON.stringify(shown)) return;
  shown = addresses;
  const taken = shown.reduce((sum, { seats }) => sum + seats.length, 0);
  summary.textContent = `Free a seat (${taken} of ${most} are taken)`;
  draw();
}

/** Redraws, and restores the focus. */
function draw() {
  const focused =
    list.contains(document.activeElement) &&
    /** @type {HTMLButtonElement} */ (document.activeElement);
  list.replaceChildren(...shown.map(sectionOf));
  if (!focused) return;
  const again = [...list.querySelectorAll('button')].find(({ value }) => value === focused.value);
  (again ?? summary).focus();
}

function sectionOf({ from, seats }) {
  const section = make('section');
  const head = make('h2', {
    textContent: `${from}: ${seats.length === 1 ? '1 seat' : `${seats.length} seats`}`,
  });
  const items = make('ul', { className: 'who' });
  items.append(...seats.map(seatOf));
  section.append(head, items);
  if (seats.length > 1) head.append(buttonOf({ from }, `all ${seats.length}`));
  return section;
}

function seatOf({ id, name, state }) {
  const item = make('li', { className: state });
  item.append(make('bdi', { className: 'name', textContent: name }));
  if (WORDS[state]) item.append(make('span', { className: 'word', textContent: WORDS[state] }));
  item.append(buttonOf({ id }, name));
  return item;
}

/** @param {{ id: number } | { from: string }} which  the body of the request @param {string} name */
function buttonOf(which, name) {
  const value = JSON.stringify(which);
  const isArmed = value === armed;
  const button = make('button', { type: 'button', value, className: isArmed ? 'armed' : '' });
  const what = make('span', { className: 'id' in which ? 'unseen' : '', textContent: ` ${name}` });
  button.append(isArmed ? 'Really free' : 'Free', what);
  button.addEventListener('click', () => (value === armed ? free(value, name) : arm(value, name)));
  return button;
}

function arm(/** @type {string} */ value, words = '') {
  armed = value;
  status.textContent = words && `Press again to free ${words}.`;
  draw();
}

async function free(/** @type {string} */ value, /** @type {string} */ name) {
  arm('');
  const headers = { 'x-forkshop-token': token, 'content-type': 'application/json' };
  const answer = await fetch('/free', { method: 'POST', headers, body: value }).catch(
    () => undefined,
  );
  const fault =
    answer?.status === 404 ? `${name} was gone already.` : 'That went wrong: reload the page.';
  status.textContent = answer?.ok ? `Freed: ${name}.` : fault;
}
