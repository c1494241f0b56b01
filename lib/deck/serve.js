/** The deck's server: the slides, the speaker's page, the demos, and news of an author's changes. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express from 'express';
import { readDeck } from './read-deck.js';
import { watchRecursive } from '../common/watch-recursive.js';
import { deckPage, printPage, speakerPage } from './pages.js';
import { watchCrowd } from '../measure/conditions.js';
import { preflightForPage } from './preflight.js';
import { findRecording, readDemos, readRecordings } from './recordings.js';
import { ballotOf } from '../board/votes.js';
import { areVotes } from './demo-stage.js';
import { createStream } from '../web/event-stream.js';
import { demandToken, openServer, send } from '../web/server.js';
import { handoutPage, scriptPage } from './sheets.js';
import { perform } from './perform-demo.js';

const CALM_MS = 80; // an editor writes a file in several steps
export const revealFolder = dirname(createRequire(import.meta.url).resolve('reveal.js'));

/**
 * @param {{ root: string, port?: number, plan?: string, board?: import('../board/serve.js').Board }} options  port 0: any free
 *   port; plan: the default for an address that names none (`/?plan=half` does)
 * @returns {Promise<{ url: string, token: string, close: () => Promise<void> }>}
 * @throws {import('../common/usage-error.js').UsageError}  if the port is taken
 */
export async function serveDeck({ root, port = 0, plan, board }) {
  const performances = new Set();
  const speakers = createStream(() => board?.told() ?? {});
  board?.follow(speakers.tell);
  watchCrowd(); // the speaker's page asks how busy it was before
  const server = await openServer({
    room: 'deck',
    port,
    another: (taken) => `Choose another: npm run slides -- --port ${taken + 1}`,
    mount: (app, token) => {
      mountDeck(app, { root, plan, token, board, performances });
      mountClass(app, { token, board, speakers });
    },
  });
  return {
    ...server,
    async close() {
      for (const { end } of performances) end.abort();
      speakers.close();
      await Promise.all([...performances].map(({ done }) => done));
      await server.close();
    },
  };
}

function mountDeck(app, { root, plan, token, board, performances }) {
  app.use('/reveal', express.static(revealFolder, { index: false, redirect: false }));
  app.get('/recordings/:name.json', (request, response, next) => {
    const recording = findRecording(root, request.params.name);
    if (recording) response.json(recording);
    else next();
  });
  const show = (path, make) =>
    app.get(path, ({ query }, response) =>
      send(response, () => {
        const wanted = String(query.plan ?? plan ?? '');
        const chapters = readDeck(root, wanted);
        return make(chapters, { token, plan: wanted, query, board });
      }),
    );
  const recorded = (chapters) => ({ recordings: readRecordings(root, chapters) });
  show('/', deckPage);
  show('/speaker', speakerPage);
  show('/print', (chapters, { query }) =>
    printPage(chapters, { hasNotes: query.notes !== undefined, ...recorded(chapters) }),
  );
  show('/script', (chapters) => scriptPage(chapters, recorded(chapters)));
  show('/handout', (chapters) => handoutPage(chapters));
  app.get('/preflight', async (request, response) =>
    response.json(preflightForPage(await readDemos(root))),
  );
  app.post(
    '/demos/:name',
    demandToken(token),
    express.json({ limit: '4kb' }),
    (request, response) => answerDemo({ root, performances, request, response }),
  );
  app.get('/changes', (request, response) => followChanges(root, response));
}

/** Connects the speaker's window to the board: its counts, and the vote of the current slide. */
function mountClass(app, { token, board, speakers }) {
  app.get('/class', (request, response) => speakers.add(response));
  app.put('/vote', demandToken(token), express.json({ limit: '4kb' }), (request, response) => {
    const ballot = request.body?.name === undefined ? null : ballotOf(request.body);
    if (!board || ballot === undefined)
      return void response.status(400).type('text').send('That is no vote.\n');
    board.showVote(ballot);
    response.status(204).end();
  });
}

/** Performs a demo for a page, in a JSON object a line, until the page closes the request. */
async function answerDemo({ root, performances, request, response }) {
  const demo = (await readDemos(root)).find(({ name }) => name === request.params.name);
  if (!demo) return void response.status(404).type('text').send('There is no such demo.\n');
  const { votes = [] } = request.body ?? {};
  if (!areVotes(votes)) return void response.status(400).type('text').send('Those are no votes.\n');
  const end = new AbortController();
  response.on('close', () => end.abort());
  response.type('application/x-ndjson');
  const write = (message) => response.writable && response.write(`${JSON.stringify(message)}\n`);
  const done = perform(demo, { root, votes, send: write, signal: end.signal });
  const performance = { end, done };
  performances.add(performance);
  await done;
  performances.delete(performance);
  response.end();
}

/** Sends a page an event when a file of the deck has changed. */
function followChanges(root, response) {
  response.type('text/event-stream');
  response.write(': waiting\n\n');
  let timer;
  const tell = () => {
    clearTimeout(timer);
    timer = setTimeout(() => response.write('data: changed\n\n'), CALM_MS);
  };
  const watchers = ['slides', 'solutions', 'lib/deck/client', 'lib/web/client']
    .map((name) => join(root, name))
    .filter((folder) => existsSync(folder))
    .map((folder) => watchRecursive(folder, tell));
  response.on('close', () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  });
}
