/** The learner's page: whatever the server says anew is put in where it belongs; the text, the scroll, the focus stay. */
import { createActivity } from './activity.js';
import { ask, takeToken } from './asking.js';
import { createEvidence } from './evidence.js';
import { createExperiments } from './experiments.js';
import { createHand } from './hand.js';
import { tellMap } from './map.js';
import { createNumbers } from './measured.js';
import { all, make } from './page.js';
import { createPrediction } from './prediction.js';
import { createReach } from './reach.js';
import { createVerdict } from './verdict.js';

const text = document.getElementById('text');
const { lesson: key, number } = text.dataset;
const aside = document.getElementById('verdict');

let told = { check: null };
/** @type {number | null | undefined} the check that had been made before this page was opened */
let before;

const evidence = createEvidence(document.getElementById('evidence'));
const verdict = createVerdict(aside, { choose });
const prediction = createPrediction(document.getElementById('prediction'), { key });
const activity = createActivity(document.getElementById('activity'));
const experiments = createExperiments(text, { key, number, activity });
const numbers = createNumbers(document.getElementById('numbers'), { key, activity });

const hand = createHand(document.getElementById('hand'));

createReach(document.getElementById('reach'), { key, activity, experiments });
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
  if (takeToken(message.token)) before = 0; // npm start has begun anew, and so has its count
  before ??= message.check?.id ?? 0;
  tellMap(message);
  prediction.tell(message);
  activity.tell(message.activity);
  tellUnkept(message.unkept);
  hand.tell(message.hand);
  document.getElementById('hints').hidden = false;
  const { check } = message;
  const isOfHere = check && (check.lesson.key === key || check.id !== before);
  tellNext(message);
  if (!isOfHere) return verdict.idle();
  evidence.outdate(check.id);
  verdict.tell(check);
  numbers.tell(check, message.solutions?.[check.lesson.key]);
}

/** Passing is not remembered where it cannot be written. */
function tellUnkept(why) {
  const place = document.getElementById('unkept');
  const words = why
    ? `Your progress cannot be kept: ${why}. Until npm start ends it is remembered all the same.`
    : '';
  if (place.textContent !== words) place.textContent = words;
  place.hidden = !why;
}

/** When a lesson has passed: where the next one is. */
function tellNext({ passed, current }) {
  const next = document.getElementById('next');
  next.hidden = !passed.includes(key) || key === current;
  const [pill] = all(`.pills a[data-key="${CSS.escape(current)}"]`);
  if (next.hidden || !pill) return;
  const link = next.querySelector('a');
  link.href = `/lessons/${current}/`;
  link.textContent = `Next: ${pill.title.replace(/, \d+ minutes.*$/, '')}`;
}

/** A promise was chosen, or the check: its programs are offered, and what decided it is marked. */
function choose(promise) {
  if (told.check) evidence.show(told.check, promise);
}

document.getElementById('check').addEventListener('click', async () => {
  const { fault } = await ask(`/lessons/${key}/check`);
  if (fault) verdict.say(fault);
});
document.getElementById('hint').addEventListener('click', async ({ currentTarget }) => {
  const { value, fault } = await ask(`/lessons/${key}/hint`);
  if (fault) return verdict.say(fault);
  const { name, shown, of } = value;
  const button = /** @type {HTMLButtonElement} */ (currentTarget);
  const list = document.querySelector('#hints ol');
  if (button.dataset.task !== name) list.replaceChildren(); // they were for another task
  button.dataset.task = name;
  list.append(...shown.slice(list.children.length).map((one) => make('li', { textContent: one })));
  tellHints(button, of);
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
