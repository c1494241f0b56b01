/** The verdict on a lesson, as the server tells it: in one line, promise by promise, and the one that is chosen, opened up. */
import { all } from '../../web/client/elements.js';
import { createPromises } from './promises.js';
import { storyOf } from './promise-story.js';

/** @param {HTMLElement} aside  @param {{ choose: (promise: any) => void }} actions */
export function createVerdict(aside, { choose }) {
  const [place] = all('#promises', aside);
  const [story] = all('#story', aside);
  const [summary] = all('#summary', aside);
  const [status] = all('#status .to-verdict');
  const atFirst = [...summary.childNodes];
  const briefAtFirst = status.textContent;
  let check;
  let shown = ''; // the check and promise of which the evidence is shown
  /** @type {{ id: string, instead?: string } | undefined} instead: of the promise that was opened when this one was clicked */
  let chosen;
  all('.actions', aside)[0].hidden = false;
  const promises = createPromises(place, { pick });

  /** The failure to read first: each verdict opens its own, whatever was clicked before. */
  const first = () => {
    const those = (wanted) => check.promises.find(({ verdict }) => verdict === wanted);
    return those('failed') ?? those('inconclusive');
  };
  const mark = () => (first() ? `${check.id} ${first().id}` : '');
  const current = () => {
    const clicked = check.promises.find(({ id }) => id === chosen?.id);
    return first() && chosen?.instead !== mark() ? first() : (clicked ?? first());
  };

  function pick(id) {
    chosen = { id, instead: mark() };
    open();
  }

  function open() {
    const promise = current();
    const isTold = promise && !['waiting', 'held'].includes(promise.verdict);
    promises.open(promise?.id, story);
    story.hidden = !isTold;
    if (isTold) replace(story, storyOf(promise, check));
    const now = `${check.id} ${isTold ? promise.id : ''} ${check.isOver}`;
    if (now !== shown && (isTold || check.isOver)) choose(isTold ? promise : undefined);
    shown = now;
  }

  return {
    say: (text) => (summary.textContent = status.textContent = text),
    tell(fresh) {
      check = fresh;
      const { isIdle, isOver, verdict, passedAt } = check;
      aside.setAttribute('aria-busy', String(!isOver));
      aside.dataset.verdict = (isOver && verdict) || (passedAt ? 'passed' : 'waiting');
      status.dataset.verdict = aside.dataset.verdict;
      promises.tell(check);
      if (isIdle && !passedAt) summary.replaceChildren(...atFirst);
      else summary.textContent = summaryOf(check);
      status.textContent = isIdle && !passedAt ? briefAtFirst : briefly(check);
      if (isIdle) return;
      aside.dataset.check = String(check.id);
      open();
    },
  };
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

/** As in "at 14:05", with the day unless that is today. */
function timeOf(iso) {
  const then = new Date(iso);
  const time = `at ${then.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
  if (then.toDateString() === new Date().toDateString()) return time;
  const day = then.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  return `on ${day} ${time}`;
}

/** What is the same stays: a fold that is open, a text that is selected. */
function replace(place, elements) {
  const html = elements.map((one) => one.outerHTML).join('');
  if (place.dataset.holds === html) return;
  place.dataset.holds = html;
  place.replaceChildren(...elements);
}
