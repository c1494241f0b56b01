/**
 * What the page has started beside the checks: an experiment, a change to judge, a measurement. One runs at a time, and only
 * the last one is kept; every change sends all of it, as for a check.
 *
 * @typedef {object} Doing  what an activity gets
 * @property {AbortSignal} signal  ends it
 * @property {(started: import('../check/programs.js').Started) => void} onProgram
 * @property {(decided: { promise: import('../verdict/outcome.js').PromiseRecord, programs?: number[] }) => void} onPromise
 * @typedef {(doing: Doing) => Promise<object>} Act  resolves to what the page shows of its end
 *
 * @typedef {{ kind: string, lesson: string, [more: string]: unknown }} About  what the page shows of it from its start on
 */
import { UsageError } from '../common/usage-error.js';
import { allVisible } from '../verdict/visible.js';
import { promiseView } from './check-records.js';
import { createRunningPrograms } from './running-programs.js';

const OURS = 'That went wrong, and it is a fault of Forkshop: see the terminal.';

/** @param {() => void} onChange */
export function createActivity(onChange) {
  let id = 0;
  /** @type {any} */
  let now = null;
  const promises = () => now.promises;
  let programs = createRunningPrograms(promises);
  let stop = new AbortController();

  const change = (/** @type {object} */ more) => {
    now = { ...now, ...more };
    onChange();
  };
  const onPromise = (/** @type {Parameters<Doing['onPromise']>[0]} */ decided) => {
    const { promise, programs: started = [] } = decided;
    change({ promises: [...now.promises, promiseView(promise, started.filter(programs.has))] });
  };

  return {
    snapshot: () => now && { ...now, programs: programs.list() },
    evidence: (/** @type {number} */ of, /** @type {number} */ number) =>
      now && of === now.id ? programs.evidence(number) : undefined,
    isRunning: () => Boolean(now && !now.isOver),
    stop: () => stop.abort(),
    /** Performs an activity until its end, or the signal; never rejects. @param {About} about @param {Act} act @param {AbortSignal} signal */
    async perform(about, act, signal) {
      id += 1;
      stop = new AbortController();
      const ended = AbortSignal.any([signal, stop.signal]);
      programs = createRunningPrograms(promises);
      now = { id, ...about, promises: [], isOver: false };
      onChange();
      const doing = { signal: ended, onProgram: programs.add, onPromise };
      const end = await act(doing).catch((error) => (ended.aborted ? {} : faultOf(error)));
      programs.settle();
      const shown = ended.aborted ? { fault: 'It was stopped.' } : allVisible(end);
      change({ ...shown, isOver: true });
    },
  };
}

function faultOf(/** @type {any} */ error) {
  const words = errorInWords(error);
  if (!words) console.error(error);
  return { fault: words ?? OURS };
}

/**
 * An error in words for the learner, if it is a mistake of theirs or the operating system refused something.
 * @param {any} error @returns {string | undefined}  undefined for a fault of ours
 */
export function errorInWords(error) {
  if (error instanceof UsageError) return [error.message, error.hint].filter(Boolean).join(' ');
  return /^E[A-Z0-9]+$/.test(error?.code) ? `It was refused: ${error.message}.` : undefined;
}
