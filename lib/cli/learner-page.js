/** The learner's page beside the terminal: if it fails, one line says so and `npm start` continues without it. */
import { get } from '../observe/client.js';
import { visible } from '../verdict/visible.js';
import { showNextHint, shownHints } from './saved/shown-hints.js';
import { watchVerdicts, readVerdict } from './saved/last-verdict.js';
import { lessonHistory } from './saved/lesson-history.js';
import { lessonToDo } from './current-lesson.js';
import { readHistory } from './saved/history.js';
import { readProgress, updateProgress } from './saved/progress.js';
import { setPrediction } from './saved/prediction.js';
import { pageActionsOf } from './page-actions.js';
import { readSolutionResults } from './saved/solution-results.js';
import { lastSaveError } from './saved/save-errors.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson @typedef {import('./saved/progress.js').Io} Io */

/**
 * Receives what happens in a check: the page, the board of a class, or noPage.
 * @typedef {object} Audience
 * @property {(lesson: Lesson, file: string) => Promise<void> | void} begin
 * @property {(started: import('../check/programs.js').Started) => void} program @property {(decided: any) => void} promise
 * @property {(result: object) => void} end @property {() => Promise<void> | void} close
 * @typedef {Audience & { refresh: () => void }} Page  refresh: something beside the check has changed
 */

const PROBE_MS = 500;
const ignore = () => {};

/** @type {Page} */
export const noPage = {
  refresh: ignore,
  begin: ignore,
  program: ignore,
  promise: ignore,
  end: ignore,
  close: ignore,
};

/**
 * @param {object} options @param {Lesson[]} options.lessons @param {Io} options.io @param {number} options.port
 * @param {(lesson: Lesson) => void} options.check  as after a save
 * @param {import('../learner/page-actions.js').PageActions['runIfIdle']} options.runIfIdle  runs something else if nothing is being checked
 * @param {import('../learner/serve.js').Learner['hand']} [options.hand]  with --join @returns {Promise<Page>}
 */
export async function openPage({ lessons, io, port, check, runIfIdle, hand }) {
  try {
    const { serveLearner } = await import('../learner/serve.js');
    const learner = { ...learnerOf(lessons, io, check), ...pageActionsOf(io), runIfIdle, hand };
    const page = await serveLearner({ root: io.root, port, lessons, learner });
    io.stdout.write(`The page: ${page.url}\n`);
    return isolated(page, io);
  } catch (/** @type {any} */ error) {
    const isRunning = await isLearnersPage(port);
    io.stdout.write(isRunning ? runningAlready(port) : `${skippedPage(error)}\n`);
    return noPage;
  }
}

const runningAlready = (/** @type {number} */ port) =>
  `npm start is running already, in another terminal: its page is http://127.0.0.1:${port}/\n` +
  'This one has no page. Both check what is saved; leave one of them with q.\n';

/** Recognizes the page of another `npm start` by its HTML. */
async function isLearnersPage(/** @type {number} */ port) {
  const { body = '' } = await get(`http://127.0.0.1:${port}/`, { timeoutMs: PROBE_MS });
  return body.includes('id="verdict-title"');
}

function skippedPage(/** @type {any} */ { message, hint }) {
  const [first] = String(message).split('\n');
  return visible(`The page is left out: ${first}${hint ? ` ${hint}` : ''}`);
}

/** Reports the page's first failure, then ignores the page. @returns {Page} */
function isolated(page, io) {
  let isWorking = true;
  const attempt = async (/** @type {() => any} */ action) => {
    if (!isWorking) return;
    try {
      await action();
    } catch (error) {
      isWorking = false;
      io.stdout.write(`${skippedPage(error)}\n`);
    }
  };
  return {
    begin: (lesson, file) => attempt(() => page.begin(lesson, file)),
    program: (started) => void attempt(() => page.program(started)),
    promise: (decided) => void attempt(() => page.promise(decided)),
    end: (result) => void attempt(() => page.end(result)),
    refresh: () => void attempt(() => page.refresh()),
    close: () => page.close(),
  };
}

/** @returns {Omit<import('../learner/serve.js').Learner, keyof import('../learner/page-actions.js').PageActions>} */
function learnerOf(/** @type {Lesson[]} */ lessons, /** @type {Io} */ io, check) {
  return {
    progress() {
      const progress = readProgress(io);
      const { passed, predictions } = progress;
      const checks = readHistory(io).filter(({ measurements }) => measurements?.length > 0);
      const measured = [...new Set(checks.map(({ lesson }) => lesson))];
      const current = lessonToDo(lessons, progress).key;
      const [solutions, saveError] = [readSolutionResults(io), lastSaveError(io)];
      return { current, passed, predictions, measured, solutions, saveError };
    },
    check,
    predict(key, value) {
      updateProgress(io, (progress) => setPrediction(progress, key, value));
    },
    earlierVerdicts: (key) => lessonHistory(readHistory(io), key).verdicts,
    lastVerdict: (key) => readVerdict(io, key),
    followVerdicts: (onChange) => watchVerdicts(io, onChange),
    shownHints: (lesson) => shownHints(lesson, io),
    showHint: (lesson) => showNextHint(lesson, io),
  };
}
