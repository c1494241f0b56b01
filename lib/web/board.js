/**
 * The board of a class. Its page is for this machine only; where learners are to join from others, a second server
 * listens at the address that was told, which takes what they say and gives out nothing.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 */
import { randomInt } from 'node:crypto';
import express from 'express';
import { checkFile, loadCheck } from '../check/definitions.js';
import { boardPage } from './board-page.js';
import { createRate } from './rate.js';
import { nameOf } from './names.js';
import { createSeats, reportOf } from './seats.js';
import { LOOPBACK, demandToken, isSame, openServer, send } from './server.js';
import { createStream } from './stream.js';

const AWAY_MS = 30_000; // a learner's machine says something every ten seconds
const CALM_MS = 100; // many say something at once: the board is told once
const MOST_BYTES = '2kb';
/** Without the code too, nobody keeps others out: not by connections that say nothing, and not for long. */
const LIMITS = {
  ...{ maxConnections: 500, mostFromOne: 150 }, // more than the seats: a class may be behind one address
  ...{ headersTimeout: 3_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 },
};
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'; // none is mistaken for another
const CODE_LENGTH = 8;

const json = express.json({ limit: MOST_BYTES });

/** From one address: all it asks, its wrong codes, its joins. From one seat: what it says. */
const RATES = {
  requests: { most: 300, perSecond: 50 },
  wrong: { most: 20, perSecond: 0.2 },
  joins: { most: 80, perSecond: 1 },
  reports: { most: 30, perSecond: 3 },
};

/**
 * @param {object} options
 * @param {string} options.root
 * @param {Lesson[]} options.lessons
 * @param {string} [options.host]  an address of this machine, for those who join; the loopback interface unless told
 * @param {number} [options.port]  0: any that is free
 * @param {number} [options.awayMs]  after such a silence somebody is away
 * @param {() => number} [options.now]  in ms; a test has its own clock
 * @returns {Promise<{ url: string, address: string, code: string, watching: () => number, close: () => Promise<void> }>}
 *   url: of the board's page; address: where to join
 * @throws {import('../common/usage-error.js').UsageError}  when the port is taken, or no such address is here
 */
export async function serveBoard({ root, lessons, host = LOOPBACK, port = 0, ...time }) {
  const { awayMs = AWAY_MS, now = () => performance.now() } = time;
  const code = newCode();
  const subjects = await Promise.all(lessons.map((lesson) => subjectOf(root, lesson)));
  const seats = createSeats({ lessons: subjects, awayMs, now });
  const pages = createStream(() => seats.told());
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      pages.tell();
    }, CALM_MS);
  };
  const rates = Object.fromEntries(
    Object.entries(RATES).map(([name, rate]) => [name, createRate({ ...rate, now })]),
  );
  const joining = { seats, subjects, code, tell, rates };
  const common = {
    limits: LIMITS,
    another: (/** @type {number} */ taken) => `Another: npm run board -- --port ${taken + 1}`,
  };
  const isForAll = host !== LOOPBACK;
  let address = '';
  const own = await openServer({
    ...{ ...common, port },
    mount(app, token) {
      app.get('/', (request, response) =>
        send(response, () => boardPage({ address, code, token })),
      );
      app.get('/events', (request, response) => pages.add(response));
      app.post('/free', demandToken(token), json, (request, response) => {
        const isFree = seats.free(request.body ?? {});
        if (isFree) tell();
        response.status(isFree ? 204 : 404).end();
      });
      mountJoining(app, joining);
    },
  });
  const others = isForAll
    ? await openServer({
        ...{ ...common, host, hasPages: false, port: Number(new URL(own.url).port) },
        mount: (app) => mountJoining(app, joining),
      }).catch(async (error) => {
        await own.close();
        throw error;
      })
    : undefined;
  address = new URL((others ?? own).url).host;
  const sweeper = setInterval(() => seats.sweep() && tell(), awayMs / 4).unref();
  return {
    ...{ url: own.url, address, code, watching: pages.watching },
    async close() {
      clearInterval(sweeper);
      clearTimeout(timer);
      pages.close();
      await Promise.all([own.close(), others?.close()]);
    },
  };
}

async function subjectOf(root, { key, number, title }) {
  const { promises } = await loadCheck(checkFile(root, key)).catch(() => ({ promises: {} })); // told when it is run
  return { key, number, title, promises };
}

/** Eight letters and digits, as in K7QM-3XPD. */
function newCode() {
  const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]);
  letters.splice(CODE_LENGTH / 2, 0, '-');
  return letters.join('');
}

/** Case and hyphens do not count. @param {string} code */
const plain = (code) => code.toUpperCase().replaceAll('-', '');

/** What a learner's machine may ask. Whoever lacks the code, or a seat, gets none of what he sends read. */
function mountJoining(app, { seats, subjects, code, tell, rates }) {
  const from = (request) => request.socket.remoteAddress ?? '';
  const refuse = (response, status, words) =>
    void response.status(status).type('text').send(`${words}\n`);

  const slowly = (request, response, next) =>
    rates.requests.take(from(request)) ? next() : refuse(response, 429, 'Too much at once.');

  const demandCode = (request, response, next) => {
    const given = plain(request.get('x-forkshop-code') ?? '');
    const isRight = isSame(given, plain(code));
    if (rates.wrong.isEmpty(from(request)))
      return refuse(response, 429, 'Too many wrong codes came from your address. Wait a minute.');
    if (isRight) return next();
    rates.wrong.take(from(request));
    refuse(response, 403, 'That is not the code of the day.');
  };

  const demandSeat = (request, response, next) => {
    const key = request.get('x-forkshop-seat') ?? '';
    if (seats.wasFreed(key)) return refuse(response, 410, 'The instructor has freed your seat.');
    if (!seats.has(key)) return refuse(response, 404, 'You have no seat here: join again.');
    if (!rates.reports.take(key)) return refuse(response, 429, 'Too much at once.');
    response.locals.seat = key;
    next();
  };

  app.post('/seats', slowly, demandCode, json, (request, response) => {
    const name = nameOf(request.body?.name);
    if (!name) return refuse(response, 400, 'That is not a name of at most 24 letters.');
    if (!rates.joins.take(from(request)))
      return refuse(response, 429, 'Too many have joined from your address. Wait a minute.');
    if (seats.isClosed(from(request)))
      return refuse(response, 429, 'The instructor lets nobody join from your address just now.');
    const seat = seats.join(name, from(request));
    if (!seat) return refuse(response, 503, 'The board is full.');
    tell();
    response.status(201).json(seat);
  });
  app.put('/seat', slowly, demandSeat, json, (request, response) => {
    const report = reportOf(request.body, subjects);
    if (!report)
      return refuse(
        response,
        400,
        'This lesson is not known here; is it the same version of the workshop?',
      );
    if (seats.tell(response.locals.seat, report)) tell();
    response.status(204).end();
  });
  app.delete('/seat', slowly, demandSeat, (request, response) => {
    seats.leave(response.locals.seat);
    if (seats.sweep()) tell();
    response.status(204).end();
  });
}
