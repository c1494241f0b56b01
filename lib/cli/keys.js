import { emitKeypressEvents } from 'node:readline';

/**
 * Ctrl-C and Ctrl-D act as q, because in raw mode the terminal sends no signal.
 * @param {any} stdin  undefined without a terminal @param {Record<string, () => unknown>} actions  by key
 * @returns {{ close(): void }}
 */
export function listenForKeys(stdin, actions) {
  if (!stdin) return { close() {} };
  const onKey = (
    /** @type {string} */ _,
    /** @type {{ name?: string, ctrl?: boolean }} */ { name = '', ctrl },
  ) => {
    if (ctrl) name = ['c', 'd'].includes(name) ? 'q' : '';
    if (Object.hasOwn(actions, name)) actions[name]();
  };
  const readKeys = () => {
    stdin.setRawMode(false); // setRawMode(true) alone is a no-op if stdin believes that raw mode is still on
    stdin.setRawMode(true);
  };
  emitKeypressEvents(stdin);
  readKeys();
  stdin.resume();
  stdin.on('keypress', onKey);
  process.on('SIGCONT', readKeys); // after Ctrl-Z and fg the shell has reset the terminal's mode
  return {
    close() {
      process.off('SIGCONT', readKeys);
      stdin.off('keypress', onKey);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
