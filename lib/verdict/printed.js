/** What a program printed, cut to what matters to its author: the last error, and no frame that isn't theirs. */
import { cutLine } from './visible.js';

const ABOVE_ERROR = 4; // the place in the source, and the line itself
const ERROR = /^(Uncaught )?\w*Error\b/;
const FRAME = /^\s+at /;
/** Node.js itself, the probe in a learner's process, packages. */
const NOT_THEIRS = /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]node_modules[\\/]/;
const VERSION = /^Node\.js v\d/;

/**
 * The lines to show: of several errors the last, with the place in the source above it; else the last lines.
 * @param {string} output
 * @param {object} options
 * @param {number} options.most  lines
 * @param {string} [options.root]  folder that is left out of paths
 * @returns {string[]}  at least one, unless nothing is left
 */
export function printedLines(output, { most, root = '' }) {
  const lines = withoutOurs(output.trimEnd().split('\n')).map((line) => shorten(line, root));
  const error = lines.findLastIndex((line) => ERROR.test(line));
  const last = Math.max(0, lines.length - most);
  const above = Math.min(ABOVE_ERROR, Math.max(0, most - 1));
  const first = error < 0 ? last : Math.max(0, Math.min(last, error - above));
  return lines.slice(first, first + most).map(cutLine);
}

/** Without frames of Node.js, of ours and of packages, and the line of Node.js that an error was thrown from. */
function withoutOurs(/** @type {string[]} */ lines) {
  const kept = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (/^node:\S+:\d+$/.test(line)) {
      const end = lines.findIndex((each, at) => at > index && each.trim() === '');
      index = end < 0 ? index : end; // its source line, and the caret below it
    } else if (!(FRAME.test(line) && NOT_THEIRS.test(line)) && !VERSION.test(line)) kept.push(line);
  }
  while (kept.length > 0 && kept[kept.length - 1].trim() === '') kept.pop();
  return kept;
}

const shorten = (/** @type {string} */ line, /** @type {string} */ root) =>
  root ? line.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '') : line;
