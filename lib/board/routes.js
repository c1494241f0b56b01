/** What a learner's machine may request of the board: a seat, by the code of the day; to report, to vote, and to leave. */
import express from 'express';
import { parseName } from './learner-names.js';
import { createRateLimiter } from './rate-limiter.js';
import { parseReport } from './reports.js';
import { isSame } from '../web/server.js';

const MOST_BYTES = '2kb';

/** requests, wrong codes and joins are counted by address, reports by seat. */
const RATES = {
  requests: { most: 300, perSecond: 50 },
  wrongCodes: { most: 20, perSecond: 0.2 },
  joins: { most: 80, perSecond: 1 },
  reports: { most: 30, perSecond: 3 },
};

/** Parses a short body. */
export const json = express.json({ limit: MOST_BYTES });

/**
 * @typedef {object} Joined
 * @property {import('./class-roster.js').Roster} roster @property {import('./class-roster.js').Subject[]} subjects
 * @property {import('./votes.js').Votes} votes
 * @property {() => void} onChange  the board shows something else now
 */

/**
 * The body of a request without the code, or without a seat, isn't read.
 * @param {Joined & { code: string, now: () => number }} options  now: in ms @returns {import('express').Router}
 */
export function joinRoutes({ code, now, ...joined }) {
  const limits = createLimits(now);
  const slowly = demandCalm(limits);
  const seated = [slowly, demandSeat(joined.roster, limits)];
  const router = express.Router();
  router.post('/seats', slowly, demandCode(code, limits), json, takeSeat(joined, limits));
  router.put('/seat', ...seated, json, report(joined));
  router.post('/vote', ...seated, json, vote(joined));
  router.delete('/seat', ...seated, leave(joined));
  return router;
}

/** @returns {Record<keyof typeof RATES, ReturnType<typeof createRateLimiter>>} */
function createLimits(/** @type {() => number} */ now) {
  const limiters = Object.entries(RATES).map(([name, rate]) => [
    name,
    createRateLimiter({ ...rate, now }),
  ]);
  return Object.fromEntries(limiters);
}

const demandCalm = (limits) => (request, response, next) =>
  limits.requests.take(addressOf(request)) ? next() : refuse(response, 429, 'Too much at once.');

const demandCode = (code, limits) => (request, response, next) => {
  const from = addressOf(request);
  const isRight = isSame(plain(request.get('x-forkshop-code') ?? ''), plain(code));
  if (limits.wrongCodes.isEmpty(from))
    return refuse(response, 429, 'Too many wrong codes came from your address. Wait a minute.');
  if (isRight) return next();
  limits.wrongCodes.take(from);
  refuse(response, 403, 'That is not the code of the day.');
};

const demandSeat = (roster, limits) => (request, response, next) => {
  const key = request.get('x-forkshop-seat') ?? '';
  if (roster.wasFreed(key)) return refuse(response, 410, 'The instructor has freed your seat.');
  if (!roster.has(key)) return refuse(response, 404, 'You have no seat here: join again.');
  if (!limits.reports.take(key)) return refuse(response, 429, 'Too much at once.');
  response.locals.seat = key;
  next();
};

const takeSeat =
  (/** @type {Joined} */ { roster, onChange }, limits) =>
  (request, response) => {
    const from = addressOf(request);
    const name = parseName(request.body?.name);
    if (!name) return refuse(response, 400, 'That is not a name of at most 24 letters.');
    if (!limits.joins.take(from))
      return refuse(response, 429, 'Too many have joined from your address. Wait a minute.');
    if (roster.isClosed(from))
      return refuse(response, 429, 'The instructor has closed the board to your address for now.');
    const seat = roster.join(name, from);
    if (!seat) return refuse(response, 503, 'The board is full.');
    onChange();
    response.status(201).json(seat);
  };

/** The answer has the open vote, so that a learner's machine needs no second request. */
const report = (/** @type {Joined} */ { roster, subjects, votes, onChange }) => {
  const stranger = 'This lesson is not known here; is it the same version of the workshop?';
  return (request, response) => {
    const { seat } = response.locals;
    const given = parseReport(request.body, subjects);
    if (!given) return refuse(response, 400, stranger);
    if (roster.record(seat, given)) onChange();
    const open = votes.openTo(seat);
    if (open) response.json({ vote: open });
    else response.status(204).end();
  };
};

const vote =
  (/** @type {Joined} */ { votes, onChange }) =>
  (request, response) => {
    if (!votes.cast(response.locals.seat, request.body ?? {}))
      return refuse(response, 409, 'This vote is over.');
    onChange();
    response.status(204).end();
  };

const leave =
  (/** @type {Joined} */ { roster, onChange }) =>
  (request, response) => {
    roster.leave(response.locals.seat);
    if (roster.sweep()) onChange();
    response.status(204).end();
  };

const addressOf = (request) => request.socket.remoteAddress ?? '';

/** Case and hyphens don't count. @param {string} code */
const plain = (code) => code.toUpperCase().replaceAll('-', '');

const refuse = (response, /** @type {number} */ status, /** @type {string} */ words) =>
  void response.status(status).type('text').send(`${words}\n`);
