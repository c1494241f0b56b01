/**
 * An episode: a check acts on a program and records the events until a condition holds or the program is at rest.
 * @typedef {{ how: string, acted: any, isDone: boolean, isAtRest: boolean, fromMs: number, first: number, last: number,
 *   events: Event[], exits: Event[], forks: Event[], printed: string, fate: import('../observe/program.js').Fate | undefined }} Episode
 *   how: such as "SIGKILL of two at once"; acted: the act's result, mostly the victims' pids; isAtRest: nothing more will happen;
 *   first, last: indexes of its events, last excluded; exits, forks: of workers; printed: in that time
 */
import { nowMs } from '../observe/clock.js';
import { exitsOf, forksOf, haveTurned, requestsOf } from '../observe/timeline.js';
import { get } from '../observe/client.js';
import { forkedAfter } from './cluster.js';
import { isAtRest, untilAtRest } from './at-rest.js';

/** @typedef {import('../observe/program.js').Program} Program @typedef {import('../observe/timeline.js').Event} Event */

const DEADLINE_MS = 10_000;
const LEFT_MS = 3_000; // a worker whose channel has closed exits within milliseconds
const LEFT_TURNS = 50; // of its event loop, a second: long enough to notice

/**
 * Acts on a program and waits until `isDone`, or the program is at rest.
 * @param {Program} program @param {string} how  in words @param {() => any} act
 * @param {(since: Event[], acted: any) => unknown} [isDone] @param {Parameters<typeof untilAtRest>[2]} [options]
 * @returns {Promise<Episode>}
 */
export async function episode(program, how, act, isDone = () => false, options) {
  const first = program.events.length;
  const before = program.output();
  const fromMs = nowMs();
  const acted = await act();
  const done = await untilAtRest(program, (events) => isDone(events.slice(first), acted), options);
  const events = program.events.slice(first);
  const output = program.output();
  return {
    ...{ how, acted, isDone: done, isAtRest: isAtRest(program, { sinceMs: fromMs, ...options }) },
    ...{ fromMs, first, last: first + events.length, events },
    exits: exitsOf(events),
    forks: forksOf(events),
    printed: output.startsWith(before) ? output.slice(before.length) : output,
    fate: program.fate,
  };
}

/**
 * Sends the same request several times and waits until the program has begun all of them.
 * @param {Program} program @param {string} path @param {number} times @param {Parameters<typeof get>[1]} [options]
 * @returns {Promise<{ first: number, areBegun: boolean, answers: Promise<import('../observe/client.js').Answer[]>,
 *   begun: () => import('../observe/timeline.js').Request[] }>}
 */
export async function startRequests(program, path, times, options = {}) {
  const first = program.events.length;
  const ask = () => get(program.url + path, { timeoutMs: 2 * DEADLINE_MS, ...options });
  const answers = Promise.all(Array.from({ length: times }, ask));
  const begun = () => requestsOf(program.events.slice(first), path);
  await program.until(() => begun().length >= times, DEADLINE_MS);
  return { first, areBegun: begun().length >= times, answers, begun };
}

/**
 * Stops a program while requests are in flight, and waits until it has exited or is at rest.
 * @param {Program} program @param {'Ctrl-C' | 'SIGTERM'} how
 * @param {{ path: string, times: number, afterSignal?: (signalMs: number) => Promise<any> } & Parameters<typeof untilAtRest>[2]} inFlight
 * @returns {Promise<Episode & { program: Program, signalMs: number, answers: import('../observe/client.js').Answer[],
 *   lost: import('../observe/client.js').Answer[], forksAfter: Event[], left: number[], haveStayed: boolean, output: string }>}
 *   lost: answers other than 200 to requests that the program had begun; left, haveStayed: see outliving()
 */
export async function stopUnderLoad(program, how, { path, times, afterSignal, ...options }) {
  const asked = await startRequests(program, path, times);
  const signalMs = nowMs();
  const end = await episode(
    program,
    how,
    async () => {
      program.askToStop(how);
      await afterSignal?.(signalMs);
    },
    () => program.fate,
    options,
  );
  const outlived = end.fate ? await outliving(program) : { left: [], haveStayed: false };
  const output = program.output();
  if (!end.fate) await program.stop(); // otherwise its clients wait until they time out
  const answers = await asked.answers;
  const begun = new Set(asked.begun().map(({ client }) => client ?? undefined));
  const isBegun = ({ client }) => asked.areBegun || begun.has(client); // behind a proxy a server sees other ports
  const lost = answers.filter((answer) => isBegun(answer) && answer.status !== 200);
  const forksAfter = forkedAfter(program, signalMs);
  return { ...end, program, signalMs, answers, lost, forksAfter, ...outlived, output };
}

/**
 * The processes that outlive the first one, three seconds after its exit.
 * @param {Program} program
 * @returns {Promise<{ left: number[], haveStayed: boolean }>}  haveStayed: their event loops have turned since, so none is only late
 */
export async function outliving(program) {
  const sinceMs = nowMs();
  const left = await program.survivorsAfter(LEFT_MS);
  return { left, haveStayed: haveTurned(program.events, left, LEFT_TURNS, sinceMs) };
}

/**
 * Repeats an act until its result is good enough, or `times` times. @returns {Promise<T>}  the last result
 * @template T @param {number} times @param {(attempt: number) => Promise<T>} act @param {(seen: T) => unknown} isEnough
 */
export async function repeatUntil(times, act, isEnough) {
  for (let attempt = 1; ; attempt += 1) {
    const seen = await act(attempt);
    if (attempt >= times || isEnough(seen)) return seen;
  }
}
