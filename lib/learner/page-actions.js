/**
 * What the page can do besides checking: run experiments, compare with the solution, reset to the starter, spot faults, measure
 * the solution. Requests that start a process or change a file need the token, and one activity runs at a time.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 * @typedef {import('./activity.js').Doing} Doing
 *
 * @typedef {object} PageActions  what the page needs of the command that serves it
 * @property {(words: string, act: (signal: AbortSignal) => Promise<void>) => boolean} runIfIdle  runs `act` until a save ends it;
 *   false: something else runs
 * @property {(lesson: Lesson) => { reason: string } | { files: { file: string, patch: string }[] }} compare
 * @property {(lesson: Lesson) => string[]} changed  the paths that a reset would restore
 * @property {(lesson: Lesson) => { changed: string[], backup?: string }} reset
 * @property {(lesson: Lesson) => Promise<{ reason: string } | Spots>} spots  a new sitting
 * @property {(lesson: Lesson, index: number, said: string, doing: Doing) => Promise<object>} judge  a change of the sitting
 * @property {(lesson: Lesson, doing: Doing) => Promise<object>} measure  the solution
 *
 * @typedef {object} Spots
 * @property {{ file: string, hunks: { line: number, lines: string[] }[] }[][]} changes
 * @property {{ id: string, sentence: string }[]} promises
 * @property {string} right  the answer to a change that breaks none
 */
import {
  findExperiment,
  obstacleTo,
  performExperiment,
  readExperiments,
} from '../check/experiments.js';
import { errorInWords } from './activity.js';
import { sendEvidence } from '../web/evidence.js';
import { demandToken } from '../web/server.js';

const BUSY = 'Something else is running: a check, or another experiment. Wait for it, or stop it.';

/**
 * @param {import('express').Express} app
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.token
 * @param {PageActions} options.learner
 * @param {ReturnType<typeof import('./activity.js').createActivity>} options.activity
 * @param {(request: any, response: any, next: any) => void} options.find  puts the lesson into response.locals
 */
export function mountPageActions(app, { root, token, learner, activity, find }) {
  const post = (path, act) =>
    app.post(path, demandToken(token), find, (request, response) =>
      sendResult(response, () => act(response.locals.lesson, request.params, response)),
    );
  app.get('/lessons/:key/experiments.json', find, (request, response) =>
    sendResult(response, () => menuOf(root, response.locals.lesson)),
  );
  mountActivities(post, { root, learner, activity });
  post('/lessons/:key/spot', (lesson) => learner.spots(lesson));
  post('/lessons/:key/diff', (lesson) => learner.compare(lesson));
  post('/lessons/:key/reset/look', (lesson) => ({ changed: learner.changed(lesson) }));
  post('/lessons/:key/reset', (lesson) => learner.reset(lesson));
  app.post('/stop', demandToken(token), (request, response) => {
    activity.stop();
    response.status(204).end();
  });
  app.get('/activity/:id/:program.json', (request, response) => {
    const { id, program } = request.params;
    sendEvidence(response, activity.evidence(Number(id), Number(program)));
  });
}

async function menuOf(/** @type {string} */ root, /** @type {Lesson} */ lesson) {
  const all = await readExperiments(root, lesson);
  return all.map((one) => ({
    ...{ name: one.name, title: one.title, question: one.question },
    obstacle: obstacleTo(one),
  }));
}

/** An activity is answered when it begins; all pages see how it ends. */
function mountActivities(post, { root, learner, activity }) {
  const start = (response, words, about, act) => {
    const isBegun = learner.runIfIdle(words, (signal) => activity.perform(about, act, signal));
    if (isBegun) response.status(202).end();
    else response.json({ fault: BUSY });
  };
  post('/lessons/:key/experiments/:name', async (lesson, { name }, response) => {
    const experiment = findExperiment(await readExperiments(root, lesson), name);
    const about = { kind: 'experiment', lesson: lesson.key, name: experiment.name };
    const words = `The page runs an experiment: ${experiment.title}.`;
    start(response, words, about, (doing) => performExperiment(experiment, { root, ...doing }));
  });
  post('/lessons/:key/spot/:index/:said', (lesson, { index, said }, response) => {
    const about = { kind: 'spot', lesson: lesson.key, index: Number(index), said };
    start(response, 'The page has a change judged.', about, (doing) =>
      learner.judge(lesson, Number(index), said, doing),
    );
  });
  post('/lessons/:key/measure', (lesson, _, response) => {
    const about = { kind: 'solution', lesson: lesson.key };
    start(response, 'The page measures the solution.', about, (doing) =>
      learner.measure(lesson, doing),
    );
  });
}

/** Sends a result, or in plain words why there is none: the page shows both. */
async function sendResult(response, act) {
  try {
    const value = await act();
    if (!response.headersSent) response.json(value);
  } catch (error) {
    const words = errorInWords(error);
    if (!words) throw error;
    response.json({ fault: words });
  }
}
