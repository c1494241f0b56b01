/** A crash loop: workers exit before they listen, and the primary replaces each at once. Pure. */
const ENDS_IN_A_ROW = 5;
const BACK_OFF_MS = 50; // a shorter pause doesn't count

/** @param {import('../../observe/timeline.js').Event[]} events @param {number} zeroMs @returns {import('./findings.js').Finding[]} */
export function crashLoops(events, zeroMs) {
  const ends = events.filter(
    ({ what, code, signal }) => what === 'worker-exit' && (code || signal),
  );
  if (ends.length < ENDS_IN_A_ROW || events.some(({ what }) => what === 'worker-listening'))
    return [];
  const pauses = ends.flatMap(({ t, pid }) => {
    const next = events.find((one) => one.what === 'fork' && one.pid === pid && one.t >= t);
    return next ? [next.t - t] : [];
  });
  const quick = pauses.filter((ms) => ms < BACK_OFF_MS);
  if (quick.length < ENDS_IN_A_ROW) return [];
  const crash = events.find(({ what }) => what === 'crash');
  return [
    {
      id: 'crash-loop',
      weight: 100,
      says: `Its workers exited before they listened, and ${quick.length} were replaced at once, without a pause.`,
      evidence: [
        `${ends.length} workers exited, the first at ${((ends[0].t - zeroMs) / 1000).toFixed(2)} s`,
        ...(crash ? [`pid ${crash.pid}: ${crash.error.split('\n')[0]}`] : []),
      ],
      see: [5, 'crash-loop'],
    },
  ];
}
