// Verifies the keys of `npm start`: what they open of the last check, and that they work again after Ctrl-Z.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ask } from '../lib/cli/ask.js';
import { createFailureViewer } from '../lib/cli/failure-viewer.js';
import { listenForKeys } from '../lib/cli/keys.js';
import { ioOf } from './fixture-root.js';

/** @param {string} id @param {Partial<import('../lib/verdict/outcome.js').PromiseRecord>} [more] */
const failing = (id, more = {}) => ({
  ...{ id, task: 1, sentence: `the promise ${id}`, verdict: 'failed', got: `${id} is not` },
  ...{ try: `look at ${id}`, ...more },
});

test('n opens the next failure and wraps around; t shows advice about the open failure', () => {
  const io = ioOf('/nowhere');
  const failures = createFailureViewer(io);
  const tasks = [{ promises: ['a', 'b', 'c'] }];
  const promises = [failing('c'), failing('a'), { ...failing('b'), verdict: 'passed' }];
  failures.load(/** @type {any} */ ({ promises, tasks }));
  const told = (/** @type {() => void} */ press) => {
    press();
    return String(io.stdout.read());
  };
  assert.match(told(failures.try), /the promise a\n[^]*try {7}look at a\n$/);
  const next = told(failures.next);
  assert.match(next, /the promise c\n[^]*c is not\n$/);
  assert.match(told(failures.try), /look at c/);
  assert.match(told(failures.next), /the promise a\n/);
  failures.load(/** @type {any} */ ({ promises: [failing('a', { try: undefined })], tasks }));
  assert.match(told(failures.next), /No other promise fails/);
  assert.match(told(failures.try), /Key h gives a hint/);
  failures.load(/** @type {any} */ ({ promises: [], tasks }));
  assert.match(told(failures.try), /No promise fails/);
});

test('after Ctrl-Z the terminal returns to raw mode', () => {
  /** @type {boolean[]} */
  const modes = [];
  const stdin = Object.assign(new EventEmitter(), {
    setRawMode: (/** @type {boolean} */ isRaw) => modes.push(isRaw),
    ...{ resume() {}, pause() {} },
  });
  const keys = listenForKeys(stdin, {});
  assert.equal(modes.at(-1), true);
  const before = modes.length;
  process.emit('SIGCONT');
  assert.deepEqual(
    modes.slice(before),
    [false, true],
    'a mode that it believes to have is not set',
  );
  keys.close();
  process.emit('SIGCONT');
  assert.equal(modes.at(-1), false, 'it is left as it was');
});

test('a question at a terminal is cancelled by its signal', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const io = /** @type {any} */ ({ ...ioOf('/nowhere'), stdin });
  const interrupt = new AbortController();
  const answer = ask(io, 'Which? ', interrupt.signal);
  interrupt.abort();
  assert.equal(await answer, undefined);
});
