/** The learner's page: what the server tells is put in where it belongs; the text, the scroll, the focus stay. */
import { createActivity } from './activity.js';
import { createBallot } from './ballot.js';
import { ask, takeToken } from './ask-server.js';
import { createEvidence } from '../../web/client/evidence.js';
import { createExperiments } from './experiments.js';
import { createFollowing } from './follow-lesson.js';
import { createHand } from './raised-hand.js';
import { tellMap } from './lesson-map.js';
import { createNumbers } from './measured.js';
import { all, make } from '../../web/client/elements.js';
import { createPrediction } from './prediction.js';
import { createPageActions } from './page-actions.js';
import { createVerdict } from './verdict.js';
import { createViews } from './tabs.js';

const text = document.getElementById('text');
const { lesson: key, number } = text.dataset;
const aside = document.getElementById('verdict');

let told = { check: null };
let over = -1; // the check whose verdict is shown

const views = createViews();
const following = createFollowing(document.getElementById('followed'), { key, number });
const evidence = createEvidence(document.getElementById('evidence'));
const verdict = createVerdict(aside, { choose });
const prediction = createPrediction(document.getElementById('prediction'), { key });
const activity = createActivity(document.getElementById('activity'));
const experiments = createExperiments(text, { key, number, activity });
const numbers = createNumbers(document.getElementById('numbers'), { key, activity });

const hand = createHand(document.getElementById('hand'));
const ballot = createBallot(document.getElementById('ballot'));

createPageActions(document.getElementById('reach'), { key, activity, experiments });
addCopyButtons();
listen();

/** A line that breaks is opened again by itself; the next message holds all that was missed. */
function listen() {
  const events = new EventSource(`/lessons/${key}/events`);
  events.addEventListener('message', ({ data }) => take(JSON.parse(data)));
  events.addEventListener('open', () => aside.classList.remove('cut'));
  events.addEventListener('error', () => {
    aside.classList.add('cut');
    verdict.say('npm start is not to be reached. This page waits for it.');
  });
  addEventListener('pagehide', () => events.close());
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
}

function take(message) {
  told = message;
  if (takeToken(message.token)) {
    following.forget(); // npm start was started again, and counts from 0
    over = -1;
  }
  following.tell(message.newest);
  tellMap(message);
  prediction.tell(message);
  activity.tell(message.activity);
  tellUnkept(message.unkept);
  hand.tell(message.hand);
  ballot.tell(message.hand?.ballot ?? null);
  document.getElementById('hints').hidden = false;
  tellNext(message);
  const { check } = message;
  if (!check) return;
  verdict.tell(check);
  bringForward(check);
  if (check.isIdle) return;
  evidence.outdate(check.id);
  numbers.tell(check, message.solutions?.[check.lesson.key]);
}

/** A verdict comes to the front; one that was there before the page was does not, unless the page has come for it. */
function bringForward({ id, isOver, isIdle }) {
  const isFirst = over === -1;
  if (!isOver || isIdle) return void (over = Math.max(over, 0));
  if (over === id) return;
  over = id;
  const isTyping = document.activeElement?.matches('#text :is(input, textarea)');
  if (!isTyping && (!isFirst || following.hasCome)) views.show('verdict');
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

/** When a lesson has passed, and nothing of it fails now: where the next one is. */
function tellNext({ passed, current, check }) {
  const next = document.getElementById('next');
  const fails = check?.promises.some(({ verdict }) => verdict === 'failed');
  next.hidden = !passed.includes(key) || key === current || Boolean(fails);
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
