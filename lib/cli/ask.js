/** Asks questions at a terminal, or reads the answers from a pipe. */
import { createInterface } from 'node:readline/promises';
import { hasCode } from '../common/files.js';

/** @typedef {import('./saved/progress.js').Io} Io */

/** After Ctrl-C, Ctrl-D, or the end of a pipe. */
export const NO_ANSWER = undefined;

/** @type {WeakMap<object, AsyncIterator<string>>} one reader for each pipe, because a second one would lose buffered lines */
const pipes = new WeakMap();

/**
 * @param {Io} io @param {string} question @param {AbortSignal} [signal]  ends it with NO_ANSWER
 * @returns {Promise<string | undefined>}  the trimmed answer, or NO_ANSWER
 */
export async function ask(io, question, signal) {
  const answer = await (io.stdin.isTTY ? askPerson(io, question, signal) : readPipe(io, question));
  if (answer === NO_ANSWER) io.stdout.write('\n');
  return answer?.trim();
}

async function askPerson(/** @type {Io} */ io, /** @type {string} */ question, signal) {
  const prompt = createInterface({ input: io.stdin, output: io.stdout });
  const left = new Promise((done) => prompt.once('close', () => setImmediate(done, NO_ANSWER))); // a last line may still arrive
  const answer = await Promise.race([prompt.question(question, { signal }).catch(leftOr), left]);
  prompt.close();
  return answer;
}

/** Some versions of Node.js reject an aborted question, others never settle it. */
function leftOr(/** @type {any} */ error) {
  if (hasCode(error, 'ABORT_ERR')) return NO_ANSWER;
  throw error;
}

async function readPipe(/** @type {Io} */ { stdin, stdout }, /** @type {string} */ question) {
  const lines = pipes.get(stdin) ?? createInterface({ input: stdin })[Symbol.asyncIterator]();
  pipes.set(stdin, lines);
  stdout.write(question);
  const { value, done } = await lines.next();
  if (done) return NO_ANSWER;
  stdout.write(`${value}\n`); // a terminal echoes what is typed, a pipe doesn't
  return value;
}
