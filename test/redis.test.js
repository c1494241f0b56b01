// Verifies that a Redis server for a check is started as it is, without Node, answers before it is used, can be stopped for a
// while, and exits with its run; and that a server which does not start is reported with its output. A stand-in of a few
// lines is found in PATH as the real one would be.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { reservePort } from '../lib/observe/ports.js';
import { createRunner } from '../lib/observe/runner.js';
import { whileFrozen } from '../lib/check/faults.js';
import { startRedis } from '../lib/tools/redis.js';
import { findTool } from '../lib/tools/tools.js';
import { Undecided } from '../lib/verdict/outcome.js';
import { limitMs } from './limits.js';

const notOnWindows = { skip: process.platform === 'win32' && 'a script is no program there' };

/** Answers PING with PONG, and everything else with its folder. */
const DOUBLE = `#!${process.execPath}
const port = process.argv[process.argv.indexOf('--port') + 1];
if (process.env.DOUBLE_FAILS) throw new Error('no memory today');
require('node:net')
  .createServer((socket) => socket.on('data', (data) =>
    socket.write(
      /PING/.test(data) ? '+PONG\\r\\n'
      : process.cwd() + '\\n')))
  .listen(port, '127.0.0.1');
`;

/** @param {import('node:test').TestContext} t @param {string} text */
function putInPath(t, text) {
  const folder = mkdtempSync(join(tmpdir(), 'forkshop-redis-'));
  const before = process.env.PATH;
  writeFileSync(join(folder, 'redis-server'), text);
  chmodSync(join(folder, 'redis-server'), 0o755);
  process.env.PATH = `${folder}${delimiter}${before}`;
  t.after(() => {
    process.env.PATH = before;
    rmSync(folder, { recursive: true });
  });
}

/** @param {import('node:test').TestContext} t */
function open(t) {
  const runner = createRunner();
  t.after(() => runner.close());
  return runner;
}

/** The answer to a line; 'silence' after a while without an answer. @returns {Promise<string>} */
function ask(/** @type {number} */ port, /** @type {string} */ line, patienceMs = limitMs(5)) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    socket.setTimeout(patienceMs, () => (resolve('silence'), socket.destroy()));
    socket.on('data', (data) => (resolve(String(data).trim()), socket.destroy()));
    socket.on('error', () => resolve('refused'));
  });
}

test(
  'answers, in a folder of the run; stops and continues; exits with the run',
  notOnWindows,
  async (t) => {
    putInPath(t, DOUBLE);
    const runner = open(t);
    const store = await startRedis(runner.start);
    assert.equal(store.url, `redis://127.0.0.1:${store.port}`);
    const folder = await ask(store.port, 'where');
    assert.match(folder, /forkshop-/);
    assert.notEqual(folder, realpathSync('.'));
    await whileFrozen(store.program, [Number(store.program.pid)], async () =>
      assert.equal(await ask(store.port, 'PING', 300), 'silence'),
    );
    assert.equal(await ask(store.port, 'PING'), '+PONG');
    assert.deepEqual(await runner.close(), []);
    assert.equal(await ask(store.port, 'PING'), 'refused');
  },
);

test('restarts on the same port', notOnWindows, async (t) => {
  putInPath(t, DOUBLE);
  const runner = open(t);
  const port = await reservePort();
  const first = await startRedis(runner.start, { port });
  assert.deepEqual(await first.program.stop(), []);
  assert.equal(await ask(port, 'PING'), 'refused');
  const second = await startRedis(runner.start, { port });
  assert.equal(second.port, port);
  assert.equal(await ask(port, 'PING'), '+PONG');
});

test(
  'a server that does not start leaves the check undecided, and its output is shown',
  notOnWindows,
  async (t) => {
    putInPath(t, DOUBLE.replace('process.env.DOUBLE_FAILS', 'true'));
    const runner = open(t);
    await assert.rejects(
      () => startRedis(runner.start),
      (error) => error instanceof Undecided && /no memory today/.test(error.story.got),
    );
  },
);

test(
  'the real one does the same',
  { skip: !findTool('redis') && 'it is not installed' },
  async (t) => {
    const runner = open(t);
    const store = await startRedis(runner.start);
    assert.equal(await ask(store.port, 'INCR count'), ':1');
    assert.equal(await ask(store.port, 'CONFIG GET save'), '*2\r\n$4\r\nsave\r\n$0');
    assert.deepEqual(await store.program.stop(), []);
  },
);
