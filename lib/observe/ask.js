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
  const { length } = program.events;
  const ask = () => get(program.url + path, options);
  program.turn.starvedSince(nowMs()); // what it was kept from running before does not count
  const first = await ask();
  const isSeen = () =>
    requestsOf(program.events.slice(length)).some(({ client }) => client === first.client);
  const isRepeated = isReset(first) && !isSeen();
  const answer = isRepeated ? await ask() : first;
  demandTurn(program, answer);
  return { ...answer, isRepeated };
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

/** An answer that did not come in time may still come, if the program was kept from running. */
function demandTurn({ turn }, { sentMs, limitMs }) {
  if (limitMs !== undefined) turn.demand(sentMs, limitMs);
}
