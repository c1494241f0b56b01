/** What the server of the learner's page answers: a lesson's text, its state as it changes, and what the page asks for. */
import { join } from 'node:path';
import { checkFile, loadCheck } from '../check/definitions.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { tasksOf } from '../lessons/tasks.js';
import { lessonPage } from './page.js';
import { sendEvidence } from '../web/evidence.js';
import { mountPageActions } from './page-actions.js';
import { demandToken, send } from '../web/server.js';

/**
 * @typedef {import('./serve.js').Lesson} Lesson
 * @typedef {import('./serve.js').Learner} Learner
 */

/**
 * What there is to know of a lesson without checking it.
 * @param {string} root
 * @param {Lesson} lesson
 * @param {Pick<Learner, 'before'>} learner
 * @returns {Promise<Required<import('./check-records.js').Known>>}
 */
export async function knownOf(root, { key, number, title, text }, { before }) {
  const nothing = { promises: {}, taskOf: {} }; // a check that cannot be loaded says why when it runs
  const { promises, taskOf } = await loadCheck(checkFile(root, key)).catch(() => nothing);
  const tasks = tasksOf(taskOf, text);
  return { lesson: { key, number, title }, promises, tasks, before: before(key) };
}

/**
 * @param {import('express').Express} app
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.token
 * @param {Lesson[]} options.lessons
 * @param {Learner} options.learner
 * @param {ReturnType<typeof import('../web/event-stream.js').createStream>} options.pages
 * @param {ReturnType<typeof import('./check-state.js').createCheckState>} options.state
 * @param {ReturnType<typeof import('./activity.js').createActivity>} options.activity
 */
export function mountLearner(app, { root, token, lessons, learner, pages, state, activity }) {
  const find = (request, response, next) => {
    response.locals.lesson = lessons.find(({ key }) => key === request.params.key);
    next(response.locals.lesson ? undefined : 'route');
  };
  const showPage = async (/** @type {Lesson} */ lesson, response) => {
    const { promises, tasks } = await knownOf(root, lesson, learner);
    const { current, passed } = learner.where();
    const hints = learner.hinted(lesson);
    const isJoined = Boolean(learner.hand);
    const setting = { lessons, current, passed, promises, tasks, hints, token, isJoined };
    send(response, () => lessonPage(lesson, setting));
  };
  const post = (path, act) => app.post(path, demandToken(token), find, act);

  app.get('/', (request, response) => {
    const { current } = learner.where();
    return showPage(lessons.find(({ key }) => key === current) ?? lessons[0], response);
  });
  app.get('/lessons/:key/', find, (request, response) =>
    showPage(response.locals.lesson, response),
  );
  app.get('/lessons/:key/:name.svg', find, (request, response, next) => {
    if (!/^[\w-]+$/.test(request.params.name)) return next();
    const folder = join(root, lessonPaths(response.locals.lesson.key).mine);
    response.sendFile(`${request.params.name}.svg`, { root: folder, cacheControl: false });
  });
  app.get('/lessons/:key/events', find, async (request, response) => {
    const { lesson } = response.locals;
    const { [lesson.key]: passed } = learner.where().passed;
    state.know(await knownOf(root, lesson, learner), learner.kept(lesson.key), passed?.at);
    if (!response.destroyed) pages.add(response, lesson.key);
  });
  mountPageActions(app, { root, token, learner, activity, find });
  app.get('/evidence/:check/:program.json', (request, response) => {
    const { check, program } = request.params;
    sendEvidence(response, state.evidence(Number(check), Number(program)));
  });
  post('/lessons/:key/check', (request, response) => {
    learner.check(response.locals.lesson);
    response.status(204).end();
  });
  post('/lessons/:key/hint', (request, response) => {
    response.json(learner.hint(response.locals.lesson));
  });
  /** The last prediction counts, and none after the lesson has passed. */
  post('/lessons/:key/prediction/:value', (request, response) => {
    const { key } = response.locals.lesson;
    const value = Number(request.params.value);
    if (!(Number.isFinite(value) && value > 0))
      return void response.status(400).type('text').send('A prediction is a number above 0.\n');
    if (!learner.where().passed[key]) learner.foretell(key, value);
    pages.tell();
    response.status(204).end();
  });
  if (learner.hand) mountHand(app, { token, hand: learner.hand, pages });
}

/** What a learner says to the class: a hand that is up, a vote, which `none` takes back. */
function mountHand(app, { token, hand, pages }) {
  app.post('/hand/:place', demandToken(token), (request, response) => {
    hand.turn(request.params.place === 'up');
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
