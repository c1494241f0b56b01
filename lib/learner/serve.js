/**
 * The server of the learner's page: the text of each lesson, the map of lessons, and the verdict on the last save.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 *
 * @typedef {Own & import('./page-actions.js').PageActions} Learner  what the page needs of the command that serves it
 *
 * @typedef {object} Own
 * @property {() => Progress} progress
 * @property {(lesson: Lesson) => void} check  as a save does
 * @property {(key: string, value: number) => void} predict
 * @property {(lesson: Lesson) => Hints} showHint  shows one more hint for the open task
 * @property {(lesson: Lesson) => Hints} shownHints  the hints shown for it
 * @property {(key: string) => Record<string, string>} earlierVerdicts  the last verdict on each promise of a lesson
 * @property {(key: string) => (import('./check-records.js').SavedVerdict & { pid: number }) | undefined} lastVerdict  on a
 *   lesson, by any process
 * @property {(onChange: () => void) => { close: () => void }} followVerdicts  calls it when there may be a new one
 * @property {{ snapshot: () => Hand, set: (isUp: boolean) => void, vote: (choice: { name: string, question: number,
 *   option: number | null }) => Promise<string | undefined> }} [hand]  if a board was joined; vote: why it doesn't count, if so
 *
 * @typedef {{ name: string, shown: string[], of: number }} Hints  name: of the task, as in 'Task 2'; empty if the last check
 *   has passed
 *
 * @typedef {{ isUp: boolean, isHeard: boolean, ballot: import('../board/votes.js').OwnBallot | null }} Hand  on the board of a
 *   class; isHeard: does the board know this learner? ballot: the open vote
 *
 * @typedef {object} Progress  of the learner, by keys of lessons
 * @property {string} current @property {Record<string, { at?: string }>} passed @property {Record<string, number>} predictions
 * @property {string[]} measured  too late to predict
 * @property {Record<string, { value: number, low?: number, high?: number }>} [solutions]  measured on this machine
 * @property {string} [saveError]  why progress cannot be saved, if so
 */
import { createActivity } from './activity.js';
import { createCheckState } from './check-state.js';
import { describeLesson, mountLearner } from './routes.js';
import { openServer } from '../web/server.js';
import { createStream } from '../web/event-stream.js';

const GONE_MS = 4_000; // a reloaded page is back by then

/**
 * @param {object} options
 * @param {string} options.root
 * @param {number} [options.port]  0: any free one
 * @param {Lesson[]} options.lessons
 * @param {Learner} options.learner
 * @returns {Promise<{ url: string, token: string, watching: () => number, close: () => Promise<void>,
 *   begin: (lesson: Lesson, file: string) => Promise<void>, program: (started: any) => void, promise: (decided: any) => void,
 *   end: (result: object) => void, refresh: () => void }>}
 *   begin to end: the course of a check, called in this order; refresh: something else on the page has changed; watching: how
 *   many pages listen
 * @throws {import('../common/usage-error.js').UsageError}  if the port is taken
 */
export async function serveLearner({ root, port = 0, lessons, learner }) {
  let ownToken = '';
  const pages = createStream(
    (key) => ({ token: ownToken, ...pageState(key, { lessons, learner, state, activity }) }),
    { onChange: (watching) => leaving.attend(watching) },
  );
  const state = createCheckState(pages.tell, root);
  const activity = createActivity(pages.tell);
  const leaving = stopperOf(activity);
  const server = await openServer({
    room: 'learner',
    port,
    another: (taken) => `Another: npm start -- --port ${taken + 1}`,
    mount(app, token) {
      ownToken = token;
      mountLearner(app, { root, token, lessons, learner, pages, state, activity });
    },
  });

  const following = followVerdicts(state, { root, lessons, learner });
  return {
    ...server,
    watching: pages.watching,
    refresh: pages.tell,
    begin: async (lesson, file) =>
      state.begin({ file, ...(await describeLesson(root, lesson, learner)) }),
    program: state.program,
    promise: state.promise,
    end: state.end,
    async close() {
      leaving.close();
      following.close();
      activity.stop();
      pages.close();
      await server.close();
    },
  };
}

/** All that a page about a lesson shows besides its text. */
function pageState(/** @type {string} */ key, { lessons, learner, state, activity }) {
  const lesson = lessons.find((one) => one.key === key);
  const { passed, ...progress } = learner.progress();
  return {
    ...{ hand: learner.hand?.snapshot(), ...progress, passed: Object.keys(passed) },
    hints: lesson && learner.shownHints(lesson),
    ...{ check: state.snapshot(key), newest: state.newest(), activity: activity.snapshot() },
  };
}

function followVerdicts(
  /** @type {ReturnType<typeof createCheckState>} */ state,
  { root, lessons, learner },
) {
  const sinceIso = new Date().toISOString();
  return learner.followVerdicts(async () => {
    for (const lesson of lessons) {
      const saved = learner.lastVerdict(lesson.key);
      if (saved && saved.pid !== process.pid && saved.at > sinceIso)
        state.adopt(await describeLesson(root, lesson, learner), saved);
    }
  });
}

/** Stops an activity once no page is left, unless a page was only reloaded. */
function stopperOf(/** @type {ReturnType<typeof createActivity>} */ activity) {
  /** @type {NodeJS.Timeout | undefined} */
  let leaving;
  return {
    attend(/** @type {number} */ watching) {
      clearTimeout(leaving);
      if (watching === 0 && activity.isRunning()) leaving = setTimeout(activity.stop, GONE_MS);
    },
    close: () => clearTimeout(leaving),
  };
}
