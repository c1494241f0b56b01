/**
 * Open-loop load: a process sends requests on schedule, so that a slow server can't slow the load down and its silence shows in the
 * numbers. With isClosed, clients take turns as in load.js, but the result includes those that still wait at the end.
 * @typedef {{ dueMs: number, sentMs: number, doneMs: number, status: number | undefined, error: string | undefined, isStream?: true,
 *   visitor?: number }} Sent  times of observe/clock.js; dueMs: when it was to be sent, where latency begins; status: undefined
 *   without a whole answer; error: a code such as ECONNRESET, or 'timeout'; isStream: an endless answer, such as an event stream, that
 *   our client has ended (doneMs: when it began); visitor: the client of a closed loop
 * @typedef {{ url: string, durationMs: number, ratePerSecond?: number, isClosed?: boolean, isFresh?: boolean, timeoutMs?: number,
 *   connections?: number, method?: string, headers?: Record<string, string>, body?: string, isRandom?: boolean }} OpenLoopOptions
 *   url: on 127.0.0.0/8; ratePerSecond: of an open loop; isClosed: one client for each connection; isFresh: a new connection for each
 *   request (the default); connections: at most, a due request waits for a free one; isRandom: at random moments, not evenly spaced
 * @typedef {{ startMs: number, endMs: number, answers: Sent[] }} OpenWindow  answers: in the order in which they were due
 */
import { createSender } from './generator.js';

/** @returns {{ fire: (options: OpenLoopOptions) => Promise<OpenWindow>, close: () => void }} */
export function createOpenLoop() {
  const { fire, close } = createSender('open-loop-process.js');
  return {
    fire: ({ isFresh = true, timeoutMs = 5_000, ...options }) =>
      fire({ isFresh, timeoutMs, ...options }),
    close,
  };
}
