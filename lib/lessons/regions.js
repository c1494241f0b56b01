import { UsageError } from '../common/usage-error.js';

const mostRegions = 4;
const marker = /^\s*\/\/ ?#(end)?region\b[ \t]*(.*?)\s*$/;

/**
 * @typedef {{ name: string, body: string, start: number, end: number }} Region  body: with LF, without common indentation; start, end:
 *   lines of `#region` and `#endregion`, from 1
 */

/**
 * Finds `// #region name` to `// #endregion name`. @param {string} source @param {string} file  for messages @returns {Region[]}  in order
 * @throws {UsageError}  for an unclosed, nested, nameless or duplicate region, and for more than four
 */
export function parseRegions(source, file) {
  const lines = splitLines(source);
  const regions = [];
  let open;
  for (const [index, line] of lines.entries()) {
    const match = marker.exec(line);
    if (!match) continue;
    const here = { name: match[2], line: index + 1, closes: Boolean(match[1]) };
    const fault = markerFault(here, open, regions);
    if (fault) throw regionError(`Line ${here.line} of ${file} ${fault}.`);
    if (open) regions.push(closeRegion(lines, open, here.line));
    open = open ? undefined : { name: here.name, start: here.line };
  }
  if (open) {
    throw regionError(
      `The region "${open.name}" on line ${open.start} of ${file} is never closed.`,
    );
  }
  if (regions.length <= mostRegions) return regions;
  throw regionError(`${file} has ${regions.length} regions; at most ${mostRegions} are allowed.`);
}

function markerFault({ name, closes }, open, regions) {
  if (!/^[\w-]+$/.test(name)) return `has a region marker without a one-word name`;
  if (closes && !open) return `closes the region "${name}", which is not open`;
  if (closes && open?.name !== name)
    return `closes "${name}", but the open region is "${open?.name}"`;
  if (!closes && open) return `opens the region "${name}" inside "${open.name}"`;
  if (!closes && regions.some((region) => region.name === name)) {
    return `opens a second region named "${name}"`;
  }
  return undefined;
}

function closeRegion(lines, { name, start }, end) {
  return { name, body: dedent(lines.slice(start, end - 1)).join('\n'), start, end };
}

const regionError = (/** @type {string} */ message) =>
  new UsageError(
    message,
    `Write each region as "// #region name" and "// #endregion name", not nested, at most ${mostRegions} in a file.`,
  );

/** Keeps the markers. @param {string} source @param {string} file  for messages @throws {UsageError}  like parseRegions() */
export function withoutRegions(source, file) {
  const regions = parseRegions(source, file);
  const inside = (/** @type {number} */ line) =>
    regions.some(({ start, end }) => line > start && line < end);
  return splitLines(source)
    .filter((_, index) => !inside(index + 1))
    .join('\n');
}

/** @param {string} text  with LF or CRLF */
export const splitLines = (text) => text.split(/\r?\n/);

function dedent(/** @type {string[]} */ lines) {
  const widths = lines
    .filter((line) => line.trim())
    .map((line) => line.length - line.trimStart().length);
  const width = Math.min(...widths, Infinity);
  return lines.map((line) => (line.trim() ? line.slice(width) : ''));
}
