// Verifies what a check can do to a running program besides sending requests: signals, its exit and survivors, arguments, the
// holder of its port, its memory, and load that keeps its schedule.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  createOpenLoop,
  listeningSockets,
  measureAtRate,
  memoryOf,
} from '../lib/check/checking.js';
import { createRunner } from '../lib/observe/runner.js';
import { limitMs } from './limits.js';

const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };
const folder = mkdtempSync(join(tmpdir(), 'acting-'));
const runner = createRunner();
after(async () => {
  assert.deepEqual(await runner.close(), []);
  rmSync(folder, { recursive: true });
});

/** @param {string} text @param {Partial<import('../lib/observe/program.js').StartOptions>} [options] */
function start(text, options) {
  const entry = join(folder, `${Math.random()}.mjs`);
  writeFileSync(entry, text);
  return runner.start({ entry, ...options });
}

const cluster = `import cluster from 'node:cluster';
  import { createServer } from 'node:http';
  process.on('SIGINT', () => { console.log(process.pid, 'heard'); process.exit(); });
  if (cluster.isPrimary) { cluster.fork(); cluster.fork(); }
  else createServer((request, response) => response.end('ok')).listen(process.env.PORT);`;

/** The parent opens the port and sends its listener to a child. */
const byHand = `import { fork } from 'node:child_process';
  import { createServer } from 'node:net';
  import http from 'node:http';
  if (process.argv[2] === 'child') process.on('message', (message, listener) => {
    http.createServer((request, response) => response.end('ok')).listen(listener);
  });
  else {
    const server = createServer().listen(process.env.PORT, () => {
      fork(process.argv[1], ['child']).send('listener', server);
    });
  }`;

test('arguments follow the entry file', async () => {
  const program = await start('console.log(process.argv.slice(2).join("|"))', {
    args: ['--policy', 'a b'],
  });
  assert.deepEqual(await program.ended(), { kind: 'ended', code: 0, signal: null });
  assert.equal(program.output(), '--policy|a b\n');
  await program.stop();
});

describe('a signal', () => {
  test('reaches the intended process of this run and no other', async () => {
    const program = await start(cluster);
    assert.ok(await program.ready(2));
    const [{ workerPid }] = program.events.filter(({ what }) => what === 'fork');
    assert.equal(program.kill(workerPid, 'SIGKILL'), true);
    const exit = await program.until((events) => events.find(({ what }) => what === 'worker-exit'));
    assert.deepEqual([exit?.workerPid, exit?.signal], [workerPid, 'SIGKILL']);
    assert.equal(program.kill(workerPid, 'SIGTERM'), false, 'it is gone');
    assert.throws(() => program.kill(process.pid, 'SIGTERM'), /does not belong to this run/);
    assert.equal(program.survivors().length, 2);
    await program.stop();
  });

  test('like Ctrl-C reaches all processes', async () => {
    const program = await start(cluster);
    assert.ok(await program.ready(2));
    assert.equal(await program.ended(50), undefined, 'it still runs');
    program.interrupt();
    assert.deepEqual(await program.ended(), { kind: 'ended', code: 0, signal: null });
    assert.deepEqual(await program.survivorsAfter(limitMs(5)), []);
    assert.equal(program.output().match(/heard/g)?.length, 3);
    await program.stop();
  });

  test('to the parent alone leaves the child, which is reported as a survivor', async () => {
    const program = await start(byHand);
    const child = await program.until((events) =>
      events.find(({ handle, pid }) => handle === 'received' && pid !== program.pid),
    );
    program.kill(/** @type {number} */ (program.pid), 'SIGKILL');
    await program.ended();
    assert.deepEqual(await program.survivorsAfter(100), [child?.pid]);
    assert.deepEqual(await program.stop(), []);
    assert.deepEqual(program.survivors(), []);
  });
});

describe('which process holds the port', () => {
  /** @type {import('../lib/observe/program.js').Program} */
  let program;
  before(async () => {
    program = await start(byHand);
    await program.until((events) => events.some(({ handle }) => handle === 'received'));
  });
  after(() => program.stop());

  test('a listener received from another process is distinguished from one opened here', () => {
    const handles = program.events.flatMap(({ what, pid, handle }) =>
      what === 'listening' ? `${pid === program.pid ? 'parent' : 'child'} ${handle}` : [],
    );
    assert.deepEqual([...new Set(handles)], ['parent kernel', 'child received']);
  });

  test('one socket, held by two processes', onLinux, () => {
    const sockets = listeningSockets(program) ?? [];
    assert.equal(sockets.length, 2);
    assert.equal(new Set(sockets.map(({ pid }) => pid)).size, 2);
    assert.equal(new Set(sockets.map(({ inode }) => inode)).size, 1);
  });
});

test('memory: the unique part is smaller than the resident part', onLinux, () => {
  const { rssBytes, ussBytes } = memoryOf(process.pid) ?? {};
  assert.ok(Math.abs(Number(rssBytes) / process.memoryUsage.rss() - 1) < 0.2);
  assert.ok(Number(ussBytes) > 2 ** 20 && Number(ussBytes) < Number(rssBytes));
  assert.equal(memoryOf(2 ** 30), undefined);
});

describe('open-loop load', () => {
  const generator = createOpenLoop();
  after(() => generator.close());

  test('sends on schedule while the server is silent, and measures latency from when a request was due', async () => {
    const program = await start(`import { createServer } from 'node:http';
      const blockFor = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      createServer((request, response) => {
        if (request.url === '/drop') return request.socket.destroy();
        if (request.url === '/block') blockFor(400);
        response.end('ok');
      }).listen(process.env.PORT);`);
    assert.ok(await program.ready(1));
    const load = { ratePerSecond: 50, durationMs: 500 };
    const [{ answers, startMs, endMs }] = await Promise.all([
      generator.fire({ url: `${program.url}/`, ...load }),
      generator.fire({ url: `${program.url}/block`, ratePerSecond: 1, durationMs: 1_000 }),
    ]);
    assert.equal(answers.length, 25);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(
      answers.map(({ dueMs }) => Math.round(dueMs - startMs)),
      answers.map((answer, index) => index * 20),
    );
    assert.ok(endMs >= Math.max(...answers.map(({ doneMs }) => doneMs)));
    const early = answers.filter(({ sentMs }, index) => sentMs < answers[index - 1]?.doneMs);
    assert.ok(early.length >= 5, `only ${early.length} did not wait for the answer before`);
    await program.stop();
  });

  test('with few connections it waits for a free one: late by the schedule, quick from the moment of sending', async () => {
    const program = await start(`import { createServer } from 'node:http';
      const blockFor = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      let connections = 0;
      createServer((request, response) => { blockFor(20); response.end(String(connections)); })
        .on('connection', () => (connections += 1)).listen(process.env.PORT);`);
    assert.ok(await program.ready(1));
    const { answers } = await generator.fire({
      url: program.url,
      ratePerSecond: 100,
      durationMs: 400,
      connections: 1,
      isFresh: false,
    });
    const last = answers[answers.length - 1];
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.ok(last.doneMs - last.dueMs > 350, 'it waited for all that were before it');
    const early = answers.filter(({ sentMs }, index) => sentMs < answers[index - 1]?.doneMs);
    assert.deepEqual(early, [], 'each was sent only when the one before it was answered');
    const connected = program.events.filter(({ what }) => what === 'connection').length;
    assert.equal(connected, 1, 'and it is kept alive');
    await program.stop();
  });

  test('at random moments it sends the same number, in order, within the time', async () => {
    const program = await start(`import { createServer } from 'node:http';
      createServer((request, response) => response.end('ok')).listen(process.env.PORT);`);
    assert.ok(await program.ready(1));
    const load = { url: program.url, ratePerSecond: 100, durationMs: 500, isRandom: true };
    const { answers, startMs } = await generator.fire(load);
    assert.equal(answers.length, 50);
    const dues = answers.map(({ dueMs }) => dueMs - startMs);
    assert.deepEqual(
      dues,
      [...dues].sort((a, b) => a - b),
    );
    assert.ok(dues[0] >= 0 && dues[49] <= 500);
    const gaps = dues.slice(1).map((due, index) => due - dues[index]);
    assert.ok(Math.max(...gaps) > 15 && Math.min(...gaps) < 5, 'not evenly spaced');
    await program.stop();
  });

  test('failed requests are recorded as answers: refused, dropped, silent', async () => {
    const program = await start(`import { createServer } from 'node:http';
      createServer((request, response) => {
        if (request.url === '/drop') request.socket.destroy();
        if (request.url === '/half') { response.writeHead(200, { 'content-length': 9 }); response.write('a'); setTimeout(() => request.socket.destroy(), 20); }
      }).listen(process.env.PORT);`);
    assert.ok(await program.ready(1));
    const fire = (/** @type {string} */ path, { isFresh = true, timeoutMs = limitMs(5) } = {}) =>
      generator.fire({
        url: program.url + path,
        ratePerSecond: 100,
        durationMs: 30,
        timeoutMs,
        isFresh,
      });
    const errorsOf = (
      /** @type {import('../lib/measure/open-loop.js').OpenWindow} */ { answers },
    ) => answers.map(({ error }) => error);
    assert.deepEqual(errorsOf(await fire('/drop')), Array(3).fill('ECONNRESET'));
    assert.deepEqual(
      errorsOf(await fire('/half', { isFresh: false })),
      Array(3).fill('ECONNRESET'),
    );
    assert.deepEqual(errorsOf(await fire('/silent', { timeoutMs: 200 })), Array(3).fill('timeout'));
    await program.stop();
    assert.deepEqual(errorsOf(await fire('/')), Array(3).fill('ECONNREFUSED'));
    await assert.rejects(
      generator.fire({ url: 'http://192.0.2.1/', ratePerSecond: 1, durationMs: 1 }),
      /127/,
    );
  });
});

test('load at a constant rate reports its cost: the cores and memory of each process', async () => {
  const program = await start(cluster);
  assert.ok(await program.ready(2));
  const openLoop = createOpenLoop();
  const options = { ratePerSecond: 50, durationMs: 400 };
  const { window, report, coresBusy, processes } = await measureAtRate(openLoop, program, options);
  openLoop.close();
  assert.equal(window.answers.length, 20);
  assert.deepEqual(report.statuses, { 200: 20 });
  assert.equal(coresBusy.length, cpus().length);
  assert.ok(coresBusy.every((share) => share >= 0 && share <= 1));
  if (process.platform === 'linux') {
    const roles = processes.map(({ role }) => role).sort();
    assert.deepEqual(roles, ['primary', 'worker', 'worker']);
    assert.ok(processes.every(({ rssBytes }) => rssBytes > 2 ** 20));
  }
  await program.stop();
});
