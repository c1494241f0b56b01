/** The learner's page: each message of the server updates its parts; the text, the scroll and the focus stay. */
import { createActivity } from './activity.js';
import { createBallot } from './ballot.js';
import { ask, takeToken } from './ask-server.js';
import { createEvidence } from '../../web/client/evidence.js';
import { createExperiments } from './experiments.js';
import { createFollowing } from './follow-lesson.js';
import { createHand } from './raised-hand.js';
import { showMap } from './lesson-map.js';
import { createNumbers } from './measured.js';
import { all, make } from '../../web/client/elements.js';
import { createPrediction } from './prediction.js';
import { createPageActions } from './page-actions.js';
import { createVerdict } from './verdict.js';
import { createScene } from './scene.js';
import { createViews } from './tabs.js';

const text = document.getElementById('text');
const { lesson: key, number } = text.dataset;
const aside = document.getElementById('verdict');

let latest = { check: null };
let over = -1; // the check with the last verdict

const views = createViews();
const following = createFollowing(document.getElementById('followed'), { key, number });
const evidence = createEvidence(document.getElementById('evidence'));
const verdict = createVerdict(aside, { choose });
const prediction = createPrediction(document.getElementById('prediction'), { key });
const activity = createActivity(document.getElementById('activity'));
const experiments = createExperiments(text, { key, number, activity });
const numbers = createNumbers(document.getElementById('numbers'), { key, activity });
const scene = createScene(document.getElementById('scene'), { key, number });

const hand = createHand(document.getElementById('hand'));
const ballot = createBallot(document.getElementById('ballot'));

createPageActions(document.getElementById('page-actions'), { key, activity, experiments });
addCopyButtons();
listen();

/** The browser reconnects by itself, and the next message has all that was missed. */
function listen() {
  const events = new EventSource(`/lessons/${key}/events`);
  events.addEventListener('message', ({ data }) => take(JSON.parse(data)));
  events.addEventListener('open', () => aside.classList.remove('cut'));
  events.addEventListener('error', () => {
    aside.classList.add('cut');
    verdict.say("npm start can't be reached. This page waits for it.");
  });
  addEventListener('pagehide', () => events.close());
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
}

function take(message) {
  latest = message;
  if (takeToken(message.token)) {
    following.restart();
    over = -1;
  }
  following.update(message.newest);
  showMap(message);
  prediction.update(message);
  activity.update(message.activity);
  showSaveError(message.saveError);
  hand.update(message.hand);
  ballot.update(message.hand?.ballot ?? null);
  showHints(message.hints);
  document.getElementById('hints').hidden = false;
  showNext(message);
  const { check } = message;
  if (!check) return;
  verdict.update(check);
  bringForward(check);
  if (check.isIdle) return;
  evidence.outdate(check.id);
  scene.update(check);
  numbers.update(check, message.solutions?.[check.lesson.key]);
}

/** Brings a verdict to the front, unless it is older than the page and the page didn't come for it. */
function bringForward({ id, isOver, isIdle }) {
  const isFirst = over === -1;
  if (!isOver || isIdle) return void (over = Math.max(over, 0));
  if (over === id) return;
  over = id;
  const isTyping = document.activeElement?.matches('#text :is(input, textarea)');
  if (!isTyping && (!isFirst || following.hasCome)) views.show('verdict');
}

function showSaveError(why) {
  const place = document.getElementById('save-error');
  const words = why
    ? `Your progress can't be saved: ${why}. Until npm start exits, it is remembered anyway.`
    : '';
  if (place.textContent !== words) place.textContent = words;
  place.hidden = !why;
}

/** Leads to the next lesson once this one has passed, unless it fails now. */
function showNext({ passed, current, check }) {
  const next = document.getElementById('next');
  const fails = check?.promises.some(({ verdict }) => verdict === 'failed');
  next.hidden = !passed.includes(key) || key === current || Boolean(fails);
  const [pill] = all(`.pills a[data-key="${CSS.escape(current)}"]`);
  if (next.hidden || !pill) return;
  const link = next.querySelector('a');
  link.href = `/lessons/${current}/`;
  link.textContent = `Next: ${pill.title.replace(/, \d+ minutes.*$/, '')}`;
}

/** Shows the evidence for a promise, or for the whole check. */
function choose(promise) {
  if (latest.check) evidence.show(latest.check, promise);
}

document.getElementById('check').addEventListener('click', async () => {
  const { fault } = await ask(`/lessons/${key}/check`);
  if (fault) verdict.say(fault);
});
document.getElementById('hint').addEventListener('click', async () => {
  const { value, fault } = await ask(`/lessons/${key}/hint`);
  if (fault) return verdict.say(fault);
  showHints(value);
});

/** Those of the task that is open now: another one after a check. */
function showHints({ name, shown, of }) {
  const button = /** @type {HTMLButtonElement} */ (document.getElementById('hint'));
  const list = document.querySelector('#hints ol');
  if (button.dataset.task !== name || list.children.length !== shown.length)
    list.replaceChildren(...shown.map((one) => make('li', { textContent: one })));
  button.dataset.task = name;
  button.textContent = shown.length === 0 ? 'A hint' : `One hint more (${shown.length} of ${of})`;
  button.disabled = shown.length >= of;
  if (button.disabled)
    button.textContent = `npm run diff lesson-${number} compares with the solution`;
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
