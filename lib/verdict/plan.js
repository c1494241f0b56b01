/**
 * Which promises of a check are judged, and in which order.
 *
 * @typedef {object} Held  a promise as a check declares it
 * @property {string} id
 * @property {string[]} needs  promises without which it means nothing
 * @property {boolean} isGate  everything declared after it needs it
 */

/**
 * Promises with everything they depend on, in declared order.
 * @param {Held[]} held  all of the check, in declared order
 * @param {string[]} ids
 * @returns {string[]}
 */
export function standingOn(held, ids) {
  const wanted = new Set(ids);
  for (const one of [...held].reverse()) {
    if (wanted.has(one.id)) groundsOf(held, one).forEach((id) => wanted.add(id));
  }
  return held.map(({ id }) => id).filter((id) => wanted.has(id));
}

/**
 * What one promise depends on directly: the promises that it needs, and every gate before it.
 * @param {Held[]} held
 * @param {Held} one
 * @returns {string[]}
 */
export function groundsOf(held, one) {
  const before = held.slice(0, held.indexOf(one));
  return [...one.needs, ...before.filter(({ isGate }) => isGate).map(({ id }) => id)];
}

/**
 * The rounds of a check. What failed last time comes first, with what it depends on: that round, and with it the check, ends
 * with the first promise that fails again. The rest is for a second round.
 * @param {Held[]} held
 * @param {{ only?: string[], first?: string[] }} wanted  only: these and nothing else
 * @returns {{ ids: string[], isBrief: boolean }[]}  isBrief: it ends with the first failure, and the check with it
 */
export function roundsOf(held, { only, first = [] }) {
  if (only) return [{ ids: standingOn(held, only), isBrief: false }];
  const early = standingOn(held, first);
  const others = held.map(({ id }) => id).filter((id) => !early.includes(id));
  const rounds = [
    { ids: early, isBrief: true },
    { ids: others, isBrief: false },
  ];
  return rounds.filter(({ ids }) => ids.length > 0);
}
