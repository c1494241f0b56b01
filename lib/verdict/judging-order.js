/**
 * Which promises of a check are judged, and in which order.
 *
 * @typedef {object} DeclaredPromise  a promise as a check declares it
 * @property {string} id
 * @property {number} task  that it belongs to; in declared order a task comes before the next
 * @property {string[]} needs  promises without which it means nothing
 * @property {boolean} isGate  everything declared after it needs it
 */

/**
 * Promises with everything they depend on, in declared order.
 * @param {DeclaredPromise[]} held  all of the check, in declared order
 * @param {string[]} ids
 * @returns {string[]}
 */
export function withDependencies(held, ids) {
  const wanted = new Set(ids);
  for (const one of [...held].reverse()) {
    if (wanted.has(one.id)) dependenciesOf(held, one).forEach((id) => wanted.add(id));
  }
  return held.map(({ id }) => id).filter((id) => wanted.has(id));
}

/**
 * What one promise depends on directly: the promises that it needs, and every gate before it.
 * @param {DeclaredPromise[]} held @param {DeclaredPromise} one
 * @returns {string[]}
 */
export function dependenciesOf(held, one) {
  const before = held.slice(0, held.indexOf(one));
  return [...one.needs, ...before.filter(({ isGate }) => isGate).map(({ id }) => id)];
}

/**
 * The rounds of a check: one for each task, in order. The task that was open last time comes before the others, with what it
 * depends on, and what failed in it before the rest of it.
 * @param {DeclaredPromise[]} held
 * @param {{ only?: string[], first?: string[], isThrough?: boolean }} wanted  only: these and nothing else; isThrough: one
 *   round, of all
 * @returns {string[][]}  ids; some may be in several rounds
 */
export function roundsOf(held, { only, first = [], isThrough = false }) {
  if (only) return [withDependencies(held, only)];
  if (isThrough) return [held.map(({ id }) => id)];
  const tasks = [...new Set(held.map(({ task }) => task))].map((task) => idsOfTask(held, task));
  const open = tasks.find((ids) => ids.some((id) => first.includes(id))) ?? [];
  const failed = open.filter((id) => first.includes(id));
  return [withDependencies(held, failed), withDependencies(held, open), ...tasks].filter(
    (ids) => ids.length > 0,
  );
}

/** The promises of a task. @param {DeclaredPromise[]} held @param {number} wanted */
export const idsOfTask = (held, wanted) =>
  held.filter(({ task }) => task === wanted).map(({ id }) => id);
