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
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('keypress', onKey);
  return {
    close() {
      stdin.off('keypress', onKey);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
