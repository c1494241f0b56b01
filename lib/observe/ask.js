/** Requests seen from both ends: the client's answer, and which process executed it, when. */
import { Agent } from 'node:http';
import { get, getAtOnce, isReset } from './client.js';
import { nowMs } from './clock.js';
import { requestsOf } from './timeline.js';

const SEEN_WITHIN_MS = 1_000;

/**
 * Sends a request, as browsers do: again, on a new connection, if the server closed the kept one before any process began the request.
 * @param {import('./program.js').Program} program @param {string} path @param {Parameters<typeof get>[1]} [options]
 * @returns {Promise<import('./client.js').Answer & { isRepeated: boolean }>}  rejects with Starved if no answer arrived in time and the
 *   program got too little CPU time
 */
export async function askOnce(program, path, options) {
  const ask = () => get(program.url + path, options);
  program.cpuTime.starvedSince(nowMs()); // earlier starvation doesn't count
  const first = await ask();
  const isRepeated = wasClosedBefore(program, first);
  const answer = isRepeated ? await ask() : first;
  demandTurn(program, answer);
  return { ...answer, isRepeated };
}

/**
 * A client that has its answer and keeps its connection, without another word. @param {{ url: string }} program
 * @param {string} [path] @param {number} [timeoutMs] @returns {Promise<Agent>}  destroy it in the end
 */
export async function keepIdle({ url }, path = '/', timeoutMs) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await get(url + path, { agent, timeoutMs });
  return agent;
}

function wasClosedBefore(program, answer) {
  const { client, sentMs = 0 } = answer;
  const isIt = (/** @type {import('./timeline.js').Request} */ one) =>
    one.client === client && one.startMs >= sentMs;
  return isReset(answer) && !requestsOf(program.events).some(isIt);
}

/**
 * Sends the same request several times at once and waits until the server's side is on record.
 * @param {import('./program.js').Program} program @param {string} path @param {number} times
 * @returns {Promise<{ answers: import('./client.js').Answer[], requests: import('./timeline.js').Request[] }>}  rejects as askOnce() does
 */
export function askAtOnce(program, path, times) {
  const asked = askAll(program, path, times);
  asked.catch(() => {}); // the caller may await it later
  return asked;
}

async function askAll(program, path, times) {
  const first = program.events.length;
  program.cpuTime.starvedSince(nowMs());
  const answers = await getAtOnce(times, program.url + path);
  for (const answer of answers) demandTurn(program, answer);
  const answered = answers.filter(({ error }) => !error).length;
  const seen = () => requestsOf(program.events.slice(first), path);
  await program.until(() => seen().filter(({ endMs }) => endMs).length >= answered, SEEN_WITHIN_MS);
  return { answers, requests: seen() };
}

/**
 * The server's record of an answer: the last request from the client's port before it. A later connection may reuse that port.
 * @param {import('./timeline.js').Request[]} requests  in order of their start
 * @param {Pick<import('./client.js').Answer, 'client' | 'doneMs'>} answer @returns {import('./timeline.js').Request | undefined}
 */
export const requestOf = (requests, { client, doneMs }) =>
  requests.findLast((one) => one.client === client && one.startMs <= doneMs);

/**
 * Call it right after the client's timeout. @returns {import('./cpu-time.js').Starved | undefined}  a reason why no answer arrived
 * @param {import('./program.js').Program} program @param {import('./client.js').Answer} answer
 */
const starvedOf = ({ cpuTime }, { sentMs, limitMs }) =>
  limitMs === undefined ? undefined : cpuTime.starvedIn(sentMs, limitMs);

function demandTurn(program, answer) {
  const starved = starvedOf(program, answer);
  if (starved) throw starved;
}
