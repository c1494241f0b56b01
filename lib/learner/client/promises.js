/** The promises of a lesson, task by task as its text numbers them, each a line that opens. */
import { all, make } from '../../web/client/elements.js';

export const SIGNS = {
  passed: ['✔', 'holds'],
  failed: ['✖', 'failed'],
  inconclusive: ['?', 'undecided'],
  skipped: ['·', 'not reached'],
  waiting: ['·', 'not judged yet'],
  held: ['✔', 'held before'],
};
const SEEN = ['passed', 'waiting']; // the sign shows it
const OPEN = ['failed', 'inconclusive'];

/** @param {HTMLElement} place  @param {{ pick: (id: string) => void }} actions */
export function createPromises(place, { pick }) {
  /** @type {Map<string, HTMLElement>} */
  const items = new Map(all('li[data-id]', place).map((item) => [String(item.dataset.id), item]));
  const itemOf = (promise) => {
    const item = items.get(promise.id) ?? make('li', {});
    if (!items.has(promise.id)) item.dataset.id = promise.id;
    items.set(promise.id, item);
    if (!item.querySelector('button')) item.replaceChildren(buttonOf(() => pick(promise.id)));
    return item;
  };
  const tasks = new Map(all('details.task', place).map((one) => [String(one.dataset.task), one]));
  const taskOf = (number) => {
    const known = tasks.get(String(number));
    if (known) return known;
    const fresh = make('details', { className: 'task', open: true });
    fresh.dataset.task = String(number);
    fresh.append(make('summary'), make('ol'));
    place.append(fresh);
    tasks.set(String(number), fresh);
    return fresh;
  };

  return {
    /** The items stay the same elements: one that has the focus keeps it. */
    tell(check) {
      const next = check.tasks.find((task) => promisesOf(check, task).some(isToCome))?.number;
      for (const task of check.tasks) {
        const mine = promisesOf(check, task);
        const element = /** @type {HTMLDetailsElement} */ (taskOf(task.number));
        fillTask(element, task, { mine, check, isNext: task.number === next });
        const list = element.querySelector('ol');
        for (const promise of mine) {
          const item = itemOf(promise);
          fillItem(item, promise, check.isOver && !check.isIdle);
          if (item.parentElement !== list) list.append(item);
        }
      }
    },
    /** Opens one, with its story, and shuts the others. @param {string | undefined} id  @param {HTMLElement} story */
    open(id, story) {
      for (const [each, item] of items)
        item.querySelector('button')?.setAttribute('aria-expanded', String(each === id));
      const item = items.get(id ?? '');
      if (item && story.parentElement !== item) item.append(story);
    },
  };
}

const promisesOf = ({ promises }, task) => promises.filter(({ id }) => task.promises.includes(id));
const isToCome = ({ verdict }) => verdict !== 'held' && verdict !== 'passed';

/** A task that was not judged is one line: it held before, or it is to come. */
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
  if (element.dataset.isLeft === state) return; // a fold that a reader has opened stays
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

function fillItem(item, { verdict, sentence, got = '' }, isOver) {
  const [sign, word] = SIGNS[verdict];
  const isLeft = isOver && verdict === 'waiting';
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
