/** The class's board: reports its counts to the speaker's window, which opens votes on it, and the class's progress to the wall. */
import { all, make } from '../../web/client/elements.js';

/**
 * @typedef {object} BoardCounts  empty without a board
 * @property {number} [here]  learners
 * @property {Record<string, { number: number, name: string, count: number }[]>} [tasks]  by the key of a lesson
 * @property {Record<string, (number | null)[]>} [votes]  by the name of a vote: the taps on each box
 */

/** @param {{ isStatic: boolean, onCounts: (counts: BoardCounts) => void }} options  onCounts: called at first and at each change */
export function connectBoard({ isStatic, onCounts }) {
  const token = document.querySelector('meta[name=token]')?.getAttribute('content') ?? '';
  let hasBoard = false;
  let wanted = 'null';
  let said = '';
  const put = () => {
    if (!hasBoard || said === wanted) return;
    said = wanted;
    const headers = { 'x-forkshop-token': token, 'content-type': 'application/json' };
    const body = wanted === 'null' ? '{}' : wanted;
    fetch('/vote', { method: 'PUT', headers, body }).catch(() => (said = ''));
  };
  if (!isStatic) {
    const events = new EventSource('/class');
    events.addEventListener('message', ({ data }) => {
      const counts = JSON.parse(data);
      hasBoard = counts.here !== undefined;
      onCounts(counts);
      put();
    });
    addEventListener('pagehide', () => events.close());
  }
  return {
    /** Opens a vote in place of the last; null: none. @param {import('./vote.js').Vote | null} vote @param {string} title */
    open(vote, title) {
      const questions = vote?.questions.filter(({ isShown }) => isShown) ?? [];
      const asked = questions.map(({ asks, options }) => ({ asks, options }));
      wanted = JSON.stringify(
        asked.length > 0 ? { name: vote?.name, title, questions: asked } : null,
      );
      put();
    },
  };
}

/** On an exercise. @param {HTMLElement} slide @param {string} lesson  its key @param {BoardCounts} progress */
export function showProgress(slide, lesson, progress) {
  const lists = all('.slide.turn ol', slide);
  const numbers = lists.flatMap((list) =>
    [...list.children].map((_, index) => Number(list.getAttribute('start') ?? 1) + index),
  );
  const words = tasksInWords(progress, lesson, numbers);
  const line = slide.querySelector('.have') ?? make('p', { className: 'have' });
  if (line.textContent !== words) line.textContent = words;
  if (words) slide.append(line);
  else line.remove();
}

/** "7 of 14 have task 1, 3 have task 2"; '' if no learner has joined. */
function tasksInWords(/** @type {BoardCounts} */ { here = 0, tasks = {} }, lesson, numbers) {
  const all = tasks[lesson] ?? [];
  const set = new Set(numbers.flatMap((number) => all.find((one) => one.number >= number) ?? []));
  const counts = [...set].map(({ name, count }, index) =>
    index === 0 ? `${count} of ${here} have ${name}` : `${count} have ${name}`,
  );
  return here > 0 ? counts.join(', ') : '';
}
