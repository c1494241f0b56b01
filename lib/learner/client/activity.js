/** What runs beside the checks, as the server tells it to every page: a line that says so, and lets one stop it. */
import { ask } from './ask-server.js';
import { make } from '../../web/client/elements.js';

const KINDS = {
  experiment: 'An experiment is running.',
  spot: 'A change to the solution is being judged.',
  solution: 'The solution is being measured.',
};

/** @param {HTMLElement} place  where the line is */
export function createActivity(place) {
  const words = make('span', {});
  const stop = stopButton();
  place.append(words, ' ', stop);
  /** @type {Set<(activity: any) => void>} */
  const waiting = new Set();
  let last;
  return {
    /** @param {any} activity  null: there was none */
    tell(activity) {
      last = activity;
      const isRunning = Boolean(activity && !activity.isOver);
      const text = isRunning ? KINDS[activity.kind] : '';
      if (words.textContent !== text) words.textContent = text;
      place.hidden = !isRunning;
      for (const hear of waiting) hear(activity);
    },
    /**
     * Starts one.
     * @param {string} path
     * @param {(activity: any) => void} hear  told what becomes of it; the last time it is over
     * @returns {Promise<string | undefined>}  why it was not started
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

/** Stops what runs. */
export function stopButton() {
  const button = make('button', { type: 'button', className: 'stop', textContent: 'Stop' });
  button.addEventListener('click', () => ask('/stop'));
  return button;
}
