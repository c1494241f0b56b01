/** Cuts a program's output to what matters to its author: the last error, with the author's own stack frames. */
import { cutLine } from './visible.js';

const ABOVE_ERROR = 3; // the path, the source line, and the caret below it
const ERROR = /^(Uncaught )?\w*Error\b/;
const FRAME = /^\s+at /;
/** Frames of Node.js, of the probe in the learner's process, and of packages. */
const FOREIGN = /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]node_modules[\\/]/;
const VERSION = /^Node\.js v\d/;
const DETAIL = /^ {2}(?:errno|code|syscall|address|port|path|dest): /; // fields of a system error, whose message has them already

/**
 * The last error with its source line, or else the last lines. @returns {string[]}
 * @param {string} output @param {{ most: number, root?: string }} options  most: lines; root: folder to omit from paths
 */
export function outputLines(output, { most, root = '' }) {
  const lines = withoutForeign(output.trimEnd().split('\n')).map((line) => shorten(line, root));
  const error = lines.findLastIndex((line) => ERROR.test(line));
  const last = Math.max(0, lines.length - most);
  const above = Math.min(ABOVE_ERROR, Math.max(0, most - 1));
  const first = error < 0 ? last : Math.max(0, Math.min(last, error - above));
  return lines.slice(first, first + most).map(cutLine);
}

/** Removes foreign frames, the source line in Node.js that threw, and empty lines. */
function withoutForeign(/** @type {string[]} */ lines) {
  const kept = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (/^node:\S+:\d+$/.test(line)) {
      const end = lines.findIndex((each, at) => at > index && each.trim() === '');
      index = end < 0 ? index : end; // skip its source line and caret
    } else if (FRAME.test(line)) {
      if (!FOREIGN.test(line)) kept.push(line.replace(/ \{$/, ''));
    } else if (DETAIL.test(line)) {
      if (lines[index + 1] === '}') index += 1;
    } else if (!VERSION.test(line)) kept.push(line);
  }
  return kept.filter((line) => line.trim() !== '');
}

const shorten = (/** @type {string} */ line, /** @type {string} */ root) =>
  root ? line.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '') : line;
