/**
 * The server of the learner's page: a lesson's text, the map of lessons, and the verdict of the last save as it comes.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 *
 * @typedef {Own & import('./page-actions.js').PageActions} Learner  what the page asks of the command that serves it
 *
 * @typedef {object} Own
 * @property {() => Where} where
 * @property {(lesson: Lesson) => void} check  as if it had been saved
 * @property {(key: string, value: number) => void} foretell
 * @property {(lesson: Lesson) => Hinted} hint  shows one hint more for the task that is open
 * @property {(lesson: Lesson) => Hinted} hinted  those that were shown for it
 * @property {(key: string) => Record<string, string>} before  the verdict on each promise of a lesson when it was judged last
 * @property {(key: string) => (import('./check-records.js').Kept & { pid: number }) | undefined} kept  the last verdict on a
 *   lesson, of whichever process
 * @property {(tell: () => void) => { close: () => void }} followKept  told when there may be another one
 * @property {{ told: () => Hand, turn: (isUp: boolean) => void, vote: (choice: { name: string, question: number,
 *   option: number | null }) => Promise<string | undefined> }} [hand]  where a board was joined; vote: why it does not count, if so
 *
 * @typedef {{ name: string, shown: string[], of: number }} Hinted  name: of the task, as in 'Task 2'; empty where the last check
 *   has passed
 *
 * @typedef {{ isUp: boolean, isHeard: boolean, ballot: import('../board/votes.js').OwnBallot | null }} Hand  on the board of a
 *   class; isHeard: does the board know who is here? ballot: the vote that is open
 *
 * @typedef {object} Where  the learner is, by keys of lessons
 * @property {string} current
 * @property {Record<string, { at?: string }>} passed
 * @property {Record<string, number>} predictions
 * @property {string[]} measured  here it is too late to predict
 * @property {Record<string, { value: number, low?: number, high?: number }>} [solutions]  measured on this machine
 * @property {string} [unkept]  why progress cannot be kept, if so
 */
import { createActivity } from './activity.js';
import { createCheckState } from './check-state.js';
import { knownOf, mountLearner } from './routes.js';
import { openServer } from '../web/server.js';
import { createStream } from '../web/event-stream.js';

const GONE_MS = 4_000; // a page that is loaded again is back by then

/**
 * @param {object} options
 * @param {string} options.root
 * @param {number} [options.port]  0: any that is free
 * @param {Lesson[]} options.lessons
 * @param {Learner} options.learner
 * @returns {Promise<{ url: string, token: string, watching: () => number, close: () => Promise<void>,
 *   begin: (lesson: Lesson, file: string) => Promise<void>, program: (started: any) => void, promise: (decided: any) => void,
 *   end: (result: object) => void, tell: () => void }>}
 *   begin to end: what happens in a check, to be called in this order; tell: what else the page shows has changed; watching:
 *   how many pages listen
 * @throws {import('../common/usage-error.js').UsageError}  when the port is taken
 */
export async function serveLearner({ root, port = 0, lessons, learner }) {
  const pages = createStream((key) => whole(key), { onChange: attend });
  const state = createCheckState(pages.tell, root);
  const activity = createActivity(pages.tell);
  const known = (/** @type {Lesson} */ lesson) => knownOf(root, lesson, learner);
  /** @type {NodeJS.Timeout | undefined} */
  let leaving;
  let ownToken = '';
  /** All that a page about a lesson shows, but its text. */
  function whole(/** @type {string} */ key) {
    const { passed, ...where } = learner.where();
    const told = { check: state.told(key), newest: state.newest(), activity: activity.told() };
    const own = { token: ownToken, hand: learner.hand?.told() };
    return { ...own, ...where, passed: Object.keys(passed), ...told };
  }

  const server = await openServer({
    room: 'learner',
    port,
    another: (taken) => `Another: npm start -- --port ${taken + 1}`,
    mount(app, token) {
      ownToken = token;
      mountLearner(app, { root, token, lessons, learner, pages, state, activity });
    },
  });

  /** A verdict of another terminal is shown as one of ours is. */
  const sinceIso = new Date().toISOString();
  const following = learner.followKept(async () => {
    for (const lesson of lessons) {
      const kept = learner.kept(lesson.key);
      if (kept && kept.pid !== process.pid && kept.at > sinceIso)
        state.adopt(await known(lesson), kept);
    }
  });

  /** Where no page is left, what one has started is stopped, unless it was just loaded again. */
  function attend(/** @type {number} */ watching) {
    clearTimeout(leaving);
    if (watching === 0 && activity.isRunning()) leaving = setTimeout(activity.stop, GONE_MS);
  }

  return {
    ...server,
    watching: pages.watching,
    tell: pages.tell,
    begin: async (lesson, file) => state.begin({ file, ...(await known(lesson)) }),
    program: state.program,
    promise: state.promise,
    end: state.end,
    async close() {
      clearTimeout(leaving);
      following.close();
      activity.stop();
      pages.close();
      await server.close();
    },
  };
}
