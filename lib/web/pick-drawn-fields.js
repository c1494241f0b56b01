/** What of a timeline goes to a page, to be drawn as an X-ray. */

/** An event loop that has not turned for so long is blocked; beats come every 20 ms. */
export const SILENT_MS = 80;

const FIELDS = [
  'pid',
  'tid',
  'what',
  'ppid',
  'role',
  'worker',
  'workerPid',
  'port',
  'how',
  'client',
  'code',
  'signal',
];

/**
 * Of an event what is drawn; recordings are kept small.
 * @param {import('../observe/timeline.js').Event} event
 * @param {string} [as]  how the lanes of its program are called
 */
export function pickDrawnFields(event, as) {
  const told = FIELDS.filter((name) => event[name] !== undefined).map((name) => [
    name,
    event[name],
  ]);
  const name = event.what === 'start' && as ? { as } : {};
  return { t: Math.round(event.t * 10) / 10, ...Object.fromEntries(told), ...name };
}
