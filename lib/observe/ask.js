/** Requests seen from both ends: what the client got, and which process executed it, when. */
import { get, getAtOnce, isReset } from './client.js';
import { nowMs } from './clock.js';
import { requestsOf } from './timeline.js';

const SEEN_WITHIN_MS = 1_000;

/**
 * Sends a request. If the server has closed the kept connection before, and no process has begun the request, it is sent once
 * more, on a new one, as browsers do.
 * @param {import('./program.js').Program} program
 * @param {string} path
 * @param {Parameters<typeof get>[1]} [options]
 * @returns {Promise<import('./client.js').Answer & { isRepeated: boolean }>}  rejects with Starved when no answer came in
 *   time, and the program had not had its turn
 */
export async function askOnce(program, path, options) {
  const ask = () => get(program.url + path, options);
  program.turn.starvedSince(nowMs()); // what it was kept from running before does not count
  const first = await ask();
  const isRepeated = wasClosedBefore(program, first);
  const answer = isRepeated ? await ask() : first;
  demandTurn(program, answer);
  return { ...answer, isRepeated };
}

/**
 * Had the server closed the kept connection before it began this request?
 * @param {import('./program.js').Program} program
 * @param {Partial<import('./client.js').Answer>} answer
 */
export function wasClosedBefore(program, answer) {
  const { client, sentMs = 0 } = answer;
  const isIt = (/** @type {import('./timeline.js').Request} */ one) =>
    one.client === client && one.startMs >= sentMs;
  return isReset(answer) && !requestsOf(program.events).some(isIt);
}

/**
 * Sends the same request several times at once and waits until the server's side of it is on record.
 * @param {import('./program.js').Program} program
 * @param {string} path
 * @param {number} times
 * @returns {Promise<{ answers: import('./client.js').Answer[], requests: import('./timeline.js').Request[] }>}  rejects with
 *   Starved when one got no answer in time, and the program had not had its turn
 */
export function askAtOnce(program, path, times) {
  const asked = askAll(program, path, times);
  asked.catch(() => {}); // the one who awaits it is told, perhaps later
  return asked;
}

async function askAll(program, path, times) {
  const first = program.events.length;
  program.turn.starvedSince(nowMs());
  const answers = await getAtOnce(times, program.url + path);
  for (const answer of answers) demandTurn(program, answer);
  const answered = answers.filter(({ error }) => !error).length;
  const seen = () => requestsOf(program.events.slice(first), path);
  await program.until(() => seen().filter(({ endMs }) => endMs).length >= answered, SEEN_WITHIN_MS);
  return { answers, requests: seen() };
}

/**
 * What the server saw of an answer. The port of its client may be used again by a later connection, which another process
 * serves: so it is the last request of this port that had begun when the answer was there.
 * @param {import('./timeline.js').Request[]} requests  in order of their start
 * @param {Pick<import('./client.js').Answer, 'client' | 'doneMs'>} answer
 * @returns {import('./timeline.js').Request | undefined}
 */
export const requestOf = (requests, { client, doneMs }) =>
  requests.findLast((one) => one.client === client && one.startMs <= doneMs);

/**
 * What did not come in time may still come, if the program was kept from running. To be asked as soon as nobody waits any longer.
 * @param {import('./program.js').Program} program
 * @param {import('./client.js').Answer} answer
 * @returns {import('./turn.js').Starved | undefined}  if so
 */
export const starvedOf = ({ turn }, { sentMs, limitMs }) =>
  limitMs === undefined ? undefined : turn.starvedIn(sentMs, limitMs);

function demandTurn(program, answer) {
  const starved = starvedOf(program, answer);
  if (starved) throw starved;
}
