/**
 * The stage of a demo: the means by which its code starts programs, sends requests, and shows what they do.
 *
 * @typedef {{ label: string, count: number }[]} Votes  for each option of a question: its box on the slide, and the hands
 *
 * @typedef {object} Stage  what a demo works with
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions> & import('./watched-program.js').Names) => Promise<import('../observe/program.js').Program>} launch
 *   file: a path from the root; the program's ready() rejects in place of returning false
 * @property {import('../check/lab.js').Lab['copy']} copy  of a folder with a server.js, to deploy there
 * @property {Votes} votes  of the class on this demo's question; [] without any, and when it is recorded
 * @property {() => import('../measure/load.js').Load} load
 * @property {() => ReturnType<import('../check/lab.js').Lab['openLoop']>} openLoop
 * @property {(url: string, options?: object) => Promise<import('../observe/client.js').Answer>} ask  a request that is drawn
 * @property {(key: string, place: string, only: string[]) => Promise<import('../check/run-check.js').CheckResult>} judge
 *   runs a lesson's check on a folder; only: these promises, all if empty
 * @property {(text: string) => void} say  the sentence on the slide
 * @property {() => void} begin  starts the drawing, after preparations
 * @property {(measurement: object) => void} measured
 * @property {(chart: import('../verdict/terminal.js').Chart & { isOverTime?: boolean, most?: number }) => void} drawn
 *   isOverTime: sent repeatedly, it becomes a curve; most: the value of a full bar
 * @property {(act: () => void, everyMs: number) => () => void} repeat  until the demo ends; returns a function that stops it
 * @property {AbortSignal} signal  of the demo's end
 */
import { runCheck } from '../check/run-check.js';
import { having, isCount, isText, listOf } from '../common/shape.js';
import { get } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { Undecided } from '../verdict/outcome.js';
import { watchProgram } from './watched-program.js';

/** Votes as a page sends them. */
export const areVotes = listOf(having({ label: isText, count: isCount }));

/**
 * @param {object} showing
 * @param {string} showing.root
 * @param {import('../check/lab.js').Lab} showing.lab
 * @param {(message: object) => void} showing.send
 * @param {AbortSignal} showing.signal  of its end
 * @param {Votes} showing.votes
 * @param {import('./watched-program.js').Watched[]} showing.watched  grows with each launched program
 * @param {{ all: number, failed: number }} showing.asked  counts the requests of ask()
 * @returns {Stage}
 */
export function stageOf({ root, lab, send, signal, votes, watched, asked }) {
  return {
    votes,
    copy: lab.copy,
    load: lab.load,
    openLoop: lab.openLoop,
    launch: (file, options) => launch(file, options, { lab, watched }),
    judge(key, place, only) {
      const some = only.length > 0 ? only : undefined;
      const { runner } = lab;
      return runCheck({ root, key, subject: place, only: some, isQuick: true, runner, signal });
    },
    ask: (url, options) => ask(url, options, { send, asked }),
    signal,
    say: (text) => send({ say: text }),
    begin: () => send({ origin: nowMs() }),
    measured: (measurement) => send({ measurement }),
    drawn: ({ isOverTime, ...chart }) =>
      send({ chart: isOverTime ? { ...chart, t: nowMs() } : chart }),
    repeat: (act, everyMs) => repeat(act, everyMs, signal),
  };
}

async function launch(file, /** @type {any} */ { as, hosts, ...options } = {}, { lab, watched }) {
  const program = await lab.launch(file, options);
  const isReady = program.ready.bind(program);
  program.ready = async (listeners) => (await isReady(listeners)) || notReady(file, listeners);
  watched.push(watchProgram(program, { as, hosts }));
  return program;
}

/** @returns {never} */
function notReady(file, listeners) {
  throw new Undecided({
    got: `${file} was to have ${listeners} that listen, and has fewer.`,
    why: 'A program that has not come up shows nothing that is true.',
    try: 'run it again, or play the recording',
  });
}

async function ask(url, options, { send, asked }) {
  const id = Math.random().toString(36).slice(2, 8);
  send({ asked: { id, t: nowMs(), path: new URL(url).pathname } });
  const answer = await get(url, options);
  const { client, status, error, doneMs } = answer;
  asked.all += 1;
  if (error || Number(status) >= 400) asked.failed += 1;
  send({ answered: { id, t: doneMs, client, status, error } });
  return answer;
}

/** The signal stops it, because a stopped demo may never do so. */
function repeat(act, everyMs, /** @type {AbortSignal} */ signal) {
  const timer = setInterval(act, everyMs);
  const stop = () => clearInterval(timer);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop);
  return stop;
}
