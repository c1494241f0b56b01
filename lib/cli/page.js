/**
 * The learner's page beside the terminal. Whatever goes wrong with it is said in one line, and `npm start` goes on: the
 * terminal tells all that the page tells.
 */
import { get } from '../observe/client.js';
import { visible } from '../verdict/visible.js';
import { hintMore, hinted } from './hints.js';
import { followVerdicts, keptVerdict } from './kept-verdict.js';
import { lastTime } from './last-time.js';
import { nextLesson } from './current-lesson.js';
import { readHistory, readProgress, updateProgress } from './progress.js';
import { keepPrediction } from './prediction.js';
import { reachOf } from './page-actions.js';
import { solutionsOf } from './solution-results.js';
import { whyUnkept } from './save-errors.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Io} Io */

/**
 * Who watches a check: nobody, unless there is a page.
 * @typedef {object} Audience
 * @property {(lesson: Lesson, file: string) => Promise<void> | void} begin
 * @property {(started: import('../check/programs.js').Started) => void} program
 * @property {(decided: any) => void} promise
 * @property {(result: object) => void} end
 * @property {() => Promise<void> | void} close
 *
 * @typedef {Audience & { tell: () => void }} Page  tell: what else it shows has changed
 */

const ANSWERED_MS = 500;
const ignore = () => {};

/** @type {Page} */
export const nobody = {
  tell: ignore,
  begin: ignore,
  program: ignore,
  promise: ignore,
  end: ignore,
  close: ignore,
};

/**
 * Serves the page.
 * @param {object} options
 * @param {Lesson[]} options.lessons
 * @param {Io} options.io
 * @param {number} options.port
 * @param {(lesson: Lesson) => void} options.check  checks a lesson as if it had been saved
 * @param {import('../learner/page-actions.js').Reach['aside']} options.aside  does something else when nothing runs
 * @param {import('../learner/serve.js').Learner['hand']} [options.hand]  where a board is joined
 * @returns {Promise<Page>}
 */
export async function openPage({ lessons, io, port, check, aside, hand }) {
  try {
    const { serveLearner } = await import('../learner/serve.js');
    const learner = { ...learnerOf(lessons, io, check), ...reachOf(io), aside, hand };
    const page = await serveLearner({ root: io.root, port, lessons, learner });
    io.stdout.write(`The page: ${page.url}\n`);
    return undisturbed(page, io);
  } catch (/** @type {any} */ error) {
    const isRunning = await isLearnersPage(port);
    io.stdout.write(isRunning ? runningAlready(port) : `${leftOut(error)}\n`);
    return nobody;
  }
}

const runningAlready = (/** @type {number} */ port) =>
  `npm start is running already, in another terminal: its page is http://127.0.0.1:${port}/\n` +
  'This one has no page. Both check what is saved; leave one of them with q.\n';

/** Is it a page such as ours that has the port? */
async function isLearnersPage(/** @type {number} */ port) {
  const { body = '' } = await get(`http://127.0.0.1:${port}/`, { timeoutMs: ANSWERED_MS });
  return body.includes('id="verdict-title"');
}

function leftOut(/** @type {any} */ { message, hint }) {
  const [first] = String(message).split('\n');
  return visible(`The page is left out: ${first}${hint ? ` ${hint}` : ''}`);
}

/** A page that fails is told once, and spoils no check. @returns {Page} */
function undisturbed(page, io) {
  let isWell = true;
  const attempt = async (/** @type {() => any} */ action) => {
    if (!isWell) return;
    try {
      await action();
    } catch (error) {
      isWell = false;
      io.stdout.write(`${leftOut(error)}\n`);
    }
  };
  return {
    begin: (lesson, file) => attempt(() => page.begin(lesson, file)),
    program: (started) => void attempt(() => page.program(started)),
    promise: (decided) => void attempt(() => page.promise(decided)),
    end: (result) => void attempt(() => page.end(result)),
    tell: () => void attempt(() => page.tell()),
    close: () => page.close(),
  };
}

/** @returns {Omit<import('../learner/serve.js').Learner, keyof import('../learner/page-actions.js').Reach>} */
function learnerOf(/** @type {Lesson[]} */ lessons, /** @type {Io} */ io, check) {
  return {
    where() {
      const progress = readProgress(io);
      const { passed, predictions } = progress;
      const checks = readHistory(io).filter(({ measurements }) => measurements?.length > 0);
      const measured = [...new Set(checks.map(({ lesson }) => lesson))];
      const current = nextLesson(lessons, progress).key;
      const [solutions, unkept] = [solutionsOf(io), whyUnkept(io)];
      return { current, passed, predictions, measured, solutions, unkept };
    },
    check,
    foretell(key, value) {
      updateProgress(io, (progress) => keepPrediction(progress, key, value));
    },
    before: (key) => lastTime(readHistory(io), key).verdicts,
    kept: (key) => keptVerdict(io, key),
    followKept: (tell) => followVerdicts(io, tell),
    hinted: (lesson) => hinted(lesson, io),
    hint: (lesson) => hintMore(lesson, io),
  };
}

const MOST_EARLIER = 8;

/**
 * The headline of a lesson's earlier checks, oldest first: what has a change done?
 * @param {Record<string, any>[]} history  oldest first
 * @param {string} key
 * @returns {{ value: number, low?: number, high?: number }[]}
 */
export function earlierOf(history, key) {
  const headlines = history
    .filter(({ lesson }) => lesson === key)
    .flatMap(({ measurements = [] }) => measurements.filter(({ isHeadline }) => isHeadline));
  return headlines.slice(-MOST_EARLIER).map(({ value, low, high }) => ({ value, low, high }));
}
