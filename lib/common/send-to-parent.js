/** Does nothing if the parent has just exited, which 'disconnect' reports. @param {object} message */
export function sendToParent(message) {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}
