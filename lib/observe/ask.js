/** Requests seen from both ends: what the client got, and which process executed it, when. */
import { getAtOnce } from './client.js';
import { requestsOf } from './timeline.js';

const SEEN_WITHIN_MS = 1_000;

/**
 * Sends the same request several times at once and waits until the server's side of it is on record.
 * @param {import('./program.js').Program} program
 * @param {string} path
 * @param {number} times
 * @returns {Promise<{ answers: import('./client.js').Answer[], requests: import('./timeline.js').Request[] }>}
 */
export async function askAtOnce(program, path, times) {
  const first = program.events.length;
  const answers = await getAtOnce(times, program.url + path);
  const answered = answers.filter(({ error }) => !error).length;
  const seen = () => requestsOf(program.events.slice(first), path);
  await program.until(() => seen().filter(({ endMs }) => endMs).length >= answered, SEEN_WITHIN_MS);
  return { answers, requests: seen() };
}
