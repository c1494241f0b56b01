import { splitLines } from './regions.js';

/** @typedef {{ old: string[], new: string[] }} Hunk  lines before and after, with their context */

/** A diff without line numbers: `-`, `+` and space begin lines as usual, `@@` the next hunk. @param {string} text @returns {Hunk[]} */
export function parseHunks(text) {
  const hunks = [{ old: /** @type {string[]} */ ([]), new: /** @type {string[]} */ ([]) }];
  for (const line of splitLines(text.trimEnd())) {
    const hunk = hunks[hunks.length - 1];
    if (line.startsWith('@@')) hunks.push({ old: [], new: [] });
    else if (line.startsWith('-')) hunk.old.push(line.slice(1));
    else if (line.startsWith('+')) hunk.new.push(line.slice(1));
    else [hunk.old, hunk.new].forEach((lines) => lines.push(line.slice(1)));
  }
  return hunks;
}

/**
 * Each hunk's old lines must occur exactly once. @param {string} source @param {Hunk[]} hunks
 * @returns {{ text: string } | { fault: string, near?: string }}  fault: why it doesn't fit; near: the first line that differs
 */
export function applyHunks(source, hunks) {
  let lines = splitLines(source);
  for (const hunk of hunks) {
    if (isBlank(hunk.old)) return { fault: 'A place has no line that exists there.' };
    const places = placesOf(lines, hunk.old);
    if (places.length === 1) lines = lines.toSpliced(places[0], hunk.old.length, ...hunk.new);
    else if (places.length === 0) return missing(lines, hunk);
    else {
      const where = places.map((place) => place + 1).join(', ');
      return { fault: `"${firstOf(hunk.old)}" fits in ${places.length} places: lines ${where}.` };
    }
  }
  return { text: lines.join('\n') };
}

const isBlank = (/** @type {string[]} */ lines) => lines.every((line) => line.trim() === '');
const firstOf = (/** @type {string[]} */ lines) => lines.find((line) => line.trim())?.trim();

function placesOf(/** @type {string[]} */ lines, /** @type {string[]} */ old) {
  return [...lines.keys()].filter((at) => old.every((line, index) => lines[at + index] === line));
}

/** Explains the mismatch at the place where most lines fit. */
function missing(/** @type {string[]} */ lines, /** @type {Hunk} */ { old }) {
  const fits = (/** @type {number} */ at) => {
    const differs = old.findIndex((line, index) => lines[at + index] !== line);
    return differs < 0 ? old.length : differs;
  };
  const best = [...lines.keys()].reduce((a, b) => (fits(b) > fits(a) ? b : a), 0);
  const lost = old[fits(best)];
  const fault = `"${lost.trim()}" is not there`;
  if (fits(best) === 0) return { fault: `${fault}.` };
  const at = best + fits(best);
  return {
    fault: `${fault}, after "${firstOf(old.slice(0, fits(best)).reverse()) ?? ''}".`,
    near: `line ${at + 1}: "${lines[at]?.trim() ?? 'the end of the file'}"`,
  };
}
