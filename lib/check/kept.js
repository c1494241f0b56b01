/** Connections that clients keep. A server may close an idle one, and does if on a busy machine the next request comes late. */
import { wasClosedBefore } from '../observe/ask.js';
import { nowMs } from '../observe/clock.js';
import { Undecided } from '../verdict/outcome.js';

const KEPT_OPEN_MS = 4_000; // a server may close a connection on which nothing has come for longer, Node's after 5 s

/**
 * May a connection be closed because nothing came on it?
 * @param {number} sinceMs  when the last request was sent
 * @param {number} [untilMs]  when the next was answered, or not
 */
export const mayBeClosed = (sinceMs, untilMs = nowMs()) => untilMs - sinceMs > KEPT_OPEN_MS;

/**
 * For requests over kept connections that can't be sent again.
 * @param {import('../observe/program.js').Program} program
 * @param {Partial<import('../observe/client.js').Answer>[]} answers
 * @throws {Undecided}  the server had closed a connection before the request came
 */
export function demandKept(program, answers) {
  if (answers.some((answer) => wasClosedBefore(program, answer))) throw closedMeanwhile();
}

/** Nothing can be told from a request over a connection that was closed. */
export const closedMeanwhile = () =>
  new Undecided({
    got: 'A connection was not used for a few seconds, and then a request on it failed.',
    why: 'The server may have closed it meanwhile: other programs keep this machine busy.',
    try: 'close other programs, then check again',
  });
