/** The activity beside the checks, which every page shows: a line that says what runs, with a button that stops it. */
import { ask } from './ask-server.js';
import { make } from '../../web/client/elements.js';

const KINDS = {
  experiment: 'An experiment is running.',
  spot: 'A change to the solution is being judged.',
  solution: 'The solution is being measured.',
};

/** @param {HTMLElement} place  for the line */
export function createActivity(place) {
  const words = make('span', {});
  const stop = stopButton();
  place.append(words, ' ', stop);
  const waiting = new Set();
  let last;
  return {
    /** @param {any} activity  null before the first one */
    update(activity) {
      last = activity;
      const isRunning = Boolean(activity && !activity.isOver);
      const text = isRunning ? KINDS[activity.kind] : '';
      if (words.textContent !== text) words.textContent = text;
      place.hidden = !isRunning;
      for (const hear of waiting) hear(activity);
    },
    /**
     * @param {string} path @param {(activity: any) => void} hear  gets its every change; the last time `isOver` is true
     * @returns {Promise<string | undefined>}  why it didn't start
     */
    async start(path, hear) {
      const before = last?.id ?? 0;
      const mine = (activity) => {
        if (!activity || activity.id === before) return;
        hear(activity);
        if (activity.isOver) waiting.delete(mine);
      };
      waiting.add(mine);
      const { fault } = await ask(path);
      if (fault) waiting.delete(mine);
      return fault;
    },
  };
}

/** @typedef {ReturnType<typeof createActivity>} Activity */

function stopButton() {
  const button = make('button', { type: 'button', className: 'stop', textContent: 'Stop' });
  button.addEventListener('click', () => ask('/stop'));
  return button;
}

/**
 * A line with the button that starts an activity, and the button that stops it while it runs.
 * @param {HTMLButtonElement} start
 */
export function startAndStop(start) {
  const stop = stopButton();
  stop.hidden = true;
  const line = make('p', {});
  line.append(start, ' ', stop);
  const setRunning = (/** @type {boolean} */ isRunning) => {
    stop.hidden = !isRunning;
    start.hidden = isRunning;
  };
  return { line, setRunning };
}
