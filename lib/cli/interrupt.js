/** What SIGINT (Ctrl-C) and SIGTERM do to a command. */

const SIGNALS = ['SIGINT', 'SIGTERM'];

/**
 * @template T @param {(signal: AbortSignal) => Promise<T>} work  the first SIGINT or SIGTERM aborts its signal
 * @returns {Promise<T>}
 */
export async function interruptible(work) {
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  for (const name of SIGNALS) process.once(name, onSignal);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}

/** Resolves at the first SIGINT or SIGTERM. @returns {Promise<void>} */
export const interrupted = () =>
  new Promise((resolve) => {
    for (const name of SIGNALS) process.once(name, () => resolve());
  });
