/** When progress can't be saved (read-only, full disk) a command does its work anyway, and reports the error at its end. */
import { UsageError } from '../../common/usage-error.js';
import { visible } from '../../verdict/visible.js';

/** @typedef {import('./progress.js').Io} Io */

/** @type {WeakMap<Pick<Io, 'root'>, string>} */
const unreported = new WeakMap();

/** @type {WeakMap<Pick<Io, 'root'>, string>} why the last save failed, until one succeeds */
const lastErrors = new WeakMap();

/** The path exists but is the wrong kind, for example a file instead of a folder. */
export class WrongFileKind extends UsageError {}

/**
 * Notes an error of the operating system.
 * @template T @param {Pick<Io, 'root'>} io @param {() => T} action @returns {T | undefined}  undefined after an error
 */
export function tryFile(io, action) {
  try {
    return action();
  } catch (/** @type {any} */ error) {
    const isRefusal = error instanceof WrongFileKind || /^E[A-Z0-9]+$/.test(error?.code);
    if (!isRefusal) throw error;
    unreported.set(io, whyOf(error));
    return undefined;
  }
}

const ELSEWHERE = 'or keep it elsewhere, as in: FORKSHOP_HOME=~/forkshop npm start';
/** @type {[codes: RegExp, advice: string][]} */
const ADVICE = [
  [/^(ENOSPC|EDQUOT)$/, `Make room there, ${ELSEWHERE}`],
  [/^(EROFS|EACCES|EPERM)$/, `Let Forkshop write there, ${ELSEWHERE}`],
];

function whyOf(/** @type {any} */ { code, message }) {
  const [, advice] = ADVICE.find(([codes]) => codes.test(code)) ?? [];
  return advice ? `${message}. ${advice}` : message;
}

/** @param {Pick<Io, 'root'>} io @param {() => void} action  saves something @returns {boolean}  it succeeded */
export function trySaving(io, action) {
  const isKept = tryFile(io, () => (action(), true));
  if (isKept) lastErrors.delete(io);
  else noteSaveError(io);
  return isKept === true;
}

/** Notes a failed save, with the error that tryFile() met last. @param {Pick<Io, 'root'>} io */
export const noteSaveError = (io) => void lastErrors.set(io, String(unreported.get(io)));

/** Why the last save failed; undefined if it succeeded. @param {Pick<Io, 'root'>} io */
export const lastSaveError = (io) => lastErrors.get(io);

/** @param {Pick<Io, 'root'>} io */
export const hasUnreportedError = (io) => unreported.has(io);

/** Reports the last error that was not reported yet. @param {Pick<Io, 'root' | 'stderr'>} io */
export function reportSaveErrors(io) {
  const why = unreported.get(io);
  if (why !== undefined) io.stderr.write(visible(`Your progress could not be kept: ${why}\n`));
  unreported.delete(io);
}
