/**
 * Counts a lesson's promises, including any that were not judged this time.
 * @typedef {{ held: number, failed: number, undecided: number, toCome: number }} Counts  held: this time or before
 * @typedef {{ heldBefore: string[], counts: Counts }} Tally  heldBefore: not judged this time
 */

/**
 * @param {{ promises: { id: string, verdict: import('./outcome.js').Verdict }[], tasks: { promises: string[] }[] }} result
 * @param {Record<string, string>} [before]  the last verdict on each promise @returns {Tally}
 */
export function tallyOf({ promises, tasks = [] }, before = {}) {
  const now = new Map(promises.map(({ id, verdict }) => [id, verdict]));
  const all = tasks.flatMap((task) => task.promises);
  const heldBefore = all.filter((id) => !now.has(id) && before[id] === 'passed');
  const count = (/** @type {string} */ wanted) =>
    promises.filter(({ verdict }) => verdict === wanted).length;
  const [failed, undecided] = [count('failed'), count('inconclusive')];
  const held = count('passed') + heldBefore.length;
  return {
    heldBefore,
    counts: { held, failed, undecided, toCome: all.length - held - failed - undecided },
  };
}

/**
 * The failed promises, or if there are none, the undecided ones; in the lesson's order.
 * @param {{ promises: import('./outcome.js').PromiseRecord[], tasks: { promises: string[] }[] }} result
 */
export function openPromises({ promises, tasks = [] }) {
  const order = tasks.flatMap((task) => task.promises);
  const sorted = [...promises].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const those = (/** @type {string} */ wanted) =>
    sorted.filter(({ verdict }) => verdict === wanted);
  const failed = those('failed');
  return failed.length > 0 ? failed : those('inconclusive');
}

/** @param {Counts} counts @returns {string}  for example `4 hold, 1 fails, 4 to come` */
export function countsInWords({ held, failed, undecided, toCome }) {
  const parts = [
    `${held} ${held === 1 ? 'holds' : 'hold'}`,
    failed > 0 && `${failed} ${failed === 1 ? 'fails' : 'fail'}`,
    undecided > 0 && `${undecided} undecided`,
    toCome > 0 && `${toCome} to come`,
  ];
  return parts.filter(Boolean).join(', ');
}
