/** Questions that a person, or a pipe, answers. */
import { createInterface } from 'node:readline/promises';
import { hasCode } from '../common/files.js';

/** @typedef {import('./progress.js').Io} Io */

/** Instead of an answer: Ctrl-C, Ctrl-D, or the end of what was piped. */
export const NO_ANSWER = undefined;

/** @type {WeakMap<object, AsyncIterator<string>>} the lines of a pipe, which one reader reads for all questions */
const pipes = new WeakMap();

/**
 * Asks a question.
 *
 * @param {Io} io
 * @param {string} question  with what follows it, such as ": "
 * @param {AbortSignal} [signal]  after it there is no answer
 * @returns {Promise<string | undefined>}  the answer without blanks around it, or LEFT
 */
export async function ask(io, question, signal) {
  const answer = await (io.stdin.isTTY ? askPerson(io, question, signal) : readPipe(io, question));
  if (answer === NO_ANSWER) io.stdout.write('\n');
  return answer?.trim();
}

/** @returns {Promise<string | undefined>} */
async function askPerson(/** @type {Io} */ io, /** @type {string} */ question, signal) {
  const prompt = createInterface({ input: io.stdin, output: io.stdout });
  const left = new Promise((done) => prompt.once('close', () => setImmediate(done, NO_ANSWER))); // after a last line
  const answer = await Promise.race([prompt.question(question, { signal }).catch(leftOr), left]);
  prompt.close();
  return answer;
}

/** Some versions of Node reject the question, some never answer it. */
function leftOr(/** @type {any} */ error) {
  if (hasCode(error, 'ABORT_ERR')) return NO_ANSWER;
  throw error;
}

/** @returns {Promise<string | undefined>} */
async function readPipe(/** @type {Io} */ { stdin, stdout }, /** @type {string} */ question) {
  const lines = pipes.get(stdin) ?? createInterface({ input: stdin })[Symbol.asyncIterator]();
  pipes.set(stdin, lines);
  stdout.write(question);
  const { value, done } = await lines.next();
  if (done) return NO_ANSWER;
  stdout.write(`${value}\n`); // a terminal would show it
  return value;
}
