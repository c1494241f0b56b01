/** What a program threw, and where: from its timeline and its output to a sentence with a file and a line. */

const FRAME = /^\s*at /;
const PLACE = /(?:file:\/\/)?([/\\][^\s():]*|[A-Z]:[/\\][^\s():]*):(\d+)(?::\d+)?\)?$/;
/** Node.js itself, the probe in a learner's process, the lessons' simulated work, packages. */
const NOT_THEIRS =
  /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]lessons[\\/]work\.js|[\\/]node_modules[\\/]/;
const OF_EXPRESS = /[\\/]node_modules[\\/](express|router)[\\/]/;
const ERROR = /^\w*Error\b/;
const SYNTAX = /^(\S+):(\d+)\n(?:.*\n){1,4}?(SyntaxError: .*)$/m;
const CARET = /^\s*\^+\s*$/;

/**
 * What a process of the run threw, if that ended it.
 * @param {import('../observe/timeline.js').Event[]} events
 * @returns {string | undefined}  for example `A process threw and ended: TypeError: no (server.js, line 4)`
 */
export function describeCrash(events) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  return stack && `A process threw and ended: ${withPlace(stack.split('\n'))}`;
}

/**
 * What one of its handlers threw, as Express has printed it: that explains whatever else is wrong with the answer.
 * @param {string} output
 * @returns {string | undefined}  for example `A handler threw TypeError: no (server.js, line 4).`
 */
export function describeHandlerError(output) {
  const lines = output.split('\n');
  for (const [index, line] of lines.entries()) {
    const isUncaught = CARET.test(lines[index - 2] ?? ''); // Node.js shows the source line above: a process ended by it
    const frames = ERROR.test(line) && !isUncaught ? framesFrom(lines, index + 1) : [];
    if (frames.some(isOwn) && frames.some((frame) => OF_EXPRESS.test(frame)))
      return `A handler threw ${withPlace([line, ...frames])}.`;
  }
  return undefined;
}

/**
 * A file that does not parse has no frame: Node.js prints its place above the error, and only there.
 * @param {string | undefined} why @param {string} output
 * @returns {string | undefined}  the same, with the place behind the error
 */
export function addSyntaxErrorPlace(why, output) {
  const [, file, line, error] = SYNTAX.exec(output) ?? [];
  if (!error || !why?.includes(error) || /line \d+\)/.test(why)) return why;
  return why.replace(error, placed(error, file, line));
}

/** The frames of a stack trace that begins there. */
function framesFrom(/** @type {string[]} */ lines, /** @type {number} */ from) {
  let end = from;
  while (FRAME.test(lines[end] ?? '')) end += 1;
  return lines.slice(from, end);
}

const isOwn = (/** @type {string} */ frame) =>
  FRAME.test(frame) && !NOT_THEIRS.test(frame) && PLACE.test(frame);

/** The first line of a stack trace, with the first place in a file of the program's own. @returns {string} */
function withPlace([error, ...frames]) {
  const [, file, line] = PLACE.exec(frames.find(isOwn) ?? '') ?? [];
  return file ? placed(error, file, line) : error;
}

const placed = (
  /** @type {string} */ error,
  /** @type {string} */ file,
  /** @type {string} */ line,
) => `${error} (${file.split(/[/\\]/).at(-1)}, line ${line})`;

/**
 * What ended a program before it was ready: the first place in a file of its own folder, also one that does not parse.
 * @param {object} run
 * @param {string} run.name  the program's file, as its author knows it
 * @param {import('../observe/timeline.js').Event[]} run.events @param {string} run.output
 * @returns {string | undefined}
 */
export function describeStartError({ name, events, output }) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  const error = stack?.split('\n')[0] ?? lastError(output);
  if (!error) return undefined;
  const [file, line] =
    placeIn(`${stack}\n${output}`, name.slice(0, name.lastIndexOf('/') + 1)) ?? [];
  return line ? `${error} (${file}, line ${line})` : error;
}

/** The first file in this folder, or below it, that is followed by a line number; not a package's. */
function placeIn(text, folder) {
  if (folder === '') return undefined;
  for (let at = text.indexOf(folder); at >= 0; at = text.indexOf(folder, at + 1)) {
    const [, file = '', line] = /^([^\s:()]+):(\d+)/.exec(text.slice(at + folder.length)) ?? [];
    if (line && !file.includes('node_modules/')) return [file, line];
  }
  return undefined;
}

/** The line of a stack trace that says what was thrown, as Node prints it: "SyntaxError: Unexpected token". */
function lastError(output) {
  return /^(\w*Error\b.*)$/m.exec(output)?.[1];
}
