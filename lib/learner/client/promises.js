/** The promises of a lesson, task by task, each a line that opens. */
import { all, make } from '../../web/client/elements.js';

export const SIGNS = {
  passed: ['✔', 'holds'],
  failed: ['✖', 'failed'],
  inconclusive: ['?', 'undecided'],
  skipped: ['·', 'not reached'],
  waiting: ['·', 'not judged yet'],
  held: ['✔', 'held before'],
};
const SEEN = ['passed', 'waiting']; // the sign says it
const OPEN = ['failed', 'inconclusive'];

/** @param {HTMLElement} place  @param {{ pick: (id: string) => void }} actions */
export function createPromises(place, { pick }) {
  const items = new Map(all('li[data-id]', place).map((item) => [String(item.dataset.id), item]));
  const tasks = new Map(all('details.task', place).map((one) => [String(one.dataset.task), one]));
  const itemOf = ({ id }) => {
    const item = items.get(id) ?? make('li', {});
    item.dataset.id = id;
    items.set(id, item);
    if (!item.querySelector('button')) item.replaceChildren(buttonOf(() => pick(id)));
    return item;
  };
  const taskOf = (/** @type {string} */ number) => {
    const element = tasks.get(number) ?? addTask(place, number);
    tasks.set(number, element);
    return element;
  };

  return {
    /** The items stay the same elements, so that an item keeps the focus. */
    update(check) {
      const next = check.tasks.find((task) => promisesOf(check, task).some(isToCome))?.number;
      for (const task of check.tasks) {
        const mine = promisesOf(check, task);
        const element = /** @type {HTMLDetailsElement} */ (taskOf(String(task.number)));
        fillTask(element, task, { mine, check, isNext: task.number === next });
        for (const promise of mine) fillItem(itemOf(promise), promise, check);
        moveTo(element.querySelector('ol'), mine.map(itemOf));
      }
    },
    /** Opens a promise, with its story, and shuts the others. @param {string | undefined} id  @param {HTMLElement} story */
    open(id, story) {
      for (const [each, item] of items)
        item.querySelector('button')?.setAttribute('aria-expanded', String(each === id));
      const item = items.get(id ?? '');
      if (item && story.parentElement !== item) item.append(story);
    },
  };
}

function addTask(/** @type {HTMLElement} */ place, /** @type {string} */ number) {
  const task = make('details', { className: 'task', open: true });
  task.dataset.task = number;
  task.append(make('summary'), make('ol'));
  place.append(task);
  return task;
}

const promisesOf = ({ promises }, task) => promises.filter(({ id }) => task.promises.includes(id));
const isToCome = ({ verdict }) => verdict !== 'held' && verdict !== 'passed';

/** Folds a task that was not judged into one line: it held before, or comes later. */
function fillTask(element, { heading }, { mine, check, isNext }) {
  const { isOver, isIdle } = check;
  const held = mine.filter(({ verdict }) => verdict === 'held').length;
  const isJudged = mine.some(({ verdict }) => !['held', 'waiting'].includes(verdict));
  const isLive = !isOver || isIdle;
  const before = held === 1 ? '1 promise held before' : `${held} promises held before`;
  const isLeft = !isJudged && !(isLive && isNext);
  const notYet = held > 0 ? `not yet (${before})` : 'not yet';
  const note = !isLeft ? '' : held === mine.length ? before : notYet;
  const sign = isLeft && held === mine.length ? '✔' : '';
  const summary = element.querySelector('summary');
  const now = [sign, heading, note].join('\n');
  if (summary.dataset.holds !== now) {
    summary.dataset.holds = now;
    summary.replaceChildren(
      ...(sign
        ? [make('span', { className: 'sign', textContent: sign, ariaHidden: 'true' }), ' ']
        : []),
      make('span', { className: 'heading', textContent: heading }),
      ...(note ? [' ', make('span', { className: 'word', textContent: `· ${note}` })] : []),
    );
  }
  const state = String(isLeft);
  if (element.dataset.isLeft === state) return; // keeps a fold that the reader has opened
  element.dataset.isLeft = state;
  element.open = !isLeft;
}

function buttonOf(pick) {
  const button = make('button', { type: 'button', className: 'promise' });
  button.append(
    make('span', { className: 'sign', ariaHidden: 'true' }),
    make('span', { className: 'sentence' }),
    make('span', { className: 'word' }),
    make('span', { className: 'brief' }),
  );
  button.addEventListener('click', pick);
  return button;
}

function moveTo(list, items) {
  for (const item of items) if (item.parentElement !== list) list.append(item);
}

function fillItem(item, { verdict, sentence, got = '' }, { isOver, isIdle }) {
  const [sign, word] = SIGNS[verdict];
  const isLeft = isOver && !isIdle && verdict === 'waiting';
  item.dataset.verdict = verdict;
  put(item.querySelector('.sign'), sign);
  put(item.querySelector('.sentence'), sentence);
  const place = item.querySelector('.word');
  put(place, isLeft ? 'not judged this time' : word);
  place.classList.toggle('unseen', !isLeft && SEEN.includes(verdict));
  put(item.querySelector('.brief'), OPEN.includes(verdict) ? got.split('\n')[0] : '');
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
