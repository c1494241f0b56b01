/** The door of the board: a learner's machine takes a seat with the code of the day, says where it is, and leaves. */
import express from 'express';
import { nameOf } from './learner-names.js';
import { createRateLimiter } from './rate-limiter.js';
import { reportOf } from './class-roster.js';
import { isSame } from '../web/server.js';

const MOST_BYTES = '2kb';

/** From one address: all it asks, its wrong codes, its joins. From one seat: what it says. */
const RATES = {
  requests: { most: 300, perSecond: 50 },
  wrong: { most: 20, perSecond: 0.2 },
  joins: { most: 80, perSecond: 1 },
  reports: { most: 30, perSecond: 3 },
};

/** What is read of a request, at the most. */
export const json = express.json({ limit: MOST_BYTES });

/** Case and hyphens do not count. @param {string} code */
const plain = (code) => code.toUpperCase().replaceAll('-', '');

/**
 * What a learner's machine may ask. Nothing that is sent without the code, or without a seat, is read.
 * @param {object} options
 * @param {ReturnType<typeof import('./class-roster.js').createRoster>} options.seats
 * @param {import('./class-roster.js').Subject[]} options.subjects
 * @param {ReturnType<typeof import('./votes.js').createVotes>} options.votes
 * @param {string} options.code
 * @param {() => void} options.tell  the board shows something else now
 * @param {() => number} options.now  in ms
 * @returns {import('express').Router}
 */
export function joining({ seats, subjects, votes, code, tell, now }) {
  const app = express.Router();
  const rates = Object.fromEntries(
    Object.entries(RATES).map(([name, rate]) => [name, createRateLimiter({ ...rate, now })]),
  );
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
    const vote = votes.openTo(response.locals.seat);
    if (vote) response.json({ vote });
    else response.status(204).end();
  });
  app.post('/vote', slowly, demandSeat, json, (request, response) => {
    if (!votes.cast(response.locals.seat, request.body ?? {}))
      return refuse(response, 409, 'This vote is over.');
    tell();
    response.status(204).end();
  });
  app.delete('/seat', slowly, demandSeat, (request, response) => {
    seats.leave(response.locals.seat);
    if (seats.sweep()) tell();
    response.status(204).end();
  });
  return app;
}
