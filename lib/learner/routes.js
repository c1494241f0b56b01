/** The routes of the learner's page: the text of each lesson, the stream of its state, and the requests of its buttons. */
import { join } from 'node:path';
import { checkFile, loadCheck } from '../check/definitions.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { tasksOf } from '../lessons/tasks.js';
import { lessonPage } from './page.js';
import { sendEvidence } from '../web/evidence.js';
import { pictureOfCheck } from '../verdict/scene-picture.js';
import { mountPageActions } from './page-actions.js';
import { demandToken, send } from '../web/server.js';

/** @typedef {import('./serve.js').Lesson} Lesson  @typedef {import('./serve.js').Learner} Learner */

/**
 * A lesson, before its check.
 * @param {string} root @param {Lesson} lesson @param {Pick<Learner, 'earlierVerdicts'>} learner
 * @returns {Promise<Required<import('./check-records.js').Known>>}
 */
export async function describeLesson(root, { key, number, title, text }, { earlierVerdicts }) {
  const nothing = { promises: {}, taskOf: {} }; // a check that cannot be loaded says why when run
  const { promises, taskOf } = await loadCheck(checkFile(root, key)).catch(() => nothing);
  const tasks = tasksOf(taskOf, text);
  return { lesson: { key, number, title }, promises, tasks, before: earlierVerdicts(key) };
}

/**
 * @typedef {object} Mounted
 * @property {string} root @property {string} token @property {Lesson[]} lessons @property {Learner} learner
 * @property {ReturnType<typeof import('../web/event-stream.js').createStream>} pages
 * @property {ReturnType<typeof import('./check-state.js').createCheckState>} state
 * @property {ReturnType<typeof import('./activity.js').createActivity>} activity
 */

/** @param {import('express').Express} app  @param {Mounted} options */
export function mountLearner(app, options) {
  const { root, token, lessons, learner, pages, activity } = options;
  const find = (request, response, next) => {
    response.locals.lesson = lessons.find(({ key }) => key === request.params.key);
    next(response.locals.lesson ? undefined : 'route');
  };
  mountPages(app, find, options);
  mountPageActions(app, { root, token, learner, activity, find });
  mountCheck(app, find, options);
  if (learner.hand) mountHand(app, { token, hand: learner.hand, pages });
}

/** What a page reads: its text, its pictures, its state. @param {import('express').Express} app @param {any} find @param {Mounted} options */
function mountPages(app, find, { root, lessons, learner, token, pages, state }) {
  const showPage = async (/** @type {Lesson} */ lesson, response) => {
    const { promises, tasks } = await describeLesson(root, lesson, learner);
    const { current, passed } = learner.progress();
    const hints = learner.shownHints(lesson);
    const isJoined = Boolean(learner.hand);
    const setting = { lessons, current, passed, promises, tasks, hints, token, isJoined };
    send(response, () => lessonPage(lesson, setting));
  };
  app.get('/', (request, response) => {
    const { current } = learner.progress();
    return showPage(lessons.find(({ key }) => key === current) ?? lessons[0], response);
  });
  app.get('/lessons/:key/', find, (request, response) =>
    showPage(response.locals.lesson, response),
  );
  app.get('/lessons/:key/scene.svg', find, (request, response, next) => {
    const { key, number } = response.locals.lesson;
    const check = state.snapshot(key);
    if (check?.scene) response.type('svg').send(pictureOfCheck(check, number));
    else next();
  });
  app.get('/lessons/:key/:name.svg', find, (request, response, next) => {
    if (!/^[\w-]+$/.test(request.params.name)) return next();
    const folder = join(root, lessonPaths(response.locals.lesson.key).mine);
    response.sendFile(`${request.params.name}.svg`, { root: folder, cacheControl: false });
  });
  app.get('/lessons/:key/events', find, async (request, response) => {
    const { lesson } = response.locals;
    const { [lesson.key]: passed } = learner.progress().passed;
    state.fillIn(
      await describeLesson(root, lesson, learner),
      learner.lastVerdict(lesson.key),
      passed?.at,
    );
    if (!response.destroyed) pages.add(response, lesson.key);
  });
  app.get('/evidence/:check/:program.json', (request, response) => {
    const { check, program } = request.params;
    sendEvidence(response, state.evidence(Number(check), Number(program)));
  });
}

/** What a page asks for: a check, a hint, a prediction. @param {import('express').Express} app @param {any} find @param {Mounted} options */
function mountCheck(app, find, { token, learner, pages }) {
  const post = (path, act) => app.post(path, demandToken(token), find, act);
  post('/lessons/:key/check', (request, response) => {
    learner.check(response.locals.lesson);
    response.status(204).end();
  });
  post('/lessons/:key/hint', (request, response) => {
    response.json(learner.showHint(response.locals.lesson));
  });
  /** The last prediction before the lesson has passed counts. */
  post('/lessons/:key/prediction/:value', (request, response) => {
    const { key } = response.locals.lesson;
    const value = Number(request.params.value);
    if (!(Number.isFinite(value) && value > 0))
      return void response.status(400).type('text').send('A prediction is a number above 0.\n');
    if (!learner.progress().passed[key]) learner.predict(key, value);
    pages.tell();
    response.status(204).end();
  });
}

/** What a learner says to the class: a raised hand, or a vote, which `none` takes back. */
function mountHand(app, { token, hand, pages }) {
  app.post('/hand/:place', demandToken(token), (request, response) => {
    hand.set(request.params.place === 'up');
    pages.tell();
    response.status(204).end();
  });
  app.post('/votes/:name/:question/:option', demandToken(token), async (request, response) => {
    const { name, question, option } = request.params;
    const fault = await hand.vote({
      ...{ name, question: Number(question) },
      option: option === 'none' ? null : Number(option),
    });
    if (fault) return void response.status(409).type('text').send(`${fault}\n`);
    response.status(204).end();
  });
}
