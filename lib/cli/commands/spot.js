import { checkFile, loadCheck } from '../../check/definitions.js';
import { changesOf, makeAnswer } from '../../lessons/answer-programs.js';
import { answersOf } from '../../lessons/answers.js';
import { findLesson, listLessons } from '../../lessons/catalog.js';
import { parse } from '../args.js';
import { NO_ANSWER, ask } from '../ask.js';
import { recentLesson } from '../current-lesson.js';
import { interruptible } from '../interrupt.js';
import { readProgress, updateProgress } from '../saved/progress.js';
import { runCheck } from '../../check/run-check.js';
import { hasUnreportedError } from '../saved/save-errors.js';
import { homeFolder } from '../saved/saved-files.js';
import { createSpotView } from '../spot-view.js';

/** @typedef {import('../saved/progress.js').Io} Io @typedef {import('../../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('../../lessons/answers.js').Answer} Answer */

const PER_SITTING = 3;
const MOST_LINES = 30; // of a change with its context, to be read at a glance
const WRONG_PER_RIGHT = 3;
const INTERRUPTED = 130;
export const RIGHT = 'none'; // in place of a promise's id

/** `spot [lesson]`: shows changes to the solution, asks what each breaks, and judges it. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const [name] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const progress = readProgress(io);
  const lesson = name === undefined ? recentLesson(lessons, progress) : findLesson(lessons, name);
  if (!mayShow(lesson, io)) return 0;
  const { promises, all, sitting } = await nextSitting(lesson, io);
  const view = createSpotView(lesson, promises, io);
  return interruptible(async (signal) => {
    let seen = 0;
    for (const [index, answer] of sitting.entries()) {
      view.change(answer, { number: index + 1, of: sitting.length });
      const said = await askWhich(Object.keys(promises), io, signal);
      if (said === NO_ANSWER) return io.stdin.isTTY ? INTERRUPTED : 0;
      io.stdout.write('\nIt is started and judged.\n');
      const { isSeen, result } = await judge({ lesson, answer, said, io, signal });
      if (signal.aborted) return INTERRUPTED;
      view.verdict(answer, isSeen, result);
      seen += Number(isSeen);
    }
    view.end(seen, sitting.length, all, readProgress(io).spotted[lesson.key] ?? {});
    return 0;
  });
}

function mayShow(/** @type {Lesson} */ lesson, /** @type {Io} */ io) {
  const reason = askForSpot(lesson, io);
  if (reason) io.stdout.write(`${reason}\nTo continue anyway, run the same command again.\n`);
  return !reason || hasUnreportedError(io); // a count that can't be saved never reaches two
}

/**
 * Counts that `spot` was asked for. It may be shown if the lesson has passed, or from the second time on.
 * @param {Lesson} lesson @param {Io} io @returns {string | undefined}  why not yet; undefined: show it
 */
export function askForSpot({ key, number }, io) {
  const { passed, spotAsked } = readProgress(io);
  if (passed[key] || spotAsked[key] > 0 || hasUnreportedError(io)) return undefined;
  updateProgress(io, (progress) => void (progress.spotAsked[key] = 1));
  return `Lesson ${number} has not passed yet, and this changes its solution.`;
}

/**
 * @param {Lesson} lesson @param {Io} io @returns {Promise<{ promises: Record<string, string>, all: Answer[], sitting: Answer[] }>}
 *   all: every answer that is short enough; sitting: those to show now
 */
export async function nextSitting({ key }, io) {
  const { promises } = await loadCheck(checkFile(io.root, key));
  const all = answersOf(io.root, key).filter((answer) => isShort(io.root, key, answer));
  const spotted = readProgress(io).spotted[key] ?? {};
  return { promises, all, sitting: chooseAnswers(all, spotted, Object.keys(promises)) };
}

/** @param {string} root @param {string} key @param {Answer} answer */
function isShort(root, key, answer) {
  if (!answer.patches) return false;
  const hunks = changesOf(root, key, answer).flatMap((one) => one.hunks);
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0) <= MOST_LINES;
}

/**
 * Chooses the answers of a sitting: those missed the last time, then new ones, then those already spotted. Within each group
 * the first answer of every promise precedes the second ones, with a right answer now and then.
 * @param {Answer[]} all  in the order of the catalogue, the most tempting first
 * @param {Record<string, boolean>} spotted @param {string[]} promises @returns {Answer[]}
 */
export function chooseAnswers(all, spotted, promises) {
  const kindOf = (/** @type {Answer} */ { isRight, breaks }) =>
    isRight ? promises.length : promises.indexOf(breaks[0]);
  const rankOf = (/** @type {Answer} */ answer) => {
    const rank = all.filter((one) => kindOf(one) === kindOf(answer)).indexOf(answer);
    return answer.isRight ? Math.floor(rank / Math.ceil(promises.length / WRONG_PER_RIGHT)) : rank;
  };
  const groupOf = (/** @type {Answer} */ answer) => {
    const last = spotted[answer.name];
    return last === false ? 0 : last === undefined ? 1 : 2;
  };
  const order = (/** @type {Answer} */ answer) => [
    groupOf(answer),
    rankOf(answer),
    hash(answer.name),
  ];
  return all
    .map((answer) => ({ answer, at: order(answer) }))
    .sort(({ at: a }, { at: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    .slice(0, PER_SITTING)
    .map(({ answer }) => answer);
}

/** A stable hash, so that the order gives no hint. */
const hash = (/** @type {string} */ name) =>
  [...name].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 9973, 7);

/** @returns {Promise<string | undefined>}  the id of a promise, RIGHT, or NO_ANSWER */
async function askWhich(/** @type {string[]} */ ids, /** @type {Io} */ io, signal) {
  for (;;) {
    const answer = await ask(io, `Your answer, 0 to ${ids.length}: `, signal);
    if (answer === NO_ANSWER || answer === '') return NO_ANSWER;
    if (/^(0|none)$/i.test(answer)) return RIGHT;
    const id = /^\d+$/.test(answer) ? ids[Number(answer) - 1] : ids.find((one) => one === answer);
    if (id) return id;
    io.stdout.write(`A number from 0 to ${ids.length}, please; Enter alone leaves.\n`);
  }
}

/**
 * Judges the promises that an answer breaks, and the promise that the learner named; judges a right answer whole. Saves whether the
 * learner saw the fault.
 * @param {object} options @param {Lesson} options.lesson @param {Answer} options.answer
 * @param {string} options.said  the id of a promise, or RIGHT @param {Io} options.io @param {AbortSignal} options.signal
 * @param {Partial<Parameters<typeof runCheck>[0]>} [options.hear]  onPromise, onProgram
 * @returns {Promise<{ isSeen: boolean, result: import('../../check/run-check.js').CheckResult }>}
 */
export async function judge({ lesson: { key }, answer, said, io, signal, hear }) {
  const isSeen = said === RIGHT ? answer.isRight : answer.breaks.includes(said);
  const ids = [...answer.breaks, ...(said === RIGHT ? [] : [said])];
  const result = await runCheck({
    ...{ root: io.root, key, signal, isQuick: true, ...hear },
    subject: makeAnswer(io.root, key, answer, homeFolder(io)),
    only: ids.length > 0 ? ids : undefined,
  });
  if (!signal.aborted)
    updateProgress(io, ({ spotted }) => {
      spotted[key] = { ...spotted[key], [answer.name]: isSeen };
    });
  return { isSeen, result };
}
