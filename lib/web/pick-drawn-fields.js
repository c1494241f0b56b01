/** Reduces events to the fields that an X-ray draws. */

/** An event loop without a beat for this long is blocked; it beats every 20 ms. */
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
 * Keeps recordings small.
 * @param {import('../observe/timeline.js').Event} event @param {string} [as]  the name of its program's lanes
 */
export function pickDrawnFields(event, as) {
  const known = FIELDS.filter((name) => event[name] !== undefined).map((name) => [
    name,
    event[name],
  ]);
  const name = event.what === 'start' && as ? { as } : {};
  return { t: Math.round(event.t * 10) / 10, ...Object.fromEntries(known), ...name };
}
