// Verifies the board of a class without a browser: its rows and seats, what a learner's machine sends and what never leaves
// it, and that a wrong code, a huge name, a thousand joins and a foreign page do no harm.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { spawnOurs } from '../lib/common/child.js';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { parseAddress } from '../lib/cli/address.js';
import { joinClass } from '../lib/cli/join-class.js';
import { serveBoard } from '../lib/board/serve.js';
import { joinBoard } from '../lib/board/join-board.js';
import { createRateLimiter } from '../lib/board/rate-limiter.js';
import { skeletonOf, parseName } from '../lib/board/learner-names.js';
import { Roster } from '../lib/board/class-roster.js';
import { parseReport } from '../lib/board/reports.js';
import { ballotOf, Votes, ownBallotOf } from '../lib/board/votes.js';
import { dispatched, ioOf, keys, makeRoot, write } from './fixture-root.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

/** @typedef {import('node:test').TestContext} Context */

const lessons = listLessons(rootFolder);
const [first, second] = lessons;
const AWAY_MS = 40;

/** @type {import('../lib/board/class-roster.js').Subject[]} */
const subjects = [
  {
    ...{ key: 'a', number: 1, title: 'One', promises: { p: 'it does p', q: 'it does q' } },
    taskOf: { q: 1, p: 2 },
  },
  { key: 'b', number: 2, title: 'Two', promises: { r: 'it does r' } },
];
const report = (/** @type {object} */ more = {}) => ({
  ...{
    lesson: 'a',
    state: /** @type {const} */ ('failed'),
    failed: ['p'],
    kept: ['q'],
    hand: false,
  },
  ...more,
});

function makeSeats() {
  const clock = { ms: 0 };
  const seats = new Roster({ lessons: subjects, awayMs: AWAY_MS, now: () => clock.ms });
  const sit = (/** @type {string} */ name, /** @type {any} */ told = report(), from = 'here') => {
    const { seat = '', name: given = '' } = seats.join(name, from) ?? {};
    if (seat) seats.record(seat, told);
    return { seat, given };
  };
  return { clock, seats, sit };
}

describe('the seats of a class', () => {
  test('lists rows by lesson, learners by name, promises by failures, hands in the order they were raised', () => {
    const { clock, seats, sit } = makeSeats();
    sit('Zoe', report({ failed: ['p', 'q'] }));
    sit('Ada', report({ failed: ['q'], hand: true }));
    clock.ms = 1;
    sit('Bob', report({ lesson: 'b', state: 'passed', failed: [], hand: true }));
    seats.join('Silent', 'here');
    const { here, away, hands, lessons: rows } = seats.snapshot();
    assert.deepEqual([here, away], [3, 0]);
    assert.deepEqual(hands, [
      { name: 'Ada', number: 1 },
      { name: 'Bob', number: 2 },
    ]);
    assert.deepEqual(
      rows.map(({ number, learners }) => [number, learners.map(({ name }) => name)]),
      [
        [1, ['Ada', 'Zoe']],
        [2, ['Bob']],
      ],
    );
    assert.deepEqual(rows[0].fails, [
      { sentence: 'it does q', count: 2 },
      { sentence: 'it does p', count: 1 },
    ]);
  });

  test('a silent learner is away, is not counted, and can return', () => {
    const { clock, seats, sit } = makeSeats();
    const { seat } = sit('Ada', report({ hand: true }));
    assert.equal(seats.sweep(), false);
    assert.equal(seats.record(seat, report({ hand: true })), false, 'nothing new');
    clock.ms = AWAY_MS + 1;
    assert.deepEqual([seats.sweep(), seats.sweep()], [true, false]);
    const { here, away, hands, lessons: rows } = seats.snapshot();
    assert.deepEqual([here, away, hands, rows[0].fails], [0, 1, [], []]);
    assert.equal(rows[0].learners[0].away, true);
    assert.equal(seats.record(seat, report({ hand: true })), true);
    assert.deepEqual([seats.snapshot().here, seats.snapshot().hands.length], [1, 1]);
    seats.leave(seat);
    assert.deepEqual([seats.snapshot().away, seats.sweep()], [1, true]);
  });

  test('two learners with one name are distinguished; a returning learner takes the old seat', () => {
    const { clock, seats, sit } = makeSeats();
    assert.deepEqual(
      [sit('Ada'), sit('Ada'), sit('Ada')].map(({ given }) => given),
      ['Ada', 'Ada 2', 'Ada 3'],
    );
    clock.ms = AWAY_MS + 1;
    assert.equal(sit('Ada').given, 'Ada');
    assert.deepEqual([seats.snapshot().here, seats.snapshot().away], [1, 2]);
  });

  test('there is room for 60 from one address and 120 in all; absent learners make room', () => {
    const { clock, seats, sit } = makeSeats();
    const sat = (/** @type {string} */ from, count = 70) =>
      Array.from({ length: count }, (_, index) => sit(`${from} ${index}`, report(), from)).filter(
        ({ seat }) => seat,
      ).length;
    assert.deepEqual([sat('x'), sat('y'), sat('z')], [60, 60, 0]);
    clock.ms = AWAY_MS + 1;
    assert.equal(sat('z', 3), 3);
    assert.deepEqual([seats.snapshot().here, seats.snapshot().away], [3, 117]);
  });

  test('seats that have never reported make room first, then absent ones', () => {
    const { clock, seats, sit } = makeSeats();
    const [first, second] = [sit('first'), sit('second')];
    for (let index = 2; index < 60; index += 1) seats.join(`silent ${index}`, 'here');
    assert.equal(sit('too early').seat, '', 'each may be about to say something');
    clock.ms = 5_001;
    for (let index = 2; index < 60; index += 1) assert.ok(sit(`late ${index}`).seat);
    assert.deepEqual([seats.has(first.seat), seats.has(second.seat)], [true, true]);
    assert.ok(sit('one more').seat);
    assert.deepEqual([seats.has(first.seat), seats.has(second.seat)], [false, true]);
  });

  test('the instructor sees all seats by address, and frees one or all of an address', () => {
    const { clock, seats, sit } = makeSeats();
    const ada = sit('Ada');
    clock.ms = AWAY_MS + 1;
    seats.join('Silent', 'there');
    const eve = sit('Eve', report(), 'there');
    assert.deepEqual(seats.snapshot().seats, [
      {
        from: 'there',
        seats: [
          { id: 3, name: 'Eve', state: 'here' },
          { id: 2, name: 'Silent', state: 'silent' },
        ],
      },
      { from: 'here', seats: [{ id: 1, name: 'Ada', state: 'away' }] },
    ]);
    for (const none of [{}, { id: 9 }, { id: '1' }, { from: 'nowhere' }, { from: {} }])
      assert.equal(seats.free(none), false, JSON.stringify(none));
    assert.equal(seats.free({ id: 1 }), true);
    assert.deepEqual([seats.has(ada.seat), seats.wasFreed(ada.seat)], [false, true]);
    assert.deepEqual([seats.has(eve.seat), seats.isClosed('here')], [true, false]);
    assert.equal(seats.free({ from: 'there' }), true);
    assert.deepEqual([seats.snapshot().seats, seats.isClosed('there')], [[], true]);
    clock.ms += 300_001;
    assert.equal(seats.isClosed('there'), false);
  });

  test('names that look alike on a projector are distinguished', () => {
    const { clock, seats, sit } = makeSeats();
    const alike = ['Ada', 'ada', '\u0410d\u0430', '\uff21da', 'A\u00adda', '\u0391da'];
    assert.deepEqual(
      alike.map((name) => sit(String(parseName(name))).given),
      ['Ada', 'ada 2', '\u0410d\u0430 3', 'Ada 4', 'Ada 5', '\u0391da 6'],
    );
    clock.ms = AWAY_MS + 1;
    assert.equal(
      sit('\u0410d\u0430').given,
      '\u0410d\u0430 7',
      'a seat is taken over by its own name only',
    );
    assert.equal(sit('ADA').given, 'ADA', 'in any case');
    assert.equal(seats.snapshot().away, 5);
    assert.equal(skeletonOf('Alan 10'), skeletonOf('AIan lO'));
    assert.notEqual(skeletonOf('Zoë'), skeletonOf('Zoe'));
  });

  test('a name is one short line of letters', () => {
    assert.equal(parseName('  Zoë \n O’Neill '), 'Zoë O’Neill');
    assert.equal(parseName('a\u202eb\u0000c\u001b[2J'), 'abc[2J');
    assert.equal(parseName('\u3164Ada\ufe0f\u2800\u{e0041}'), 'Ada');
    for (const unseen of ['\u3164', '\u115f\u1160', '\uffa0', '\u2800', '\u034f', '\u{e0041}'])
      assert.equal(parseName(unseen), undefined, escape(unseen));
    for (const bad of ['', ' ', '\u200b', '...', 'x'.repeat(25), 'x'.repeat(1e6), 7, null, ['Ada']])
      assert.equal(parseName(bad), undefined, String(bad).slice(0, 30));
  });

  test('a report keeps only fields that this machine knows', () => {
    const told = {
      ...report({ failed: ['p', 'p', 'x', '<b>', {}] }),
      code: 'const a = 1',
      hand: 1,
    };
    assert.deepEqual(parseReport(told, subjects), report({ stood: null }));
    for (const [stood, known] of [
      [0, 0],
      [6, 6],
      [-1, null],
      [1.5, null],
      [1e3, null],
      ['6', null],
    ])
      // prettier-ignore
      assert.equal(parseReport(report({ stood }), subjects)?.stood, known);
    const bad = [{ lesson: 'c' }, { state: 'great' }, { failed: 'p' }, { kept: 'p' }].concat(
      /** @type {any} */ ({ lesson: '__proto__' }),
    );
    for (const one of bad) assert.equal(parseReport({ ...report(), ...one }, subjects), undefined);
    for (const one of [undefined, null, 'x', []])
      assert.equal(parseReport(one, subjects), undefined);
  });

  test('counts the present learners who have each task, including those in a later lesson', () => {
    const { clock, seats, sit } = makeSeats();
    const { seat } = sit('Ada', report({ failed: [], kept: ['p', 'q'] }));
    sit('Bob');
    sit('Eve', report({ kept: [] }));
    seats.join('Silent', 'here');
    assert.deepEqual(seats.progress(), {
      here: 3,
      tasks: {
        a: [
          { number: 1, name: 'task 1', count: 2 },
          { number: 2, name: 'task 2', count: 1 },
        ],
        b: [],
      },
    });
    clock.ms = AWAY_MS + 1;
    seats.record(seat, report({ lesson: 'b', failed: [], kept: ['r'] }));
    const { here, tasks } = seats.progress();
    assert.deepEqual([here, tasks.a.map(({ count }) => count)], [1, [1, 1]]);
  });

  test('a bucket holds a number of tokens and is refilled', () => {
    const clock = { ms: 0 };
    const rate = createRateLimiter({ most: 2, perSecond: 1, now: () => clock.ms });
    assert.deepEqual([rate.take('a'), rate.take('a'), rate.take('a')], [true, true, false]);
    assert.deepEqual([rate.isEmpty('a'), rate.isEmpty('b'), rate.take('b')], [true, false, true]);
    clock.ms = 1_000;
    assert.deepEqual([rate.take('a'), rate.take('a')], [true, false]);
    for (let index = 0; index < 2_000; index += 1) rate.take(`n${index}`);
    assert.equal(rate.isEmpty('a'), false, 'long forgotten');
  });
});

const ballot = {
  name: 'lesson-a',
  title: 'How many?',
  questions: [
    { asks: 'With one?', options: ['one', 'two'] },
    { asks: 'With four?', options: ['one', 'two', 'more'] },
  ],
};

describe('the votes of a class', () => {
  test('each seat has one vote for an open question, which it can change or take back', () => {
    const seats = new Set(['ada', 'bob']);
    const votes = new Votes((key) => seats.has(key));
    const name = ballot.name;
    assert.equal(votes.cast('ada', { name, question: 0, option: 0 }), false, 'no vote is open');
    assert.equal(votes.openTo('ada'), null);
    votes.show({ ...ballot, questions: ballot.questions.slice(0, 1) });
    assert.equal(votes.cast('ada', { name, question: 1, option: 0 }), false, 'not asked yet');
    votes.show(ballot);
    for (const option of [0, 0, 1]) assert.ok(votes.cast('ada', { name, question: 0, option }));
    assert.ok(votes.cast('bob', { name, question: 0, option: 1 }));
    assert.deepEqual(votes.counts(), { [name]: [0, 2, null, null, null] });
    assert.deepEqual(votes.openTo('ada'), { ...ballot, chosen: [1, null] });
    assert.ok(votes.cast('bob', { name, question: 0, option: null }));
    assert.ok(votes.cast('bob', { name, question: 1, option: 2 }));
    assert.deepEqual(votes.counts()[name], [0, 1, 0, 0, 1]);
    votes.show(null);
    assert.equal(votes.cast('ada', { name, question: 0, option: 0 }), false, 'it is over');
    assert.deepEqual(votes.counts()[name], [0, 1, 0, 0, 1], 'and stays counted');
    votes.show({ ...ballot, questions: ballot.questions.slice(0, 1) });
    assert.deepEqual(votes.openTo('bob')?.chosen, [null], 'opened again it knows the votes');
    assert.equal(votes.counts()[name].length, 5);
    seats.delete('ada');
    assert.deepEqual(votes.counts()[name], [null, null, 0, 0, 1], 'the seat was freed');
  });

  test('an invalid vote is refused', () => {
    const votes = new Votes(() => true);
    votes.show(ballot);
    const right = { name: ballot.name, question: 0, option: 0 };
    for (const wrong of [
      ...[
        { name: 'other' },
        { question: 2 },
        { question: -1 },
        { question: '0' },
        { question: {} },
      ],
      ...[{ option: 2 }, { option: -1 }, { option: '0' }, { option: 0.5 }, { option: undefined }],
      ...[{ question: '__proto__' }, { option: 'length' }, { question: null }],
    ])
      assert.equal(votes.cast('ada', { ...right, ...wrong }), false, JSON.stringify(wrong));
    assert.deepEqual(votes.counts()[ballot.name], [null, null, null, null, null]);
    const long = 'x'.repeat(121);
    for (const wrong of [
      ...[
        { name: 7 },
        { title: long },
        { questions: [] },
        { questions: 'x' },
        { questions: [null] },
      ],
      ...[{ questions: Array(7).fill(ballot.questions[0]) }],
      ...[
        { questions: [{ asks: 'x', options: [] }] },
        { questions: [{ asks: 'x', options: [7] }] },
      ],
    ])
      assert.equal(ballotOf({ ...ballot, ...wrong }), undefined, JSON.stringify(wrong));
    assert.deepEqual(ballotOf({ ...ballot, more: 1 }), ballot);
    for (const text of ['', '{', '{"vote":null}', '{"vote":{}}', JSON.stringify({ vote: ballot })])
      assert.equal(ownBallotOf(text), null, text);
    const chosen = [1, 'x'];
    const own = ownBallotOf(JSON.stringify({ vote: { ...ballot, chosen } }));
    assert.deepEqual(own, { ...ballot, chosen: [1, null] });
  });
});

/** @param {Context} t @param {object} [options] */
async function serve(t, options) {
  const clock = { ms: 0 };
  const now = () => clock.ms;
  const board = await serveBoard({ root: rootFolder, lessons, awayMs: AWAY_MS, now, ...options });
  t.after(board.close);
  return { ...board, clock };
}

/**
 * @param {string} url
 * @param {string} path
 * @param {http.RequestOptions & { body?: string }} [options]
 * @returns {Promise<{ status: number, body: string, headers: http.IncomingHttpHeaders }>}
 */
function ask(url, path, { body, ...options } = {}) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.request({ host: hostname, port, path, ...options }, (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
      );
    });
    request.on('error', reject).end(body);
  });
}

const take = (/** @type {string} */ url, /** @type {string} */ code, name = 'Ada', more = {}) =>
  ask(url, '/seats', {
    method: 'POST',
    headers: { 'x-forkshop-code': code, 'content-type': 'application/json', ...more },
    body: JSON.stringify({ name }),
  });

const say = (/** @type {string} */ url, /** @type {string} */ seat, /** @type {unknown} */ what) =>
  ask(url, '/seat', {
    method: 'PUT',
    headers: { 'x-forkshop-seat': seat, 'content-type': 'application/json' },
    body: typeof what === 'string' ? what : JSON.stringify(what),
  });

/** What the board sends to a page that opens now. @param {string} url @returns {Promise<any>} */
async function shown(url) {
  const request = http.get(`${url}events`);
  const [response] = await once(request, 'response');
  let text = '';
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    if (/^data: .*\n\n/m.test(text)) break;
  }
  request.destroy();
  return JSON.parse(String(/^data: (.*)$/m.exec(text)?.[1]));
}

/** Waits until the board shows it. @param {string} url @param {(told: any) => boolean} holds @returns {Promise<any>} */
async function shows(url, holds) {
  const endMs = performance.now() + limitMs(15);
  for (;;) {
    const told = await shown(url);
    if (holds(told)) return told;
    assert.ok(performance.now() < endMs, `It shows ${JSON.stringify(told)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const failing = { lesson: first.key, state: 'failed', failed: ['listens'], hand: true };

const vote = (
  /** @type {string} */ url,
  /** @type {string} */ seat,
  /** @type {object} */ what,
  more = {},
) =>
  ask(url, '/vote', {
    method: 'POST',
    headers: { 'x-forkshop-seat': seat, 'content-type': 'application/json', ...more },
    body: JSON.stringify(what),
  });

describe('the server of the board', () => {
  test('takes a vote from a seat while one is open, counts it, and keeps its voter secret', async (t) => {
    const board = await serve(t, { awayMs: 1e6 });
    const { url, code } = board;
    const { seat } = JSON.parse((await take(url, code)).body);
    let heard = 0;
    board.follow(() => (heard += 1));
    const mine = { name: ballot.name, question: 1, option: 2 };
    assert.equal((await vote(url, seat, mine)).status, 409, 'no vote is open');
    assert.equal((await say(url, seat, failing)).status, 204);
    board.showVote(ballot);
    const { status, body } = await say(url, seat, failing);
    assert.deepEqual([status, JSON.parse(body).vote], [200, { ...ballot, chosen: [null, null] }]);
    for (const none of ['', 'x', `${seat}x`])
      assert.equal((await vote(url, none, mine)).status, 404, none);
    assert.equal((await vote(url, seat, mine, { origin: 'http://example.com' })).status, 403);
    assert.equal((await vote(url, seat, mine, { host: 'a.example' })).status, 403);
    assert.equal((await vote(url, seat, { ...mine, name: 'x'.repeat(5_000) })).status, 413);
    assert.equal((await vote(url, seat, { ...mine, option: 3 })).status, 409);
    assert.equal((await vote(url, seat, mine)).status, 204);
    assert.equal((await vote(url, seat, { ...mine, option: 1 })).status, 204);
    assert.deepEqual(board.told().votes, { [ballot.name]: [null, null, 0, 1, 0] });
    await until('followers are notified', () => heard > 0);
    assert.equal(JSON.stringify(board.told()).includes('Ada'), false);
    assert.equal(JSON.stringify(await shown(url)).includes(ballot.name), false);
    board.showVote(null);
    assert.equal((await vote(url, seat, mine)).status, 409, 'it is over');
    const statuses = [];
    for (let times = 0; times < 40; times += 1) statuses.push((await vote(url, seat, mine)).status);
    assert.equal(statuses.at(-1), 429);
    assert.deepEqual(board.told().votes[ballot.name], [null, null, 0, 1, 0]);
  });

  test("shows learners who joined with the day's code, in upper or lower case, and who left", async (t) => {
    const { url, code, address } = await serve(t);
    assert.match(code, /^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
    const { body, headers } = await ask(url, '/');
    assert.ok(body.includes(`npm start -- --join ${address} ${code}`));
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    const { status, body: given } = await take(url, code.toLowerCase().replace('-', ''));
    const { seat, name } = JSON.parse(given);
    assert.deepEqual([status, name], [201, 'Ada']);
    assert.equal((await say(url, seat, failing)).status, 204);
    const told = await shown(url);
    assert.deepEqual([told.here, told.hands], [1, [{ name: 'Ada', number: 1 }]]);
    assert.deepEqual(told.lessons[0].learners[0].name, 'Ada');
    const gone = { method: 'DELETE', headers: { 'x-forkshop-seat': seat } };
    assert.equal((await ask(url, '/seat', gone)).status, 204);
    await shows(url, ({ away }) => away === 1);
  });

  test('reports to its page a learner whose connection dropped and who returns', async (t) => {
    const { url, code, clock } = await serve(t);
    const { seat } = JSON.parse((await take(url, code)).body);
    await say(url, seat, failing);
    const request = http.get(`${url}events`);
    t.after(() => request.destroy());
    const [response] = await once(request, 'response');
    let text = '';
    response.setEncoding('utf8').on('data', (/** @type {string} */ part) => (text += part));
    await until('one is here', () => text.includes('"here":1'));
    clock.ms += AWAY_MS + 1;
    await until('and away', () => text.includes('"here":0,"away":1'));
    text = '';
    await say(url, seat, failing);
    await until('and back', () => text.includes('"here":1,"away":0'));
  });

  test('wrong codes are refused, and after several of them the address is ignored for a while', async (t) => {
    const { url, code, clock } = await serve(t);
    for (const wrong of ['', 'AAAA-AAAA', `${code}A`, 'é'.repeat(8)])
      assert.equal((await take(url, encodeURIComponent(wrong))).status, 403, wrong);
    assert.equal((await take(url, code)).status, 201);
    const statuses = [];
    for (let tries = 0; tries < 30; tries += 1) statuses.push((await take(url, 'WRONG')).status);
    assert.deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
    assert.equal((await take(url, code)).status, 429, 'the right one neither');
    clock.ms += 60_000;
    assert.equal((await take(url, code)).status, 201);
  });

  test('a name of 1 MB, invalid JSON, an unknown seat and nonsense are refused', async (t) => {
    const { url, code } = await serve(t);
    assert.equal((await take(url, code, 'x'.repeat(1e6))).status, 413);
    assert.equal((await take(url, 'WRONG', 'x'.repeat(1e6))).status, 403);
    for (const name of ['', 'x'.repeat(99), '\u202e', '\u3164']) {
      const { status, body } = await take(url, code, name);
      assert.deepEqual([status, body], [400, 'That is not a name of at most 24 letters.\n']);
    }
    const { seat } = JSON.parse((await take(url, code)).body);
    for (const bad of [
      '{',
      '[]',
      'null',
      { ...failing, lesson: '../..' },
      { ...failing, state: '' },
    ])
      assert.equal((await say(url, seat, bad)).status, 400, JSON.stringify(bad));
    assert.equal((await say(url, seat, { ...failing, failed: ['x'.repeat(5_000)] })).status, 413);
    for (const none of ['', 'x', `${seat}x`])
      assert.equal((await say(url, none, failing)).status, 404);
    const { here, away, hands, lessons: rows } = await shown(url);
    assert.deepEqual({ here, away, hands, rows }, { here: 0, away: 0, hands: [], rows: [] });
  });

  test('most of a thousand joins are refused, and seated learners stay', async (t) => {
    const { url, code } = await serve(t);
    const { seat } = JSON.parse((await take(url, code, 'Grace')).body);
    await say(url, seat, failing);
    const statuses = new Map();
    for (let group = 0; group < 20; group += 1) {
      const joins = Array.from({ length: 50 }, (_, one) => take(url, code, `n${group} ${one}`));
      for (const { status } of await Promise.all(joins))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.equal(statuses.get(201), 59, 'with Grace 60');
    assert.equal(statuses.get(201) + statuses.get(429) + statuses.get(503), 1_000);
    const { lessons: rows } = await shown(url);
    assert.deepEqual(
      rows[0].learners.map((/** @type {any} */ { name }) => name),
      ['Grace'],
    );
  });

  test('the page frees a seat with its token, and its machine does not rejoin', async (t) => {
    const { url, code, clock } = await serve(t);
    const seatsOf = async () => JSON.parse((await take(url, code, 'Ada')).body).seat;
    const [first, second] = [await seatsOf(), await seatsOf()];
    const { body: html } = await ask(url, '/');
    const token = String(/<meta name="token" content="([\w-]{20,})">/.exec(html)?.[1]);
    const free = (/** @type {unknown} */ which, /** @type {object} */ headers = {}) =>
      ask(url, '/free', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forkshop-token': token, ...headers },
        body: JSON.stringify(which),
      });
    const [{ from, seats }] = (await shown(url)).seats;
    assert.deepEqual([from, seats.length], ['127.0.0.1', 2]);
    for (const headers of [{ 'x-forkshop-token': '' }, { 'x-forkshop-token': code }])
      assert.equal((await free({ id: seats[0].id }, headers)).status, 403);
    assert.equal((await free({ id: seats[0].id }, { origin: 'http://example.com' })).status, 403);
    assert.equal((await free({ id: 99 })).status, 404);
    assert.equal((await free({ id: seats[0].id })).status, 204);
    const { status, body } = await say(url, first, failing);
    assert.deepEqual([status, body], [410, 'The instructor has freed your seat.\n']);
    assert.equal((await say(url, second, failing)).status, 204);
    assert.equal((await free({ from })).status, 204);
    assert.equal((await say(url, second, failing)).status, 410);
    assert.equal((await take(url, code)).status, 429);
    await shows(url, (told) => told.seats.length === 0);
    clock.ms += 300_001;
    assert.equal((await take(url, code)).status, 201);
  });

  test(
    '500 silent or endless connections from one address do not keep others from joining',
    { skip: process.platform !== 'linux' && 'Only Linux has all of 127.0.0.0/8' },
    async (t) => {
      const { code, address } = await serve(t, { host: '127.0.0.3' });
      const { hostname: host, port } = new URL(`http://${address}`);
      const half = `POST /seats HTTP/1.1\r\nHost: ${address}\r\nContent-Length: 9`;
      const crowd = Array.from({ length: 500 }, (_, index) => {
        const options = { host, port: Number(port), localAddress: '127.0.0.4' };
        const socket = net.connect(options, () => index % 2 && socket.write(half));
        return socket.on('error', () => {}).resume();
      });
      t.after(() => crowd.forEach((socket) => socket.destroy()));
      await Promise.all(crowd.map((socket) => once(socket, 'connect')));
      const joined = await ask(`http://${address}/`, '/seats', {
        ...{ method: 'POST', localAddress: '127.0.0.2', body: '{"name":"Ada"}' },
        headers: { 'x-forkshop-code': code, 'content-type': 'application/json' },
      });
      assert.equal(joined.status, 201);
      const open = () =>
        crowd.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
      assert.ok(open() <= 150, `${open()} are open`);
      await until('the remaining connections are given up', () => open() === 0, limitMs(15));
    },
  );

  test('a learner who sends too much is ignored for a while', async (t) => {
    const { url, code } = await serve(t);
    const { seat } = JSON.parse((await take(url, code)).body);
    const statuses = [];
    for (let times = 0; times < 40; times += 1)
      statuses.push((await say(url, seat, failing)).status);
    assert.deepEqual([statuses[0], statuses.at(-1)], [204, 429]);
  });

  test('a foreign page and a foreign host name get nothing', async (t) => {
    const { url, code } = await serve(t);
    for (const more of [
      { origin: 'http://example.com' },
      { origin: 'null' },
      { host: 'a.example' },
    ])
      assert.equal((await take(url, code, 'Ada', more)).status, 403, JSON.stringify(more));
    const headers = { host: 'a.example' };
    for (const path of ['/', '/events'])
      assert.equal((await ask(url, path, { headers })).status, 403);
    assert.equal((await ask(url, '/seats')).status, 404);
  });

  test(
    'a separate address for joining accepts reports and shows nothing',
    { skip: process.platform !== 'linux' && 'Only Linux has 127.0.0.2 as it is' },
    async (t) => {
      const { url, code, address } = await serve(t, { host: '127.0.0.2' });
      const there = `http://${address}/`;
      assert.match(there, /^http:\/\/127\.0\.0\.2:\d+\/$/);
      assert.equal((await take(there, code)).status, 201);
      for (const path of ['/', '/events', '/board/client/board.js', '/web/client/elements.js'])
        assert.equal((await ask(there, path)).status, 404, path);
      assert.equal((await take(there, code, 'Ada', { host: 'a.example' })).status, 403);
      assert.equal((await take(there, 'WRONG')).status, 403);
      assert.equal((await ask(url, '/')).status, 200);
    },
  );
});

describe("a learner's machine", () => {
  const start = {
    lesson: second.key,
    state: /** @type {const} */ ('reading'),
    ...{ failed: [], kept: [], hand: false },
  };

  /** @param {Context} t @param {{ url: string, code: string }} board @param {object} [options] */
  function sit(t, { url, code }, options) {
    const said = /** @type {string[]} */ ([]);
    const line = joinBoard({
      ...{ url, code, name: 'Ada', report: start, beatMs: 1e6, waitMs: limitMs(15) },
      ...{ say: (/** @type {string} */ words) => void said.push(words) },
      ...options,
    });
    t.after(() => line.close());
    return { line, said };
  }

  test('reports its position, its changes, and that it leaves', async (t) => {
    const board = await serve(t, { awayMs: 1e6 });
    const { line, said } = sit(t, board);
    await shows(board.url, ({ here }) => here === 1);
    line.update({ state: 'failed', failed: ['one-port'] });
    line.update({ hand: true });
    const told = await shows(board.url, ({ hands }) => hands.length === 1);
    assert.deepEqual(
      told.lessons[0].fails.map((/** @type {any} */ { count }) => count),
      [1],
    );
    await line.close();
    await shows(board.url, ({ away }) => away === 1);
    assert.deepEqual(said, [`You are on the board at ${board.url} as Ada.`]);
  });

  test('learns of a vote and its end, and casts it', async (t) => {
    const board = await serve(t, { awayMs: 1e6 });
    const ballots = /** @type {any[]} */ ([]);
    const onChange = () => void ballots.push(line.ballot()?.chosen ?? null);
    const { line } = sit(t, board, { beatMs: 50, onChange });
    await shows(board.url, ({ here }) => here === 1);
    const mine = { name: ballot.name, question: 0, option: 1 };
    assert.equal(await line.vote(mine), 'This vote is over.');
    board.showVote(ballot);
    await until('it is open', () => line.ballot());
    assert.equal(await line.vote(mine), undefined);
    assert.deepEqual(line.ballot(), { ...ballot, chosen: [1, null] });
    board.showVote(null);
    await until('it is over', () => line.ballot() === null);
    assert.deepEqual(board.told().votes[ballot.name], [0, 1, null, null, null]);
    assert.deepEqual(ballots, [null, [null, null], [1, null], null]);
  });

  test('continues without a board, says so once, retries, and stops when its code is wrong', async (t) => {
    let tries = 0;
    const server = http.createServer((request, response) => {
      tries += 1;
      if (tries < 4) return void request.socket.destroy();
      response.writeHead(403, { 'content-type': 'text/plain', 'content-length': 6 });
      response.end('Wrong.');
    });
    const url = await opened(t, server);
    const { said } = sit(t, { url, code: 'x' }, { beatMs: 20 });
    await until('both are said', () => said.length > 1);
    assert.deepEqual(said, [
      `The board at ${url} cannot be reached; npm start goes on without it.`,
      'You are not on the board: Wrong. npm start goes on without it.',
    ]);
    assert.equal(tries, 4);
  });

  test('does not rejoin by itself after the instructor has freed its seat', async (t) => {
    const board = await serve(t, { awayMs: 1e6 });
    let changes = 0;
    const { line, said } = sit(t, board, { beatMs: 20, onChange: () => (changes += 1) });
    const { seats } = await shows(board.url, ({ here }) => here === 1);
    const token = String(/"token" content="([\w-]+)"/.exec((await ask(board.url, '/')).body)?.[1]);
    const headers = { 'content-type': 'application/json', 'x-forkshop-token': token };
    const body = JSON.stringify({ id: seats[0].seats[0].id });
    await ask(board.url, '/free', { method: 'POST', headers, body });
    await until('it says so', () => said.length > 1);
    assert.match(said[1], /^You are no longer on the board: The instructor has freed your seat\./);
    assert.deepEqual([line.isSeated(), changes], [false, 2]);
    line.update({ hand: true });
    assert.deepEqual((await shown(board.url)).seats, []);
  });

  test('takes a new seat if the board has forgotten it, and ignores other servers', async (t) => {
    const asked = /** @type {string[]} */ ([]);
    const answers = [
      [201, '{"seat":"one","name":"Ada"}'],
      [404, 'gone'],
      [201, '{"seat":"two","name":"Ada"}'],
      [204, ''],
    ];
    const server = http.createServer(async (request, response) => {
      const [status, text] = answers[asked.length] ?? [204, ''];
      asked.push(`${request.method} ${request.headers['x-forkshop-seat'] ?? ''}`);
      await request.resume().toArray();
      response.writeHead(Number(status), {
        'content-type': 'text/plain',
        'content-length': String(text).length,
      });
      response.end(text);
    });
    const url = await opened(t, server);
    const { line, said } = sit(t, { url, code: 'x' });
    await until('four requests', () => asked.length >= 4);
    await line.close();
    assert.deepEqual(asked, ['POST ', 'PUT one', 'POST ', 'PUT two', 'DELETE two']);
    assert.equal(said.length, 1);

    const other = http.createServer((request, response) => response.end('<h1>A router</h1>'));
    const wrong = sit(t, { url: await opened(t, other), code: 'x' });
    await until('it says so', () => wrong.said.length > 0);
    assert.match(wrong.said[0], /^You are not on the board: What answers there is not a board\./);
  });

  test('sends only the name and a report', async (t) => {
    const bodies = /** @type {any[]} */ ([]);
    const server = http.createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString();
      const heard = [request.method, text && JSON.parse(text)];
      if (JSON.stringify(heard) !== JSON.stringify(bodies.at(-1))) bodies.push(heard); // it says it again and again
      const answer = '{"seat":"one","name":"Ada"}';
      response.writeHead(request.method === 'POST' ? 201 : 204, {
        'content-type': 'application/json',
        ...(request.method === 'POST' && { 'content-length': answer.length }),
      });
      response.end(request.method === 'POST' ? answer : undefined);
    });
    const url = await opened(t, server);
    const io = ioOf(rootFolder);
    const line = await joinClass({ url, code: 'x', name: 'Ada' }, { lesson: second, io });
    t.after(() => line.close());
    const heard = (/** @type {number} */ count) => until(`${count}`, () => bodies.length >= count);
    await heard(2);
    await line.begin(first, 'server.js');
    await heard(3);
    line.promise({ promise: { id: 'listens', verdict: 'failed', got: 'const secret = 1;' } });
    line.promise({ promise: { id: 'other', verdict: 'passed' } });
    line.program(/** @type {any} */ ({ name: 'secret' }));
    line.end({ verdict: 'failed', output: 'secret' });
    await heard(4);
    line.hand();
    await heard(5);
    await line.begin(first, 'server.js'); // its results stay until it has other ones
    await heard(6);
    const shows = { moments: [{ t: 1_700 }] };
    line.promise({ promise: { id: 'other', verdict: 'failed', shows } });
    const [kill, block, deploy] = [300, 600, 900].map((toMs) => ({
      name: 'secret',
      isBack: true,
      toMs,
    }));
    const scene = { startMs: 1_000, blows: [kill, block, deploy] };
    line.end({ verdict: 'failed', scene });
    await heard(7);
    const told = { lesson: first.key, failed: ['listens'], kept: ['other'] };
    assert.deepEqual(bodies, [
      ['POST', { name: 'Ada' }],
      [
        'PUT',
        { lesson: second.key, state: 'reading', failed: [], kept: [], hand: false, stood: null },
      ],
      ['PUT', { ...told, state: 'checking', failed: [], kept: [], hand: false, stood: null }],
      ['PUT', { ...told, state: 'failed', hand: false, stood: null }],
      ['PUT', { ...told, state: 'failed', hand: true, stood: null }],
      ['PUT', { ...told, state: 'checking', hand: true, stood: null }],
      ['PUT', { ...told, state: 'failed', failed: ['other'], kept: [], hand: true, stood: 2 }],
    ]);
    const said = String(io.stdout.read());
    assert.match(said, /It hears:\n {2}a chosen name, the lesson, [^]*None of your files leaves/);
    assert.match(said, /Your hand is up/);
  });
});

/** @param {Context} t @param {http.Server} server @returns {Promise<string>} its address */
async function opened(t, server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/`;
}

describe('the commands', () => {
  test('invalid options are refused with a correct example', async (t) => {
    const root = makeRoot();
    const refused = {
      'start x': /"x" means nothing here/,
      'start --name Ada': /--name is for the board/,
      'start --join 127.0.0.1': /type the address and the code[^]*npm start -- --join/,
      'start --join ftp://a/b K7QM-3XPD --name Ada': /isn't the address of a board/,
      'start --join a:b:c K7QM-3XPD --name Ada': /isn't the address of a board/,
      'start --join 127.0.0.1 K7QM-3XPD': /The board needs a name/,
      'start --join 127.0.0.1 K7QM-3XPD --name ...': /A name has at most 24 letters/,
      'start --join http://a/#b K7QM-3XPD --name Ada': /isn't the address of a board/,
      'start --join http://:b@a K7QM-3XPD --name Ada': /isn't the address of a board/,
      'board --host 0.0.0.0': /"0.0.0.0" stands for all addresses of this machine\.\nName the one/,
      'board --host 0:0:0:0:0:0:0:0': /stands for all addresses/,
      'board --host ::ffff:0.0.0.0': /stands for all addresses/,
      'board --host 224.0.0.1': /is for many machines at once/,
      'board --host 255.255.255.255': /is for many machines at once/,
      'board --host FF02:0::1': /is for many machines at once/,
      'board --host fe80::1%eth0': /means another thing on each machine/,
      'board --host 127.1': /isn't one address/,
      'board --host here': /"here" isn't one address/,
      'board --host 192.0.2.1 --port 0': /does not have the address 192\.0\.2\.1/,
      'board --port x': /isn't a port/,
      'slides --board 0.0.0.0': /stands for all addresses of this machine/,
      'slides --board 192.0.2.1 --port 0': /does not have the address 192\.0\.2\.1/,
    };
    for (const [line, pattern] of Object.entries(refused)) {
      const { code, stderr } = await dispatched(root, line.split(' '));
      assert.equal(code, 2, line);
      assert.match(stderr, pattern, line);
    }
    const { url } = await serve(t);
    const { port } = new URL(url);
    const { stderr } = await dispatched(root, ['board', '--port', port]);
    assert.match(stderr, new RegExp(`Port ${port} is taken\\.\nAnother: npm run board`));
  });

  test('an address is the same in each spelling', () => {
    for (const same of ['::1', '0:0:0:0:0:0:0:1', '[::1]', '0::0:1'])
      assert.deepEqual(parseAddress(same), { address: '::1' }, same);
    for (const same of ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:0a00:1'])
      assert.deepEqual(parseAddress(same), { address: '10.0.0.1' }, same);
    assert.deepEqual(parseAddress('2001:DB8::0:1'), { address: '2001:db8::1' });
  });

  test('npm start joins npm run board; its verdict appears there; both exit cleanly', async (t) => {
    const root = makeRoot();
    const door = pathToFileURL(join(rootFolder, 'lib/check/checking.js'));
    write(root, {
      [`checks/${keys[0]}/check.js`]: `
        import { check, demand } from '${door}';
        export default check('${keys[0]}', { 1: { greets: 'it says hello' } }, ({ observe, hold }) => {
          hold('greets', [observe([], async () => false)], (holds) => demand(holds, { got: 'it' }));
        });`,
    });
    const begin = (/** @type {string[]} */ argv) => {
      const main = join(rootFolder, 'lib/cli/main.cjs');
      const env = { ...process.env, FORKSHOP_ROOT: root, NODE_TEST_CONTEXT: undefined };
      const child = spawnOurs([main, ...argv], { env });
      t.after(() => child.kill('SIGKILL'));
      const said = { text: '' };
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (part) => (said.text += part));
      const says = async (/** @type {RegExp} */ pattern) => {
        await until(`it says ${pattern}`, () => pattern.test(said.text), limitMs(15));
        return pattern.exec(said.text) ?? [];
      };
      return { child, says };
    };
    const board = begin(['board', '--port', '0']);
    const [, address, code] = await board.says(/--join (\S+) (\S+)\n/);
    await board.says(/The next code will be new/);
    const learner = begin(['start', '--no-page', '--join', address, code, '--name', 'Ada']);
    await learner.says(/You are on the board at \S+ as Ada\./);
    await learner.says(/Whenever you save/);
    write(root, { [`lessons/${keys[0]}/server.js`]: '// saved\n' });
    const told = await shows(`http://${address}/`, ({ lessons: [row] }) => row?.fails.length === 1);
    assert.deepEqual(told.lessons[0].fails, [{ sentence: 'it says hello', count: 1 }]);
    for (const { child } of [learner, board]) {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      assert.deepEqual(await ended, [0, null]);
    }
  });
});
