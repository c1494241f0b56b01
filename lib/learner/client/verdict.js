/** The verdict on a lesson: in one line, promise by promise, with one promise opened. */
import { all } from '../../web/client/elements.js';
import { createPromises } from './promises.js';
import { storyOf } from './promise-story.js';

/** @param {HTMLElement} aside  @param {{ choose: (promise: any) => void }} actions  choose: shows the evidence */
export function createVerdict(aside, { choose }) {
  const [story] = all('#story', aside);
  const [summary] = all('#summary', aside);
  const [status] = all('#status .to-verdict');
  const atFirst = { summary: [...summary.childNodes], status: status.textContent };
  let check;
  let shown = ''; // the check and promise that the evidence is about
  /** @type {{ id: string, instead: string } | undefined} the promise that was clicked, and the failure open before the click */
  let clicked;
  all('.actions', aside)[0].hidden = false;
  const pick = (/** @type {string} */ id) => {
    clicked = { id, instead: failureOf(check) };
    open();
  };
  const promises = createPromises(all('#promises', aside)[0], { pick });

  function open() {
    const promise = promiseToOpen(check, clicked);
    const isJudged = promise && !['waiting', 'held'].includes(promise.verdict);
    promises.open(promise?.id, story);
    story.hidden = !isJudged;
    if (isJudged) replace(story, storyOf(promise, check));
    const now = `${check.id} ${isJudged ? promise.id : ''} ${check.isOver}`;
    if (now !== shown && (isJudged || check.isOver)) choose(isJudged ? promise : undefined);
    shown = now;
  }

  return {
    say: (text) => (summary.textContent = status.textContent = text),
    update(fresh) {
      check = fresh;
      showState(check, { aside, status });
      promises.update(check);
      showSummary(check, { summary, status, atFirst });
      if (check.isIdle) return;
      aside.dataset.check = String(check.id);
      open();
    },
  };
}

function showState({ isOver, verdict, passedAt }, { aside, status }) {
  aside.setAttribute('aria-busy', String(!isOver));
  aside.dataset.verdict = (isOver && verdict) || (passedAt ? 'passed' : 'waiting');
  status.dataset.verdict = aside.dataset.verdict;
}

/** A lesson that was never checked keeps the words that the page came with. */
function showSummary(check, { summary, status, atFirst }) {
  const isNew = check.isIdle && !check.passedAt;
  if (isNew) summary.replaceChildren(...atFirst.summary);
  else summary.textContent = summaryOf(check);
  status.textContent = isNew ? atFirst.status : briefly(check);
}

const firstFailure = ({ promises }) =>
  promises.find(({ verdict }) => verdict === 'failed') ??
  promises.find(({ verdict }) => verdict === 'inconclusive');

const failureOf = (check) => (firstFailure(check) ? `${check.id} ${firstFailure(check).id}` : '');

/** A new failure opens, whatever was clicked before it. */
function promiseToOpen(check, clicked) {
  const first = firstFailure(check);
  if (first && clicked?.instead !== failureOf(check)) return first;
  return check.promises.find(({ id }) => id === clicked?.id) ?? first;
}

const WORDS = { passed: 'Passed.', failed: 'Not yet.', inconclusive: 'Undecided.' };

function briefly(check) {
  const { isOver, isWhole, isIdle, verdict, said, promises } = check;
  const count = promises.length;
  if (isIdle) return 'Passed';
  const isFine = promises.every((one) => one.verdict === 'passed');
  if (!isOver)
    return isFine ? `All ${count} promises hold. Now it is measured` : `Checking: ${said}`;
  if (verdict === 'passed')
    return isWhole ? `Passed. All ${count} promises hold` : `Good so far. ${said}`;
  return `${WORDS[verdict]} ${said}`;
}

function summaryOf(check) {
  const { isOver, isIdle, isElsewhere, seconds, conditions, fault, obstacle, doing, file } = check;
  if (isIdle) return `Passed ${timeOf(check.passedAt)}. A save, or "Check now", checks it again.`;
  if (doing) return doing;
  if (fault)
    return 'This is a fault in Forkshop, not in your code: the terminal has the lines to report.';
  if (obstacle) return obstacle;
  if (!isOver) return `${file ? `${file} was saved. ` : ''}${briefly(check)}.`;
  const machine = conditions ? ` ${conditions.cores} cores, Node ${conditions.node}.` : '';
  const where = isElsewhere ? ' in another terminal' : '';
  return `${briefly(check)}. ${seconds.toFixed(1)} s.${machine} Checked ${timeOf(check.at)}${where}.`;
}

/** As in "at 14:05", with the day if it is not today. */
function timeOf(iso) {
  const then = new Date(iso);
  const time = `at ${then.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
  if (then.toDateString() === new Date().toDateString()) return time;
  const day = then.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  return `on ${day} ${time}`;
}

/** Leaves equal elements alone, so that an open fold or a selected text stays. */
function replace(place, elements) {
  const html = elements.map((one) => one.outerHTML).join('');
  if (place.dataset.holds === html) return;
  place.dataset.holds = html;
  place.replaceChildren(...elements);
}
