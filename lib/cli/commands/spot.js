import { checkFile, loadCheck } from '../../check/definitions.js';
import { answersOf, changesOf, makeAnswer } from '../../lessons/answers.js';
import { findLesson, listLessons } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { openedUp, promiseLine, wrap } from '../../verdict/terminal.js';
import { allVisible } from '../../verdict/visible.js';
import { parse } from '../args.js';
import { LEFT, ask } from '../ask.js';
import { currentLesson } from '../current-lesson.js';
import { homeFolder, readProgress, updateProgress } from '../progress.js';
import { runCheck } from '../../check/run-check.js';
import { isUnkept } from '../save-errors.js';

/** @typedef {import('../progress.js').Io} Io */
/** @typedef {import('../../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('../../lessons/answers.js').Answer} Answer */

const A_SITTING = 3;
const MOST_LINES = 30; // of a change, with the lines around it: what you take in at a glance
const RIGHT_ONES = 3; // among so many wrong ones of a round there is one that is right
const INTERRUPTED = 130;
export const RIGHT = 'none'; // instead of a promise

/**
 * `spot [lesson]`: shows what somebody has changed in the solution, asks which promise that breaks, and judges it. Three a
 * sitting; what was not seen the last time comes first, then what is new, the most tempting first.
 *
 * @param {string[]} argv
 * @param {Io} io
 * @returns {Promise<number>} exit code, 130 when it was left with Ctrl-C or Ctrl-D
 */
export async function run(argv, io) {
  const [name] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const progress = readProgress(io);
  const lesson = name === undefined ? currentLesson(lessons, progress) : findLesson(lessons, name);
  if (!mayShow(lesson, io)) return 0;
  const { promises, all, sitting } = await sittingOf(lesson, io);
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const view = createView(lesson, promises, io);
    let seen = 0;
    for (const [index, answer] of sitting.entries()) {
      view.change(answer, { number: index + 1, of: sitting.length });
      const { signal } = interrupt;
      const said = await askWhich(Object.keys(promises), io, signal);
      if (said === LEFT) return io.stdin.isTTY ? INTERRUPTED : 0;
      io.stdout.write('\nIt is started and judged.\n');
      const { isSeen, result } = await judge({ lesson, answer, said, io, signal });
      if (signal.aborted) return INTERRUPTED;
      view.verdict(answer, isSeen, result);
      seen += Number(isSeen);
    }
    view.end(seen, sitting.length, all, readProgress(io).spotted[lesson.key] ?? {});
    return 0;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** A learner who has not passed the lesson is told so, and may ask again. */
function mayShow(/** @type {Lesson} */ lesson, /** @type {Io} */ io) {
  const reason = reasonToWait(lesson, io);
  if (reason) io.stdout.write(`${reason}\nTo go on anyway, run the same command again.\n`);
  return !reason || isUnkept(io); // nobody could ask twice
}

/**
 * Why a lesson's faults are not shown yet: it has not passed, and nobody has asked before.
 *
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {string | undefined} undefined when they are
 */
export function reasonToWait({ key, number }, io) {
  const { passed, spotAsked } = readProgress(io);
  if (passed[key] || spotAsked[key] > 0 || isUnkept(io)) return undefined;
  updateProgress(io, (progress) => void (progress.spotAsked[key] = 1));
  return `Lesson ${number} has not passed yet, and this changes its solution.`;
}

/**
 * The answers that are shown in one sitting.
 *
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {Promise<{ promises: Record<string, string>, all: Answer[], sitting: Answer[] }>} all: those that could be shown
 */
export async function sittingOf({ key }, io) {
  const { promises } = await loadCheck(checkFile(io.root, key));
  const all = answersOf(io.root, key).filter((answer) => isShort(io.root, key, answer));
  const spotted = readProgress(io).spotted[key] ?? {};
  return { promises, all, sitting: choose(all, spotted, Object.keys(promises)) };
}

/** Is it a change that you can take in at a glance? */
function isShort(
  /** @type {string} */ root,
  /** @type {string} */ key,
  /** @type {Answer} */ answer,
) {
  if (!answer.patches) return false;
  const hunks = changesOf(root, key, answer).flatMap((one) => one.hunks);
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0) <= MOST_LINES;
}

/**
 * Those of a sitting: what was not seen the last time, then what was never shown, in rounds: the first of each promise, and a
 * right one now and then; then the second of each. When all have been seen, it starts over.
 *
 * @param {Answer[]} all  in the order of the catalogue, the most tempting first
 * @param {Record<string, boolean>} spotted
 * @param {string[]} promises
 * @returns {Answer[]}
 */
export function choose(all, spotted, promises) {
  const kindOf = (/** @type {Answer} */ { isRight, breaks }) =>
    isRight ? promises.length : promises.indexOf(breaks[0]);
  const rankOf = (/** @type {Answer} */ answer) => {
    const rank = all.filter((one) => kindOf(one) === kindOf(answer)).indexOf(answer);
    return answer.isRight ? Math.floor(rank / Math.ceil(promises.length / RIGHT_ONES)) : rank;
  };
  const laps = (/** @type {Answer} */ answer) => {
    const last = spotted[answer.name];
    return last === false ? 0 : last === undefined ? 1 : 2;
  };
  const order = (/** @type {Answer} */ answer) => [
    laps(answer),
    rankOf(answer),
    mixed(answer.name),
  ];
  return all
    .map((answer) => ({ answer, at: order(answer) }))
    .sort(({ at: a }, { at: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    .slice(0, A_SITTING)
    .map(({ answer }) => answer);
}

/** A number that is always the same for a name, and says nothing about it. */
const mixed = (/** @type {string} */ name) =>
  [...name].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 9973, 7);

/** @returns {Promise<string | undefined>} id of a promise, RIGHT, or LEFT */
async function askWhich(/** @type {string[]} */ ids, /** @type {Io} */ io, signal) {
  for (;;) {
    const answer = await ask(io, `Your answer, 0 to ${ids.length}: `, signal);
    if (answer === LEFT || answer === '') return LEFT;
    if (/^(0|none)$/i.test(answer)) return RIGHT;
    const id = /^\d+$/.test(answer) ? ids[Number(answer) - 1] : ids.find((one) => one === answer);
    if (id) return id;
    io.stdout.write(`A number from 0 to ${ids.length}, please; Enter alone leaves.\n`);
  }
}

/**
 * Judges what an answer breaks, and what was said; a right one whole. What was seen is remembered.
 *
 * @param {object} options
 * @param {Lesson} options.lesson
 * @param {Answer} options.answer
 * @param {string} options.said  the id of a promise, or RIGHT
 * @param {Io} options.io
 * @param {AbortSignal} options.signal
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
  if (!signal.aborted) remember(key, answer, isSeen, io);
  return { isSeen, result };
}

function remember(
  /** @type {string} */ key,
  /** @type {Answer} */ { name },
  /** @type {boolean} */ isSeen,
  /** @type {Io} */ io,
) {
  updateProgress(io, ({ spotted }) => {
    spotted[key] = { ...spotted[key], [name]: isSeen };
  });
}

/** What is shown, for one lesson. */
function createView(/** @type {Lesson} */ lesson, promises, /** @type {Io} */ io) {
  const { key, number, title } = lesson;
  const style = createStyle(io.stdout, io.env);
  const columns = Math.min(io.stdout.columns ?? 100, 100);
  const print = (/** @type {string[]} */ ...lines) => io.stdout.write(`${lines.join('\n')}\n`);
  const sentences = Object.values(promises);
  const coloured = (/** @type {string} */ line) => {
    const paint = line.startsWith('+') ? style.green : line.startsWith('-') ? style.red : String;
    return `    ${paint(line.trimEnd())}`.trimEnd();
  };
  const why = (/** @type {string} */ text) =>
    wrap(text.replaceAll(/\s+/g, ' '), columns - 2).map((line) => `  ${line}`);
  return {
    change(answer, { number: at, of }) {
      print('', style.bold(`Lesson ${number}: ${title}. Spot the fault, ${at} of ${of}`), '');
      for (const { file, hunks } of changesOf(io.root, key, answer))
        for (const { line, lines } of hunks)
          print(`  ${style.cyan(`${file}, from line ${line}`)}`, ...lines.map(coloured), '');
      print('  Which promise does it break?', `   0  none: this is right`);
      sentences.forEach((sentence, index) => {
        const [first, ...rest] = wrap(sentence, columns - 6);
        print(
          `  ${String(index + 1).padStart(2)}  ${first}`,
          ...rest.map((each) => `      ${each}`),
        );
      });
      print('');
    },
    verdict({ isRight, breaks, why: reason }, isSeen, result) {
      const { promises: judged, fault } = allVisible(result);
      const told =
        judged.find((one) => one.verdict === 'failed') ??
        judged.find((one) => one.verdict === 'inconclusive');
      const ids = Object.keys(promises);
      for (const one of judged)
        print(
          promiseLine(one, { number: ids.indexOf(one.id) + 1, of: ids.length }, style, columns),
        );
      if (told) print('', ...openedUp(told, { isTold: true }, style, columns));
      if (fault) print('', `  This is a bug in Forkshop: ${fault}`);
      const numbers = breaks.map((id) => ids.indexOf(id) + 1).join(' and ');
      const answer = isRight ? 'It is right.' : `It breaks ${numbers}.`;
      print(
        '',
        isSeen ? style.green(`  You saw it. ${answer}`) : style.yellow(`  Not quite. ${answer}`),
      );
      const head = isRight
        ? 'What is different in it:'
        : 'Why someone writes this, and what clients notice:';
      print('', `  ${style.dim(head)}`, ...why(reason), '');
    },
    end(seen, of, all, spotted) {
      const known = all.filter(({ name }) => spotted[name]).length;
      print(`You saw ${seen} of ${of}; ${known} of the ${all.length} of this lesson so far.`);
      print(`More: npm run spot lesson-${number}`);
    },
  };
}
