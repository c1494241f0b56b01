// Verifies how an error in the middle of a check is interpreted: as the program's failure, as a shortage, or as a fault of
// ours.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { DemandFault, interpretError } from '../lib/check/interpret-error.js';
import { createSpinners } from '../lib/measure/spinners.js';
import { listProcesses } from '../lib/observe/processes.js';
import { Shortage, shortOf, shortageIn, watchShortages } from '../lib/observe/shortage.js';
import { Broken, Missing, Undecided } from '../lib/verdict/outcome.js';

const NOT_OURS = '192.0.2.1'; // an address of documentation, which no machine has: RFC 5737

/** A minimal program of the learner. @param {Record<string, unknown>} [more] */
const programOf = (more) =>
  /** @type {any} */ ({ events: [], firstSignalMs: Infinity, output: () => '', ...more });

/** @param {unknown} error @param {any[]} [programs] @param {Shortage} [short] */
const meaning = (error, programs = [], short) =>
  interpretError(error, {
    programs,
    shortage: () => short,
    factsOf: ({ fate, events }) => ({ name: 'server.js', port: 1, fate, events, output: '' }),
  });

const ours = new TypeError('Cannot read properties of undefined');
const failed = new Broken({ got: 'no answer' });

test('an internal error is reported as one while the programs live', () => {
  assert.equal(meaning(ours, [programOf()]), ours);
});

test('if a program has exited unasked, the error is its failure', () => {
  const fate = { kind: 'ended', code: 7 };
  const events = [{ what: 'listening', t: 1 }];
  const ended = meaning(ours, [programOf(), programOf({ fate, events, hasEndedUnasked: true })]);
  assert.ok(ended instanceof Broken);
  assert.match(String(ended.story.got), /exited with code 7/);
  assert.equal(meaning(ours, [programOf({ fate, events, hasEndedUnasked: false })]), ours);
  assert.equal(
    meaning(ours, [programOf({ fate, hasEndedUnasked: true })]),
    ours,
    'as a program that refuses',
  );
  assert.equal(meaning(failed, [programOf({ fate, hasEndedUnasked: true })]), failed);
});

test('an error thrown by a demand by mistake is ours, however the program exited', () => {
  const fate = { kind: 'ended', code: 7 };
  const events = [{ what: 'listening', t: 1 }];
  const ended = programOf({ fate, events, hasEndedUnasked: true });
  assert.equal(meaning(new DemandFault(ours), [ended], shortOf('EMFILE')), ours);
});

test('a worker that exited unasked, or a process that threw, also makes the error the program’s failure', () => {
  const exit = { what: 'worker-exit', t: 5, workerPid: 9, code: 1, signal: null };
  assert.match(meaning(ours, [programOf({ events: [exit] })]).story.got, /worker 9 .* exit code 1/);
  assert.equal(meaning(ours, [programOf({ events: [exit], firstSignalMs: 4 })]), ours);
  const crash = { what: 'crash', t: 5, error: 'RangeError: too far\n    at x' };
  assert.match(meaning(ours, [programOf({ events: [crash] })]).story.why, /RangeError: too far/);
});

test('a program ended for using too much has failed in its missing and undecided promises', () => {
  const fate = { kind: 'excess', of: 'output', amount: 17 * 1024 ** 2 };
  const programs = [programOf(), programOf({ fate })];
  const undecided = new Undecided({ got: 'noise', why: 'the machine', try: 'again' });
  for (const error of [ours, undecided, new Missing({ got: 'ECONNRESET' }), shortOf('KEEPER')]) {
    const told = meaning(error, programs);
    assert.ok(told instanceof Broken);
    assert.match(String(told.story.got), /^It printed 17 MB; it was stopped/);
  }
  assert.equal(meaning(failed, programs), failed, 'a wrong answer stays a failure');
});

test('after a shortage failures do not count, and undecided promises stay undecided', () => {
  const short = shortOf('EMFILE');
  for (const error of [ours, failed]) assert.equal(meaning(error, [], short), short);
  const undecided = new Undecided({ got: 'noise', why: 'the machine', try: 'again' });
  assert.equal(meaning(undecided, [], short), undecided);
});

test('a missing keeper decides nothing, unless the program is known to have killed it', () => {
  const orphaned = { fate: { kind: 'orphaned' } };
  assert.equal(meaning(failed, [programOf(orphaned)]).what, 'KEEPER');
  assert.equal(meaning(failed, [programOf(orphaned)], shortOf('EAGAIN')).what, 'EAGAIN');
  const kill = { what: 'kill', t: 5, target: 'keeper', signal: 'SIGKILL' };
  assert.equal(meaning(failed, [programOf({ ...orphaned, events: [kill] })]), failed);
});

test("a program's output distinguishes the machine's shortage from its own fault", () => {
  assert.equal(shortageIn('Error: spawn /usr/bin/node EAGAIN')?.what, 'EAGAIN');
  assert.equal(shortageIn('node[7]: pthread_create: Resource temporarily')?.what, 'EAGAIN');
  assert.equal(shortageIn('# Fatal process out of memory: Zone')?.what, 'ENOMEM');
  assert.equal(shortageIn('Reached heap limit: JavaScript heap out of memory'), undefined);
  assert.equal(shortageIn('connect EADDRNOTAVAIL 127.0.0.1:80')?.what, 'EADDRNOTAVAIL');
  assert.equal(shortageIn(`listen EADDRNOTAVAIL: address not available ${NOT_OURS}`), undefined);
});

test('an error of any client socket of this process is noted, and its owner still receives it', async () => {
  const shortage = watchShortages();
  assert.equal(shortage(), undefined);
  const [error] = await once(
    connect({ port: 1, host: '127.0.0.1', localAddress: NOT_OURS }).on('connect', assert.fail),
    'error',
  ).catch((reason) => [reason]);
  assert.equal(error.code, 'EADDRNOTAVAIL');
  assert.equal(shortage()?.what, 'EADDRNOTAVAIL');
});

test('killed spinners end their measurement at once', async () => {
  const before = new Set(listProcesses().map(({ pid }) => pid));
  const spinners = createSpinners(1);
  await spinners.spin(1, 1);
  const mine = listProcesses().find(({ pid, ppid }) => ppid === process.pid && !before.has(pid));
  const measured = spinners.spin(1, 600_000);
  process.kill(Number(mine?.pid), 'SIGKILL');
  const isGone = (/** @type {unknown} */ error) =>
    error instanceof Shortage && error.what === 'LOAD';
  await assert.rejects(measured, isGone);
  await assert.rejects(spinners.spin(1, 1), isGone);
});
