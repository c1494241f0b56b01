import { parseRegions, splitLines } from './regions.js';
import { UsageError } from '../common/usage-error.js';

const fence = /^([ \t]*)(`{3,}|~{3,})[ \t]*(.*?)\s*$/;

/**
 * @typedef {{ file: string, region?: string, lines?: [from: number, to: number], body: string, indent: string, mark: string, start: number,
 *   end: number }} Quote  a fenced code block that quotes a source file; file: path from the root; region, lines: the part, from line 1,
 *   otherwise all; body: with LF, without its indentation; mark: the fence's back-ticks or tildes; start, end: the fences' lines
 */

/**
 * Code blocks with `file=path`, `file=path#region` or `file=path#region:2-9` in their opening fence. A fence inside another block is an
 * example, not a quote. @param {string} markdown  with LF or CRLF @returns {Quote[]}  in order @throws {UsageError}  if one is never closed
 */
export function findQuotes(markdown) {
  const lines = splitLines(markdown);
  const quotes = [];
  for (let index = 0; index < lines.length; index += 1) {
    const opening = fence.exec(lines[index]);
    if (!opening || (opening[2][0] === '`' && opening[3].includes('`'))) continue;
    const [, indent, mark, info] = opening;
    const start = index + 1;
    index += 1;
    while (index < lines.length && !closes(lines[index], mark)) index += 1;
    const [, file, region, from, to] =
      /(?:^|\s)file=([^\s#:]+)(?:#([^\s:]+))?(?::(\d+)-(\d+))?/.exec(info) ?? [];
    if (!file) continue;
    const range = from ? { lines: [Number(from), Number(to)] } : {};
    if (index === lines.length) throw unclosed(file, start);
    const body = lines
      .slice(start, index)
      .map((line) => withoutIndent(line, indent))
      .join('\n');
    quotes.push({ file, region, ...range, body, indent, mark, start, end: index + 1 });
  }
  return quotes;
}

const unclosed = (/** @type {string} */ file, /** @type {number} */ line) =>
  new UsageError(
    `The quote of ${file} on line ${line} is never closed.`,
    'End it with a line that holds the same marks as the line that opens it.',
  );

/** A closing fence has the same character, at least as often. */
function closes(/** @type {string} */ line, /** @type {string} */ mark) {
  const match = fence.exec(line);
  return Boolean(match && match[3] === '' && match[2].startsWith(mark));
}

/**
 * Refreshes every quote of a Markdown text. Everything else stays, including line ends.
 * @param {string} markdown @param {(file: string) => string} readFile  by a path from the root
 * @returns {{ text: string, stale: Quote[] }}  stale: the quotes that were replaced
 * @throws {UsageError}  if a region is missing; and what `readFile` throws
 */
export function refreshQuotes(markdown, readFile) {
  const lineEnd = markdown.includes('\r\n') ? '\r\n' : '\n';
  const lines = markdown.split('\n');
  const stale = [];
  for (const quote of findQuotes(markdown).reverse()) {
    const body = quotedText(quote, readFile);
    if (body === quote.body) continue;
    const indented = splitLines(body).map(
      (line) => (line && quote.indent + line) + lineEnd.slice(0, -1),
    );
    lines.splice(quote.start, quote.end - quote.start - 1, ...(body ? indented : []));
    stale.unshift(quote);
  }
  return { text: lines.join('\n'), stale };
}

/** @param {Quote} quote @param {(file: string) => string} readFile @returns {string} */
function quotedText({ file, region, lines, mark, start }, readFile) {
  const source = readFile(file);
  const whole = region
    ? parseRegions(source, file).find(({ name }) => name === region)?.body
    : splitLines(source).join('\n').replace(/\n$/, '');
  const line = `the quote on line ${start}`;
  if (whole === undefined) {
    throw new UsageError(`${file} has no region "${region}".`, `Fix ${line}, or add the region.`);
  }
  const text = lines ? part(whole, lines, file, line) : whole;
  if (!splitLines(text).some((each) => closes(each, mark))) return text;
  throw new UsageError(
    `${file} holds a line that would end the code block.`,
    `Open and close ${line} with more than ${mark.length} marks.`,
  );
}

function part(text, [from, to], file, quote) {
  const lines = splitLines(text);
  if (from >= 1 && from <= to && to <= lines.length) {
    const chosen = lines.slice(from - 1, to);
    const margin = Math.min(
      ...chosen.filter((line) => line.trim()).map((line) => line.search(/\S/)),
    );
    return chosen.map((line) => line.slice(margin)).join('\n');
  }
  throw new UsageError(
    `${file} has no lines ${from} to ${to} there, but ${lines.length}.`,
    `Fix ${quote}.`,
  );
}

function withoutIndent(/** @type {string} */ line, /** @type {string} */ indent) {
  return line.startsWith(indent) ? line.slice(indent.length) : line.trimStart();
}
