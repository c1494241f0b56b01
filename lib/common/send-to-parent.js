/**
 * Sends a message to the parent process. If the parent has just exited, nothing happens; 'disconnect' reports that.
 * @param {object} message
 */
export function sendToParent(message) {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}
