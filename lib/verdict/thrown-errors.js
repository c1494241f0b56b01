/**
 * Names the error that a program threw, with its file and line: from the probe's 'crash' event or, where there is none, from what
 * the program printed.
 */
const FRAME = /^\s*at /;
const PLACE = /(?:file:\/\/)?([/\\][^\s():]*|[A-Z]:[/\\][^\s():]*):(\d+)(?::\d+)?\)?$/;
/** A frame of Node.js, of the probe in the learner's process, of the lessons' simulated work, or of a package. */
const FOREIGN =
  /\bnode:|[\\/]lib[\\/]observe[\\/]|[\\/]lessons[\\/]work\.js|[\\/]node_modules[\\/]/;
const OF_EXPRESS = /[\\/]node_modules[\\/](express|router)[\\/]/;
const ERROR = /^\w*Error\b/;
/** Node.js prints the place, up to four lines (the source, a caret, blank ones), and then the error. */
const SYNTAX = /^(\S+):(\d+)\n(?:.*\n){1,4}?(SyntaxError: .*)$/m;
const CRASH = 'A process threw and exited: ';
const CARET = /^\s*\^+\s*$/;
/** What an error of Node.js means, if it names neither the mistake nor its place. @type {[RegExp, string][]} */
const MEANINGS = [
  [
    /"callback" argument must be of type function\. Received type number/,
    'The global setTimeout() takes a function first and returns no promise: the one to await is another, of node:timers/promises.',
  ],
  [
    /undefined \(reading 'toFixed'\)/,
    'A number should be there, and nothing is. Look at where it comes from: a function returns nothing, or an array has no such position.',
  ],
];

/**
 * The error that a process threw, if it exited for that reason.
 * @param {import('../observe/timeline.js').Event[]} events
 * @returns {string | undefined}  for example `A process threw and exited: TypeError: x is not a function (server.js, line 4)`
 */
export function describeCrash(events) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  return stack && `${CRASH}${withPlace(fromError(stack))}`;
}

/** Is a crash the reason that a failed demand gives? @param {string} [why] */
export const namesCrash = (why) => Boolean(why?.startsWith(CRASH));

/**
 * The error of a handler, as Express prints it.
 * @param {string} output
 * @returns {string | undefined}  for example `A handler threw TypeError: x is not a function (server.js, line 4).`
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
 * Adds the place of a SyntaxError, which Node.js prints only above the error.
 * @param {string | undefined} why @param {string} output
 * @returns {string | undefined}  `why`, with the file and line if it quotes the error without them
 */
export function addSyntaxErrorPlace(why, output) {
  const [, file, line, error] = SYNTAX.exec(output) ?? [];
  if (!error || !why?.includes(error) || /line \d+\)/.test(why)) return why;
  return why.replace(error, placed(error, nameOf(file), line));
}

/** @param {string | undefined} why @returns {string | undefined}  `why`, with what the error that it quotes means */
export function addMeaning(why) {
  const [, meaning] = MEANINGS.find(([error]) => error.test(why ?? '')) ?? [];
  return meaning ? `${why?.replace(/\.$/, '')}. ${meaning}` : why;
}

function framesFrom(/** @type {string[]} */ lines, /** @type {number} */ from) {
  let end = from;
  while (FRAME.test(lines[end] ?? '')) end += 1;
  return lines.slice(from, end);
}

const isOwn = (/** @type {string} */ frame) =>
  FRAME.test(frame) && !FOREIGN.test(frame) && PLACE.test(frame);

/** The error and its frames. Above a SyntaxError the stack begins with the place. @returns {[string, ...string[]]} */
function fromError(/** @type {string} */ stack) {
  const [first, ...rest] = stack.split('\n');
  const at = PLACE.test(first) ? rest.findIndex((line) => ERROR.test(line)) : -1;
  return at < 0 ? [first, ...rest] : [rest[at], ...rest.slice(at + 1), `    at ${first}`];
}

/** The error with the first place in a file of the program's own. @returns {string} */
function withPlace([error, ...frames]) {
  const [, file, line] = PLACE.exec(frames.find(isOwn) ?? '') ?? [];
  return file ? placed(error, nameOf(file), line) : error;
}

const nameOf = (/** @type {string} */ path) => path.split(/[/\\]/).at(-1);
const placed = (error, file, line) => `${error} (${file}, line ${line})`;

/**
 * The error that crashed a program before it was ready, with the first place in its own folder.
 * @param {{ name: string, events: import('../observe/timeline.js').Event[], output: string }} run  name: its path, as in messages
 * @returns {string | undefined}  for example `TypeError: x is not a function (routes/report.js, line 4)`
 */
export function describeStartError({ name, events, output }) {
  const stack = events.find(({ what }) => what === 'crash')?.error;
  const error = (stack && fromError(stack)[0]) ?? /^\w*Error\b.*$/m.exec(output)?.[0];
  if (!error) return undefined;
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  const [file, line] = placeIn(`${stack}\n${output}`, folder) ?? [];
  return line ? placed(error, file, line) : error;
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
