/**
 * The local web server: the deck, the speaker's page, the demos. It answers on the loopback interface only, to its own
 * Host and Origin only, and starts a process only for who has read the page (the token in it).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { UsageError } from '../common/usage-error.js';
import { readDeck } from './deck.js';
import { followFolder } from './follow.js';
import { contentPolicy, deckPage, handoutPage, printPage, speakerPage } from './pages.js';
import { watchCrowd } from '../measure/conditions.js';
import { preflight } from './preflight.js';
import { findRecording, readDemos, readRecordings } from './recordings.js';
import { perform } from './stage.js';

const HOST = '127.0.0.1';
const CALM_MS = 80; // an editor writes a file in several steps
export const clientFolder = fileURLToPath(new URL('client', import.meta.url));
export const revealFolder = dirname(createRequire(import.meta.url).resolve('reveal.js'));

/**
 * @param {{ root: string, port?: number }} options  port 0: any that is free
 * @returns {Promise<{ url: string, token: string, close: () => Promise<void> }>}
 * @throws {UsageError}  when the port is taken
 */
export async function serveDeck({ root, port = 0 }) {
  const token = randomBytes(18).toString('base64url');
  const performances = new Set();
  watchCrowd(); // a demo asks how busy it was before
  const app = express();
  const server = createServer(app);
  const authority = () => /** @type {import('node:net').AddressInfo} */ (server.address()).port;
  app.disable('x-powered-by');
  app.use(guard(authority), headers);
  app.use('/client', express.static(clientFolder, { index: false, redirect: false }));
  app.use('/reveal', express.static(revealFolder, { index: false, redirect: false }));
  app.get('/recordings/:name.json', (request, response, next) => {
    const recording = findRecording(root, request.params.name);
    if (recording) response.json(recording);
    else next();
  });
  app.get('/', (request, response) => send(response, () => deckPage(readDeck(root), { token })));
  app.get('/speaker', (request, response) =>
    send(response, () => speakerPage(readDeck(root), { token })),
  );
  app.get('/print', (request, response) =>
    send(response, () => {
      const chapters = readDeck(root);
      const recordings = readRecordings(root, chapters);
      return printPage(chapters, { hasNotes: request.query.notes !== undefined, recordings });
    }),
  );
  app.get('/handout', (request, response) =>
    send(response, () => {
      const chapters = readDeck(root);
      return handoutPage(chapters, { recordings: readRecordings(root, chapters) });
    }),
  );
  app.get('/preflight', async (request, response) =>
    response.json(preflight(await readDemos(root))),
  );
  app.post('/demos/:name', (request, response) =>
    answerDemo({ root, token, performances, request, response }),
  );
  app.get('/changes', (request, response) => followChanges(root, response));
  app.use(
    (request, response) => void response.status(404).type('text').send('There is no such page.\n'),
  );
  app.use(tellFault);
  await listen(server, port);
  return {
    url: `http://${HOST}:${authority()}/`,
    token,
    async close() {
      for (const { end } of performances) end.abort();
      await Promise.all([...performances].map(({ done }) => done));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An address that cannot be read, or a fault of ours: whoever asked learns no more than that. */
function tellFault(error, request, response, next) {
  const isTheirs = error.status >= 400 && error.status < 500;
  if (!isTheirs) console.error(error);
  if (response.headersSent) return next(error);
  const words = isTheirs ? 'This cannot be understood.\n' : 'That went wrong; see the terminal.\n';
  response
    .status(isTheirs ? error.status : 500)
    .type('text')
    .send(words);
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new UsageError(
          `Port ${port} is taken.`,
          `Choose another: npm run slides -- --port ${port + 1}`,
        ),
      );
    });
    server.listen(port, HOST, resolve);
  });
}

/** A page of another origin, or a name that leads here by DNS, gets nothing. */
function guard(portOf) {
  return (request, response, next) => {
    const names = [`${HOST}:${portOf()}`, `localhost:${portOf()}`];
    const { host, origin } = request.headers;
    const isOurs =
      names.includes(host) && (!origin || names.includes(origin.replace('http://', '')));
    if (isOurs) return next();
    response.status(403).type('text').send('This server answers only to its own address.\n');
  };
}

function headers(request, response, next) {
  response.set({
    'Content-Security-Policy': `${contentPolicy}; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  });
  next();
}

/** A page, or in plain words why there is none; a mistake in a slide must not end the class. */
function send(response, make) {
  try {
    response.type('html').send(make());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    response.status(500).type('text').send(`${error.message}\n${error.hint}\n`);
  }
}

/** Performs a demo; its watcher gets a JSON object a line, and when he goes, it ends. */
async function answerDemo({ root, token, performances, request, response }) {
  if (!isSame(request.get('x-forkshop-token') ?? '', token))
    return void response
      .status(403)
      .type('text')
      .send('Reload the page: its token is not valid.\n');
  const demo = (await readDemos(root)).find(({ name }) => name === request.params.name);
  if (!demo) return void response.status(404).type('text').send('There is no such demo.\n');
  const end = new AbortController();
  response.on('close', () => end.abort());
  response.type('application/x-ndjson');
  const write = (message) => response.writable && response.write(`${JSON.stringify(message)}\n`);
  const done = perform(demo, { root, send: write, signal: end.signal });
  const performance = { end, done };
  performances.add(performance);
  await done;
  performances.delete(performance);
  response.end();
}

function isSame(given, wanted) {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Tells a page (server-sent events) when what it shows has changed. */
function followChanges(root, response) {
  response.type('text/event-stream');
  response.write(': waiting\n\n');
  let timer;
  const tell = () => {
    clearTimeout(timer);
    timer = setTimeout(() => response.write('data: changed\n\n'), CALM_MS);
  };
  const watchers = ['slides', 'solutions', 'lib/web/client']
    .map((name) => join(root, name))
    .filter((folder) => existsSync(folder))
    .map((folder) => followFolder(folder, tell));
  response.on('close', () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  });
}
