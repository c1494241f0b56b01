/**
 * The server of the learner's page: a lesson's text, the map of lessons, and the verdict of the last save as it comes.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 *
 * @typedef {Own & import('./reach.js').Reach} Learner  what the page asks of the command that serves it
 *
 * @typedef {object} Own
 * @property {() => Where} where
 * @property {(lesson: Lesson) => void} check  as if it had been saved
 * @property {(key: string, value: number) => void} foretell
 * @property {(lesson: Lesson) => Hinted} hint  shows one hint more for the task that is open
 * @property {(lesson: Lesson) => Hinted} hinted  those that were shown for it
 * @property {(key: string) => Record<string, string>} before  the verdict on each promise of a lesson when it was judged last
 * @property {{ told: () => Hand, turn: (isUp: boolean) => void }} [hand]  where a board was joined
 *
 * @typedef {{ name: string, shown: string[], of: number }} Hinted  name: of the task, as in 'Task 2'; empty where the last check
 *   has passed
 *
 * @typedef {{ isUp: boolean, isHeard: boolean }} Hand  on the board of a class; isHeard: does the board know who is here?
 *
 * @typedef {object} Where  the learner is, by keys of lessons
 * @property {string} current
 * @property {Record<string, unknown>} passed
 * @property {Record<string, number>} predictions
 * @property {string[]} measured  here it is too late to predict
 * @property {Record<string, { value: number, low?: number, high?: number }>} [solutions]  measured on this machine
 * @property {string} [unkept]  why progress cannot be kept, if so
 */
import { join } from 'node:path';
import { checkFile, loadCheck } from '../check/definitions.js';
import { placesOf } from '../lessons/places.js';
import { createActivity } from './activity.js';
import { createCheckState } from './check-state.js';
import { lessonPage } from './learner-page.js';
import { sendEvidence } from './evidence.js';
import { mountReach } from './reach.js';
import { demandToken, openServer, send } from './server.js';
import { createStream } from './stream.js';

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
  const pages = createStream(() => whole(), { onChange: attend });
  const state = createCheckState(pages.tell);
  const activity = createActivity(pages.tell);
  /** @type {NodeJS.Timeout | undefined} */
  let leaving;
  let ownToken = '';
  const whole = () => {
    const { passed, ...where } = learner.where();
    const keys = Object.keys(passed);
    const told = { check: state.told(), activity: activity.told(), hand: learner.hand?.told() };
    return { token: ownToken, ...where, passed: keys, ...told };
  };
  const nothing = { promises: {}, taskOf: {} }; // a check that cannot be loaded says why when it runs
  const definitionOf = (/** @type {string} */ key) =>
    loadCheck(checkFile(root, key)).catch(() => nothing);
  const find = (request, response, next) => {
    response.locals.lesson = lessons.find(({ key }) => key === request.params.key);
    next(response.locals.lesson ? undefined : 'route');
  };
  const showPage = async (lesson, response) => {
    const { promises } = await definitionOf(lesson.key);
    const { current, passed } = learner.where();
    const hints = learner.hinted(lesson);
    const setting = {
      lessons,
      current,
      passed,
      promises,
      hints,
      token: ownToken,
      isJoined: Boolean(learner.hand),
    };
    send(response, () => lessonPage(lesson, setting));
  };

  const server = await openServer({
    port,
    another: (taken) => `Another: npm start -- --port ${taken + 1}`,
    mount(app, token) {
      ownToken = token;
      app.get('/', (request, response) => {
        const { current } = learner.where();
        return showPage(lessons.find(({ key }) => key === current) ?? lessons[0], response);
      });
      app.get('/lessons/:key/', find, (request, response) =>
        showPage(response.locals.lesson, response),
      );
      app.get('/lessons/:key/:name.svg', find, (request, response, next) => {
        if (!/^[\w-]+$/.test(request.params.name)) return next();
        const folder = join(root, placesOf(response.locals.lesson.key).mine);
        response.sendFile(`${request.params.name}.svg`, { root: folder, cacheControl: false });
      });
      app.get('/events', (request, response) => pages.add(response));
      mountReach(app, { root, token, learner, activity, find });
      app.get('/evidence/:check/:program.json', (request, response) => {
        const { check, program } = request.params;
        sendEvidence(response, state.evidence(Number(check), Number(program)));
      });
      app.post('/lessons/:key/check', demandToken(token), find, (request, response) => {
        learner.check(response.locals.lesson);
        response.status(204).end();
      });
      app.post('/lessons/:key/hint', demandToken(token), find, (request, response) => {
        response.json(learner.hint(response.locals.lesson));
      });
      app.post('/lessons/:key/prediction/:value', demandToken(token), find, foretell);
      if (learner.hand)
        app.post('/hand/:place', demandToken(token), (request, response) => {
          learner.hand?.turn(request.params.place === 'up');
          pages.tell();
          response.status(204).end();
        });
    },
  });

  /** Where nobody watches any more, what a page has started is stopped, unless the page was just loaded again. */
  function attend(/** @type {number} */ watching) {
    clearTimeout(leaving);
    if (watching === 0 && activity.isRunning()) leaving = setTimeout(activity.stop, GONE_MS);
  }

  /** The last prediction counts, and none after the lesson has passed. */
  function foretell(request, response) {
    const { key } = response.locals.lesson;
    const { passed } = learner.where();
    const value = Number(request.params.value);
    if (!(Number.isFinite(value) && value > 0))
      return void response.status(400).type('text').send('A prediction is a number above 0.\n');
    if (!passed[key]) learner.foretell(key, value);
    pages.tell();
    response.status(204).end();
  }

  return {
    ...server,
    watching: pages.watching,
    tell: pages.tell,
    async begin(lesson, file) {
      const { promises, taskOf } = await definitionOf(lesson.key);
      const before = learner.before(lesson.key);
      state.begin({ lesson, file, promises, taskOf, before });
    },
    program: state.program,
    promise: state.promise,
    end: state.end,
    async close() {
      clearTimeout(leaving);
      activity.stop();
      pages.close();
      await server.close();
    },
  };
}
