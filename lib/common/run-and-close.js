/** Closes what a piece of work leaves open, for example after an error: load generators, traffic, commands. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** @type {AsyncLocalStorage<Set<() => void>>} what the current piece of work has to close */
const current = new AsyncLocalStorage();

/**
 * Does some work, then closes what it has left open. What other work in this process has opened stays open: a slide may judge a
 * program while another shows its demo.
 * @template T @param {() => Promise<T>} work @returns {Promise<T>}
 */
export async function runAndClose(work) {
  const open = new Set();
  try {
    return await current.run(open, work);
  } finally {
    for (const close of open) close();
  }
}

/** Has runAndClose() call `close` when the current work ends. @param {() => void} close @returns {() => void}  closes it now */
export function closeAtEnd(close) {
  const open = current.getStore();
  open?.add(close);
  return () => {
    open?.delete(close);
    close();
  };
}
