/** The promises of a check as they are decided, and the one that is chosen, opened up. */
import { all, make } from './page.js';

export const SIGNS = {
  passed: ['✔', 'holds'],
  failed: ['✖', 'failed'],
  inconclusive: ['?', 'undecided'],
  skipped: ['·', 'not reached'],
  waiting: ['·', 'not judged yet'],
  held: ['✔', 'held before'],
};
const FIELDS = { expected: 'Expected', got: 'Got', why: 'Why', try: 'Try' };

/** @param {HTMLElement} aside  @param {{ choose: (promise: any) => void }} actions */
export function createVerdict(aside, { choose }) {
  const [list] = all('#promises', aside);
  const [opened] = all('#opened', aside);
  const [story] = all('#story', opened);
  const home = opened.parentElement;
  const below = opened.nextElementSibling;
  const [summary] = all('#summary', aside);
  const [title] = all('#verdict-title', aside);
  const [status] = all('#status a');
  const atFirst = [...summary.childNodes];
  const briefAtFirst = status.textContent;
  let check;
  let shown = ''; // the check and promise of which the evidence is shown
  /** @type {string | undefined} */
  let chosen; // by the learner
  all('.actions', aside)[0].hidden = false;

  const current = () =>
    check.promises.find(({ id }) => id === chosen) ??
    check.promises.find(({ verdict }) => verdict === 'failed') ??
    check.promises.find(({ verdict }) => verdict === 'inconclusive');

  function pick(id) {
    chosen = id;
    open();
  }

  function open() {
    const promise = current();
    const items = all(':scope > li', list);
    const mine = items.find(({ dataset }) => dataset.id === promise?.id);
    for (const item of items)
      item.querySelector('button').setAttribute('aria-expanded', String(item === mine));
    if (opened.parentElement !== (mine ?? home)) {
      if (mine) mine.append(opened);
      else below.before(opened);
    }
    const isTold = promise && promise.verdict !== 'waiting';
    story.hidden = !isTold;
    if (isTold) replace(story, storyOf(promise, check));
    const now = `${check.id} ${isTold ? promise.id : ''} ${check.isOver}`;
    if (now !== shown && (isTold || check.isOver)) choose(isTold ? promise : undefined);
    shown = now;
  }

  return {
    idle() {
      summary.replaceChildren(...atFirst);
      status.textContent = briefAtFirst;
      for (const item of all(':scope > li', list)) fillItem(item, { verdict: 'waiting' });
    },
    say: (text) => (summary.textContent = status.textContent = text),
    tell(fresh) {
      if (check?.id !== fresh.id) aside.dataset.verdict = 'waiting';
      check = fresh;
      title.textContent = `Lesson ${check.lesson.number}: what your server does`;
      aside.dataset.check = String(check.id);
      aside.setAttribute('aria-busy', String(!check.isOver));
      aside.dataset.verdict = check.isOver ? check.verdict : 'waiting';
      status.dataset.verdict = aside.dataset.verdict;
      tellItems(list, check, pick);
      summary.textContent = summaryOf(check);
      status.textContent = briefly(check);
      open();
    },
  };
}

/** The items stay the same elements: whoever has the focus on one keeps it. */
function tellItems(list, check, pick) {
  const items = new Map(all(':scope > li', list).map((item) => [item.dataset.id, item]));
  const wanted = check.promises.map((promise) => {
    const item = items.get(promise.id) ?? make('li', {});
    item.dataset.id = promise.id;
    if (!item.querySelector('button')) {
      const button = make('button', { type: 'button', className: 'promise' });
      button.append(
        make('span', { className: 'sign', ariaHidden: 'true' }),
        make('span', { className: 'sentence', textContent: promise.sentence }),
        make('span', { className: 'word' }),
      );
      button.addEventListener('click', () => pick(promise.id));
      item.replaceChildren(button);
    }
    fillItem(item, promise, check.isOver);
    return item;
  });
  for (const [id, item] of items) if (!wanted.some((one) => one.dataset.id === id)) item.remove();
  wanted.forEach((item, index) => {
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  });
}

function fillItem(item, { verdict }, isOver = false) {
  const [sign, word] = SIGNS[verdict];
  item.dataset.verdict = verdict;
  put(item.querySelector('.sign'), sign);
  const place = item.querySelector('.word');
  if (!place) return;
  const isLeft = isOver && verdict === 'waiting';
  put(place, isLeft ? 'not judged this time' : word);
  place.classList.toggle('unseen', !isLeft && ['passed', 'waiting'].includes(verdict)); // the sign shows it
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const countOf = ({ promises }, wanted) =>
  promises.filter(({ verdict }) => verdict === wanted).length;

const WORDS = { passed: 'Passed.', failed: 'Not yet.', inconclusive: 'Undecided.' };

function briefly(check) {
  const count = countOf(check, 'passed');
  const held = `${count} of ${check.promises.length} promises hold`;
  if (!check.isOver && count === check.promises.length)
    return `All ${count} promises hold. Now it is measured`;
  if (!check.isOver) return `Checking: ${held} so far`;
  return `${check.verdict === 'passed' && !check.isWhole ? 'Good so far.' : WORDS[check.verdict]} ${held}`;
}

function summaryOf(check) {
  const { isOver, seconds, conditions, fault, obstacle, doing } = check;
  if (doing) return doing;
  if (fault)
    return 'This is a fault in Forkshop, not in your code: the terminal has the lines to report.';
  if (obstacle) return obstacle;
  const machine = conditions ? ` ${conditions.cores} cores, Node ${conditions.node}.` : '';
  return `${briefly(check)}.${isOver ? ` ${seconds.toFixed(1)} s.${machine}` : ''}`;
}

/** Expected, got, why, try; of what held there is only its sentence. */
function storyOf({ verdict, output, ...record }, check) {
  const list = make('dl', {});
  for (const name of Object.keys(FIELDS).filter((each) => record[each]))
    list.append(
      make('dt', { textContent: FIELDS[name] }),
      make('dd', { textContent: record[name], className: name }),
    );
  const printed = (output ?? (verdict === 'failed' ? check.output : '') ?? '').trimEnd();
  const parts = list.children.length > 0 ? [list] : [];
  return printed ? [...parts, printedBy(printed)] : parts;
}

function printedBy(text) {
  const details = make('details', { className: 'printed' });
  details.append(
    make('summary', { textContent: 'Your program printed' }),
    make('pre', { textContent: text, tabIndex: 0 }),
  );
  return details;
}

/** What is the same stays: a fold that is open, a text that is selected. */
function replace(place, elements) {
  const html = elements.map((one) => one.outerHTML).join('');
  if (place.dataset.holds === html) return;
  place.dataset.holds = html;
  place.replaceChildren(...elements);
}
