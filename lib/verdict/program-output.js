/** What a program printed, cut to what matters to its author: the last error, and no frame that isn't theirs. */
import { cutLine } from './visible.js';

const ABOVE_ERROR = 3; // the place in the source, the line itself, and the caret below it
const ERROR = /^(Uncaught )?\w*Error\b/;
const FRAME = /^\s+at /;
/** Node.js itself, the probe in a learner's process, packages. */
const NOT_THEIRS = /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]node_modules[\\/]/;
const VERSION = /^Node\.js v\d/;
const DETAIL = /^ {2}(?:errno|code|syscall|address|port|path|dest): /; // of an error, which has told it in its first line

/**
 * The lines to show: of several errors the last, with the place in the source above it; else the last lines.
 * @param {string} output @param {object} options
 * @param {number} options.most  lines
 * @param {string} [options.root]  folder that is left out of paths
 * @returns {string[]}  at least one, unless nothing is left
 */
export function outputLines(output, { most, root = '' }) {
  const lines = withoutOurs(output.trimEnd().split('\n')).map((line) => shorten(line, root));
  const error = lines.findLastIndex((line) => ERROR.test(line));
  const last = Math.max(0, lines.length - most);
  const above = Math.min(ABOVE_ERROR, Math.max(0, most - 1));
  const first = error < 0 ? last : Math.max(0, Math.min(last, error - above));
  return lines.slice(first, first + most).map(cutLine);
}

/** Without frames of Node.js, of ours and of packages, the line of Node.js that an error was thrown from, and empty lines. */
function withoutOurs(/** @type {string[]} */ lines) {
  const kept = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (/^node:\S+:\d+$/.test(line)) {
      const end = lines.findIndex((each, at) => at > index && each.trim() === '');
      index = end < 0 ? index : end; // its source line, and the caret below it
    } else if (FRAME.test(line)) {
      if (!NOT_THEIRS.test(line)) kept.push(line.replace(/ \{$/, ''));
    } else if (DETAIL.test(line)) {
      if (lines[index + 1] === '}') index += 1;
    } else if (!VERSION.test(line)) kept.push(line);
  }
  return kept.filter((line) => line.trim() !== '');
}

const shorten = (/** @type {string} */ line, /** @type {string} */ root) =>
  root ? line.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '') : line;
