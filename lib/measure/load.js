/**
 * Closed-loop load for a server on this machine, from its own process.
 * @typedef {{ sentMs: number, doneMs: number, status: number, bytes: number }} Answer  times of observe/clock.js
 * @typedef {{ startMs: number, endMs: number, answers: Answer[], errors: number, timeouts: number }} Window  answers: in the order
 *   of completion; errors: connections refused or broken
 * @typedef {{ url: string, connections: number, durationMs: number, ratePerSecond?: number, isFresh?: boolean, method?: string,
 *   headers?: Record<string, string>, body?: string, timeoutMs?: number }} LoadOptions  url: on 127.0.0.0/8; ratePerSecond: at most;
 *   isFresh: a new connection for each request; timeoutMs: longer than the window, because a starved connection is slow, not broken
 * @typedef {{ fire: (options: LoadOptions) => Promise<Window>, close: () => void }} Load  fire never rejects because of the server
 */
import { createSender } from './generator.js';

/** @returns {Load} */
export function createLoad() {
  const { fire, close } = createSender('load-process.js');
  return {
    fire: ({ isFresh = false, timeoutMs = 30_000, ...options }) =>
      fire({ isFresh, timeoutMs, ...options }),
    close,
  };
}
