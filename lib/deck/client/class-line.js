/** The board of the class: to the speaker's window what it counts, from it the vote that is open; on the wall how far the class is. */
import { all, make } from '../../web/client/elements.js';

/**
 * @typedef {object} Told  in numbers alone; empty where there is no board
 * @property {number} [here]
 * @property {Record<string, { number: number, name: string, count: number }[]>} [tasks]  by the key of a lesson
 * @property {Record<string, (number | null)[]>} [votes]  by name, for each box: how many have tapped it
 */

/** @param {{ isStatic: boolean, onTold: (told: Told) => void }} options  onTold: told at first, and when it has changed */
export function connectBoard({ isStatic, onTold }) {
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
      const told = JSON.parse(data);
      hasBoard = told.here !== undefined;
      onTold(told);
      put();
    });
    addEventListener('pagehide', () => events.close());
  }
  return {
    /** @param {import('./vote.js').Vote | null} vote  that is open now  @param {string} title */
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

/**
 * On an exercise: how many of the class have its tasks.
 * @param {HTMLElement} slide
 * @param {string} lesson  its key
 * @param {Told} progress
 */
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

/**
 * "7 of 14 have task 1, 3 have task 2".
 * @param {Told} told
 * @param {string} lesson  its key
 * @param {number[]} numbers  of the tasks that the slide sets
 * @returns {string}  empty where nobody has joined, or the slide sets none
 */
function tasksInWords({ here = 0, tasks = {} }, lesson, numbers) {
  const all = tasks[lesson] ?? [];
  const set = new Set(numbers.flatMap((number) => all.find((one) => one.number >= number) ?? []));
  const counts = [...set].map(({ name, count }, index) =>
    index === 0 ? `${count} of ${here} have ${name}` : `${count} have ${name}`,
  );
  return here > 0 ? counts.join(', ') : '';
}
