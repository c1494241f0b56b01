/**
 * Which promises of a check are judged, and in which order.
 * @typedef {{ id: string, task: number, needs: string[], isGate: boolean }} DeclaredPromise  task: its number, ascending in
 *   declared order; needs: promises that it depends on; isGate: all later promises depend on it
 */

/** @param {DeclaredPromise[]} declared  the whole check @param {string[]} ids @returns {string[]}  in declared order */
export function withDependencies(declared, ids) {
  const wanted = new Set(ids);
  for (const one of [...declared].reverse()) {
    if (wanted.has(one.id)) dependenciesOf(declared, one).forEach((id) => wanted.add(id));
  }
  return declared.map(({ id }) => id).filter((id) => wanted.has(id));
}

/** Includes the gates before it. @param {DeclaredPromise[]} declared @param {DeclaredPromise} one @returns {string[]} */
export function dependenciesOf(declared, one) {
  const before = declared.slice(0, declared.indexOf(one));
  return [...one.needs, ...before.filter(({ isGate }) => isGate).map(({ id }) => id)];
}

/**
 * The rounds of a check: what failed the last time, then the rest of that task, then each task in order.
 * @param {DeclaredPromise[]} declared
 * @param {{ only?: string[], first?: string[], isThrough?: boolean }} wanted  only: no others; first: failed the last time;
 *   isThrough: all in one round
 * @returns {string[][]}  ids, perhaps in several rounds
 */
export function roundsOf(declared, { only, first = [], isThrough = false }) {
  if (only) return [withDependencies(declared, only)];
  if (isThrough) return [declared.map(({ id }) => id)];
  const tasks = [...new Set(declared.map(({ task }) => task))].map((task) =>
    idsOfTask(declared, task),
  );
  const open = tasks.find((ids) => ids.some((id) => first.includes(id))) ?? [];
  const failed = open.filter((id) => first.includes(id));
  return [withDependencies(declared, failed), withDependencies(declared, open), ...tasks].filter(
    (ids) => ids.length > 0,
  );
}

/** Ids of a task's promises. @param {DeclaredPromise[]} declared @param {number} wanted  the task's number */
export const idsOfTask = (declared, wanted) =>
  declared.filter(({ task }) => task === wanted).map(({ id }) => id);
