const longestName = 60;

/**
 * The most likely intended name: a name that contains the typed text, else the name with the smallest edit distance.
 * @param {string} name @param {string[]} candidates @returns {string | undefined}  undefined if none has anything in common with it
 */
export function nearest(name, candidates) {
  const typed = name.toLowerCase().slice(0, longestName);
  if (!typed) return undefined;
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits < Math.max(typed.length, candidate.length))
    .sort((a, b) => a.edits - b.edits);
  const containing = ranked.find(({ candidate }) => typed.length > 2 && candidate.includes(typed));
  return (containing ?? ranked[0])?.candidate;
}

/** Typed text for printing: cut, and with escapes for what could steer a terminal. @param {string} name @returns {string}  in quotes */
export function quoted(name) {
  const short = name.length > longestName ? `${name.slice(0, longestName)}...` : name;
  const escape = (/** @type {string} */ c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${short.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escape)}"`;
}

/** The Levenshtein distance. */
function editsBetween(/** @type {string} */ from, /** @type {string} */ to) {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
