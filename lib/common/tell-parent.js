/**
 * Sends a message to the process that forked this one. It may be gone before it has heard, and that is no error here:
 * 'disconnect' says so.
 * @param {object} message
 */
export function tellParent(message) {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}
