const FRAME = /^\s*at /;
const PLACE = /(?:file:\/\/)?([/\\][^\s():]*|[A-Z]:[/\\][^\s():]*):(\d+)(?::\d+)?\)?$/;
/** Frames of Node.js, of the probe in the learner's process, of the lessons' simulated work, and of packages. */
const NOT_THEIRS =
  /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]lessons[\\/]work\.js|[\\/]node_modules[\\/]/;
const OF_EXPRESS = /[\\/]node_modules[\\/](express|router)[\\/]/;
const ERROR = /^\w*Error\b/;
const SYNTAX = /^(\S+):(\d+)\n(?:.*\n){1,4}?(SyntaxError: .*)$/m;
const CARET = /^\s*\^+\s*$/;

/**
 * The error that a process threw, if it exited for that reason. @param {import('../observe/timeline.js').Event[]} events
 * @returns {string | undefined}  for example `A process threw and exited: TypeError: no (server.js, line 4)`
 */
export function describeCrash(events) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  return stack && `A process threw and exited: ${withPlace(fromError(stack))}`;
}

/**
 * @param {string} output @returns {string | undefined}  such as `A handler threw TypeError: no (server.js, line 4).`, from Express's output
 */
export function describeHandlerError(output) {
  const lines = output.split('\n');
  for (const [index, line] of lines.entries()) {
    const isUncaught = CARET.test(lines[index - 2] ?? ''); // above an uncaught error Node.js prints the source line
    const frames = ERROR.test(line) && !isUncaught ? framesFrom(lines, index + 1) : [];
    if (frames.some(isOwn) && frames.some((frame) => OF_EXPRESS.test(frame)))
      return `A handler threw ${withPlace([line, ...frames])}.`;
  }
  return undefined;
}

/**
 * Adds the place of a SyntaxError, which Node.js prints only above the error. @param {string | undefined} why @param {string} output
 * @returns {string | undefined}  `why` with the file and line
 */
export function addSyntaxErrorPlace(why, output) {
  const [, file, line, error] = SYNTAX.exec(output) ?? [];
  if (!error || !why?.includes(error) || /line \d+\)/.test(why)) return why;
  return why.replace(error, placed(error, file, line));
}

function framesFrom(/** @type {string[]} */ lines, /** @type {number} */ from) {
  let end = from;
  while (FRAME.test(lines[end] ?? '')) end += 1;
  return lines.slice(from, end);
}

const isOwn = (/** @type {string} */ frame) =>
  FRAME.test(frame) && !NOT_THEIRS.test(frame) && PLACE.test(frame);

/** The error and its frames. Above a SyntaxError the stack begins with the place. @returns {[string, ...string[]]} */
function fromError(/** @type {string} */ stack) {
  const [first, ...rest] = stack.split('\n');
  const at = PLACE.test(first) ? rest.findIndex((line) => ERROR.test(line)) : -1;
  return at < 0 ? [first, ...rest] : [rest[at], ...rest.slice(at + 1), `    at ${first}`];
}

/** The error with the first place in a file of the program's own. @returns {string} */
function withPlace([error, ...frames]) {
  const [, file, line] = PLACE.exec(frames.find(isOwn) ?? '') ?? [];
  return file ? placed(error, file, line) : error;
}

const placed = (error, file, line) => `${error} (${file.split(/[/\\]/).at(-1)}, line ${line})`;

/**
 * The error that crashed a program before it was ready, with the first place in its own folder. @returns {string | undefined}
 * @param {{ name: string, events: import('../observe/timeline.js').Event[], output: string }} run  name: its path, as in messages
 */
export function describeStartError({ name, events, output }) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  const error = (stack && fromError(stack)[0]) ?? lastError(output);
  if (!error) return undefined;
  const [file, line] =
    placeIn(`${stack}\n${output}`, name.slice(0, name.lastIndexOf('/') + 1)) ?? [];
  return line ? `${error} (${file}, line ${line})` : error;
}

/** The first `file:line` below the folder that isn't a package's. */
function placeIn(text, folder) {
  if (folder === '') return undefined;
  for (let at = text.indexOf(folder); at >= 0; at = text.indexOf(folder, at + 1)) {
    const [, file = '', line] = /^([^\s:()]+):(\d+)/.exec(text.slice(at + folder.length)) ?? [];
    if (line && !file.includes('node_modules/')) return [file, line];
  }
  return undefined;
}

/** For example "SyntaxError: Unexpected token". */
function lastError(output) {
  return /^(\w*Error\b.*)$/m.exec(output)?.[1];
}
