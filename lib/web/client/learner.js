/** The learner's page: whatever the server says anew is put in where it belongs; the text, the scroll, the focus stay. */
import { createEvidence } from './evidence.js';
import { tellMap } from './map.js';
import { showNumbers } from './measured.js';
import { all, make } from './page.js';
import { createPrediction } from './prediction.js';
import { createVerdict } from './verdict.js';

const meta = document.querySelector('meta[name=token]');
const text = document.getElementById('text');
const { lesson: key, number } = text.dataset;
const aside = document.getElementById('verdict');

let told = { check: null };
/** @type {number | null | undefined} the check that had been made before this page was opened */
let before;

const evidence = createEvidence(document.getElementById('evidence'));
const verdict = createVerdict(aside, { choose });
const prediction = createPrediction(document.getElementById('prediction'), { key, post });

addCopyButtons();
listen();

/** A line that breaks is opened again by itself; the next message holds all that was missed. */
function listen() {
  const events = new EventSource('/events');
  events.addEventListener('message', ({ data }) => take(JSON.parse(data)));
  events.addEventListener('open', () => aside.classList.remove('cut'));
  events.addEventListener('error', () => {
    aside.classList.add('cut');
    verdict.say('npm start is not to be reached. This page waits for it.');
  });
  addEventListener('pagehide', () => events.close());
}

function take(message) {
  told = message;
  if (meta.getAttribute('content') !== message.token) before = 0; // npm start has begun anew, and so has its count
  meta.setAttribute('content', message.token);
  before ??= message.check?.id ?? 0;
  tellMap(message);
  prediction.tell(message);
  document.getElementById('hints').hidden = false;
  const { check } = message;
  const isOfHere = check && (check.lesson.key === key || check.id !== before);
  tellNext(message);
  if (!isOfHere) return verdict.idle();
  verdict.tell(check);
  showNumbers(document.getElementById('numbers'), check);
}

/** When a lesson has passed: where the next one is. */
function tellNext({ check, current }) {
  const next = document.getElementById('next');
  const hasPassed = check?.isOver && check.verdict === 'passed' && check.isWhole;
  next.hidden = !hasPassed || check.lesson.key === current;
  const [pill] = all(`.pills a[data-key="${CSS.escape(current)}"]`);
  if (next.hidden || !pill) return;
  const link = next.querySelector('a');
  link.href = `/lessons/${current}/`;
  link.textContent = `Next: ${pill.title}`;
}

/** A promise was chosen, or the check: its programs are offered, and what decided it is marked. */
function choose(promise) {
  if (told.check) evidence.show(told.check, promise);
}

/** @param {string} path */
function post(path) {
  const headers = { 'x-forkshop-token': meta.getAttribute('content') };
  return fetch(`/lessons/${key}/${path}`, { method: 'POST', headers });
}

document.getElementById('check').addEventListener('click', () => post('check'));
document.getElementById('hint').addEventListener('click', async ({ currentTarget }) => {
  const response = await post('hint');
  if (!response.ok) return verdict.say(await response.text());
  const { hints, of } = await response.json();
  const list = document.querySelector('#hints ol');
  list.append(...hints.slice(list.children.length).map((one) => make('li', { textContent: one })));
  tellHints(/** @type {HTMLButtonElement} */ (currentTarget), of);
});
tellHints(document.querySelector('#hint'));

function tellHints(/** @type {HTMLButtonElement} */ button, of = Number(button.dataset.of)) {
  const shown = document.querySelector('#hints ol').children.length;
  button.textContent = shown === 0 ? 'A hint' : `One hint more (${shown} of ${of})`;
  button.disabled = shown >= of;
  if (shown >= of) button.textContent = `npm run diff lesson-${number} compares with the solution`;
}

function addCopyButtons() {
  for (const figure of all('#text figure.code')) {
    const copy = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      copy.textContent = 'Copied';
      setTimeout(() => (copy.textContent = 'Copy'), 1_500);
    });
    figure.append(copy);
  }
}
