import { emitKeypressEvents } from 'node:readline';

/**
 * Calls an action when its key is pressed. Ctrl-C and Ctrl-D do what q does: in raw mode the terminal sends no signal.
 *
 * @param {any} stdin  a terminal; undefined where there is none, and then nothing is listened to
 * @param {Record<string, () => unknown>} actions  by key
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
    stdin.setRawMode(false); // else it believes that nothing has changed
    stdin.setRawMode(true);
  };
  emitKeypressEvents(stdin);
  readKeys();
  stdin.resume();
  stdin.on('keypress', onKey);
  process.on('SIGCONT', readKeys); // a shell that had stopped us has the terminal in its own mode
  return {
    close() {
      process.off('SIGCONT', readKeys);
      stdin.off('keypress', onKey);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
