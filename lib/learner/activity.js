/**
 * What the page has started beside the checks: an experiment, a change that is judged, a measurement. One at a time; of the
 * one before nothing is kept. It is told whole at every change, as a check is.
 *
 * @typedef {object} Doing  with what an activity tells of itself
 * @property {AbortSignal} signal  ends it
 * @property {(started: import('../check/programs.js').Started) => void} onProgram
 * @property {(decided: { promise: import('../verdict/outcome.js').PromiseRecord, programs?: number[] }) => void} onPromise
 *
 * @typedef {{ kind: string, lesson: string, [more: string]: unknown }} About  what is told of it from its begin on
 */
import { UsageError } from '../common/usage-error.js';
import { allVisible } from '../verdict/visible.js';
import { recordOf } from './check-records.js';
import { createRunningPrograms } from './running-programs.js';

const OURS = 'That went wrong, and it is a fault of Forkshop: see the terminal.';

/**
 * @param {() => void} onChange
 */
export function createActivity(onChange) {
  let id = 0;
  /** @type {any} */
  let now = null;
  const momentsIn = (/** @type {number} */ number) =>
    now.promises.flatMap(({ shows }) => (shows?.program === number ? shows.moments : []));
  let programs = createRunningPrograms(momentsIn);
  let stop = new AbortController();

  const change = (/** @type {object} */ more) => {
    now = { ...now, ...more };
    onChange();
  };

  return {
    told: () => now && { ...now, programs: programs.told() },
    /** The evidence that one program of it is; undefined when there is no such program any more. */
    evidence: (/** @type {number} */ of, /** @type {number} */ number) =>
      now && of === now.id ? programs.evidence(number) : undefined,
    isRunning: () => Boolean(now && !now.isOver),
    stop: () => stop.abort(),
    /**
     * Begins one and tells it to its end; never rejects.
     * @param {About} about
     * @param {(doing: Doing) => Promise<object>} act  resolves to what is told of its end
     * @param {AbortSignal} signal  ends it
     */
    async perform(about, act, signal) {
      id += 1;
      stop = new AbortController();
      const onAbort = () => stop.abort();
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort);
      programs = createRunningPrograms(momentsIn);
      now = { id, ...about, promises: [], isOver: false };
      onChange();
      /** @type {Doing} */
      const doing = {
        signal: stop.signal,
        onProgram: programs.add,
        onPromise: ({ promise, programs: started = [] }) =>
          change({ promises: [...now.promises, recordOf(promise, started.filter(programs.has))] }),
      };
      const end = await act(doing).catch((error) => (stop.signal.aborted ? {} : faultOf(error)));
      signal.removeEventListener('abort', onAbort);
      programs.settle();
      const isStopped = stop.signal.aborted;
      change({ ...(isStopped ? { fault: 'It was stopped.' } : allVisible(end)), isOver: true });
    },
  };
}

/** What is told of one that could not be done. @returns {{ fault: string }} */
function faultOf(/** @type {any} */ error) {
  const words = wordsOf(error);
  if (!words) console.error(error);
  return { fault: words ?? OURS };
}

/**
 * What a learner is told of an error: a mistake of theirs, or what the operating system refused.
 * @param {any} error
 * @returns {string | undefined}  undefined when it is a fault of ours
 */
export function wordsOf(error) {
  if (error instanceof UsageError) return [error.message, error.hint].filter(Boolean).join(' ');
  return /^E[A-Z0-9]+$/.test(error?.code) ? `It was refused: ${error.message}.` : undefined;
}
