/**
 * Where progress cannot be kept (a folder that may not be written, a full disk) a command does its work all the same, and
 * says at its end, in one line, that this was not remembered.
 */
import { UsageError } from '../common/usage-error.js';
import { visible } from '../verdict/visible.js';

/** @typedef {import('./progress.js').Io} Io */

/** @type {WeakMap<Pick<Io, 'root'>, string>} why, until it is reported */
const untold = new WeakMap();

/** @type {WeakMap<Pick<Io, 'root'>, string>} why the last thing that was to be kept could not be */
const refused = new WeakMap();

/** What is there in place of the progress is the wrong kind: a file instead of a folder. */
export class WrongKind extends UsageError {}

/**
 * Reads or writes what is kept.
 * @template T
 * @param {Pick<Io, 'root'>} io
 * @param {() => T} action
 * @returns {T | undefined}  undefined when the operating system refused
 */
export function attempt(io, action) {
  try {
    return action();
  } catch (/** @type {any} */ error) {
    const isRefusal = error instanceof WrongKind || /^E[A-Z0-9]+$/.test(error?.code);
    if (!isRefusal) throw error;
    untold.set(io, whyOf(error));
    return undefined;
  }
}

const ELSEWHERE = 'or keep it elsewhere, as in: FORKSHOP_HOME=~/forkshop npm start';
/** What to do about it. @type {[codes: RegExp, advice: string][]} */
const ADVICE = [
  [/^(ENOSPC|EDQUOT)$/, `Make room there, ${ELSEWHERE}`],
  [/^(EROFS|EACCES|EPERM)$/, `Let Forkshop write there, ${ELSEWHERE}`],
];

function whyOf(/** @type {any} */ { code, message }) {
  const [, advice] = ADVICE.find(([codes]) => codes.test(code)) ?? [];
  return advice ? `${message}. ${advice}` : message;
}

/**
 * Writes what is kept, and notes whether it could be.
 * @param {Pick<Io, 'root'>} io
 * @param {() => void} action
 * @returns {boolean}  it could
 */
export function keeping(io, action) {
  const isKept = attempt(io, () => (action(), true));
  if (isKept) refused.delete(io);
  else refuse(io);
  return isKept === true;
}

/** What was to be kept is not, for the reason that was met last. @param {Pick<Io, 'root'>} io */
export const refuse = (io) => void refused.set(io, String(untold.get(io)));

/**
 * Why what was to be kept last could not be; undefined when it could. For who shows it for as long as it is so.
 * @param {Pick<Io, 'root'>} io
 */
export const whyUnkept = (io) => refused.get(io);

/**
 * Is there something that could not be kept, and was not reported yet?
 * @param {Pick<Io, 'root'>} io
 */
export const isUnkept = (io) => untold.has(io);

/**
 * Says what could not be kept, if anything, and why.
 * @param {Pick<Io, 'root' | 'stderr'>} io
 */
export function tellUnkept(io) {
  const why = untold.get(io);
  if (why !== undefined) io.stderr.write(visible(`Your progress could not be kept: ${why}\n`));
  untold.delete(io);
}
