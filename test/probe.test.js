// Verifies that the probe never changes the program that it observes, and that its reports are complete.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { get } from '../lib/observe/client.js';
import { nowMs } from '../lib/observe/clock.js';
import { reservePort } from '../lib/observe/ports.js';
import { openTimeline, requestsOf } from '../lib/observe/timeline.js';
import { until } from './nothing-left.js';

const folder = mkdtempSync(join(tmpdir(), 'a probe ü '));
after(() => rmSync(folder, { recursive: true }));

const probe = fileURLToPath(new URL('../lib/observe/preload/probe.cjs', import.meta.url));
const header = readFileSync(probe, 'utf8').split('*/')[0];
let count = 0;

/**
 * Small programs that print what they can see. Each is run with and without the probe.
 * @type {Record<string, string>} file name → text
 */
const programs = {
  'runs to its end.mjs': `console.log('done', process.argv.length, process.execArgv.length);`,
  'runs to its end.cjs': `console.log(require.main === module, module.parent, __filename.length);`,
  'exits in a timer.mjs': `setTimeout(() => process.exit(3), 5); setInterval(() => {}, 1e6);`,
  'exits at its top.cjs': `process.on('exit', (code) => console.log(code)); process.exit(4);`,
  'sets its exit code.mjs': `process.exitCode = 5; process.on('exit', () => (process.exitCode += 1));`,
  'exits on exit.cjs': `process.on('exit', (code) => { console.log(code); process.exit(7); });`,
  'throws at its top.mjs': `process.on('exit', (code) => console.log(code)); throw new Error('no');`,
  'throws at its top.cjs': `process.on('exit', (code) => console.log(code)); throw new Error('no');`,
  'throws later.cjs': `setTimeout(() => { throw new Error('later'); }, 5);`,
  'rejects.mjs': `setTimeout(() => Promise.reject(new Error('no')), 5); setInterval(() => {}, 1e6);`,
  'awaits forever.mjs': `await new Promise(() => {});`,
  'catches what it throws.cjs': `
    process.on('uncaughtException', (error, origin) => console.log(error.message, origin));
    process.on('uncaughtExceptionMonitor', (error, origin) => console.log('monitor', origin));
    process.on('unhandledRejection', (error) => console.log('rejected', error.message));
    Promise.reject(new Error('promised'));
    throw new Error('thrown');`,
  'orders its queues.cjs': `
    process.nextTick(() => console.log('tick'));
    Promise.resolve().then(() => console.log('promise'));
    setTimeout(() => setImmediate(() => console.log('immediate')), 5);
    console.log('main');`,
  'orders its queues.mjs': `
    process.nextTick(() => console.log('tick'));
    Promise.resolve().then(() => console.log('promise'));
    console.log('main');`,
  'kills itself.mjs': `process.kill(process.pid, 'SIGKILL');`,
  'ends itself.mjs': `process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1e6);`,
  'handles a signal.mjs': `
    process.on('SIGTERM', (signal) => { console.log(signal); clearInterval(timer); });
    const timer = setInterval(() => {}, 1e6);
    process.kill(process.pid, 'SIGTERM');`,
  'aborts.cjs': `console.log('now'); process.abort();`,
  'continues before it exits.mjs': `
    let left = 3;
    process.on('beforeExit', () => { console.log(left); if (left-- > 0) setImmediate(() => {}); });`,
  'has an idle server.mjs': `
    import http from 'node:http';
    const server = http.createServer().listen(0, () => setTimeout(() => server.close(), 30));
    server.on('close', () => console.log('closed', process.getActiveResourcesInfo()));
    console.log(server.eventNames(), Object.keys(server).includes('emit'));`,
  'has a server that keeps no process alive.mjs': `
    import http from 'node:http';
    http.createServer().listen(0).unref().on('listening', () => console.log('listening'));`,
  'counts listeners.cjs': `
    const cluster = require('node:cluster');
    const http = require('node:http');
    const { channel } = require('node:diagnostics_channel');
    console.log(process.eventNames(), cluster.eventNames(), http.createServer().eventNames());
    console.log(process.listenerCount('exit'), process.listenerCount('uncaughtException'));
    console.log(process._getActiveHandles().length, process._getActiveRequests().length);
    console.log(process.getActiveResourcesInfo(), Object.keys(globalThis), channel('x').hasSubscribers);
    setTimeout(() => console.log(process.getActiveResourcesInfo()), 60);`,
  'removes all listeners.cjs': `
    process.on('exit', () => console.log('never'));
    process.removeAllListeners('exit');
    require('node:cluster').removeAllListeners();`,
  'emits events by itself.cjs': `
    const cluster = require('node:cluster');
    for (const name of ['exit', 'fork', 'listening']) console.log(cluster.emit(name));
    process.on('exit', (...all) => console.log('exit', ...all));
    console.log(process.emit('exit', 'early'), process.emit('uncaughtExceptionMonitor'));`,
  'patches what we use.cjs': `
    JSON.stringify = () => 'gone';
    performance.now = () => { throw new Error('now'); };
    require('node:fs').writeSync = () => { throw new Error('write'); };
    process.memoryUsage.rss = process.getActiveResourcesInfo = () => { throw new Error('rss'); };
    setTimeout(() => console.log('still here'), 50);`,
  'has threads.mjs': `
    import { Worker, isMainThread, parentPort, threadId } from 'node:worker_threads';
    import { fileURLToPath } from 'node:url';
    if (isMainThread) {
      const worker = new Worker(fileURLToPath(import.meta.url));
      worker.on('message', (message) => { console.log(message); worker.postMessage('go'); });
      worker.on('exit', (code) => console.log('exit', code));
    } else {
      console.log(process.listenerCount('exit'), parentPort.eventNames());
      parentPort.postMessage({ threadId });
      parentPort.once('message', () => process.exit(9));
    }`,
  'has a child.mjs': `
    import { fork } from 'node:child_process';
    import { fileURLToPath } from 'node:url';
    if (process.send) {
      console.log(process.listenerCount('message'), process.listenerCount('disconnect'));
      process.on('message', (message) => { process.send(message + 1); if (message > 2) process.disconnect(); });
    } else {
      const child = fork(fileURLToPath(import.meta.url));
      console.log(child.eventNames());
      child.on('message', (message) => { console.log(message); if (message < 4) child.send(message); });
      child.on('exit', (code, signal) => console.log(code, signal));
      child.send(1);
    }`,
  'has a child without us.cjs': `
    const { spawn, spawnSync } = require('node:child_process');
    console.log(spawnSync(process.execPath, ['-p', '1 + 1'], { env: {} }).stdout.toString());
    const child = spawn(process.execPath, ['-e', 'process.exit(6)'], { env: {}, stdio: 'inherit' });
    child.on('exit', (code) => console.log(code, child.listenerCount('exit'), child.listenerCount('spawn')));
    spawn('/no/such/program').on('error', ({ code }) => console.log(code));`,
};

/** How a worker exits, and what its primary hears: one program for all six ways, with the events in order. */
const lifeOfWorkers = `
  import cluster from 'node:cluster';
  const ways = {
    exits: () => process.exit(3),
    throws: () => { throw new Error('no'); },
    rejects: () => Promise.reject(new Error('no')),
    aborts: () => process.abort(),
    killed: null,
    killsItself: () => cluster.worker.kill(),
    disconnected: null,
    disconnects: () => cluster.worker.disconnect(),
    cutsOff: () => process.disconnect(),
  };
  if (cluster.isPrimary) {
    for (const [way, act] of Object.entries(ways)) {
      const worker = cluster.fork({ WAY: way });
      const seen = [];
      for (const name of ['online', 'disconnect']) worker.on(name, () => seen.push(name));
      worker.on('online', () => {
        if (way === 'killed') worker.kill();
        if (way === 'disconnected') worker.disconnect();
      });
      await new Promise((resolve) => worker.on('exit', (code, signal) => {
        console.log(way, code, signal, worker.exitedAfterDisconnect, seen.sort().join());
        resolve();
      }));
    }
    console.log(cluster.eventNames());
  } else {
    process.on('message', () => console.log('a message that was never sent'));
    setTimeout(() => ways[process.env.WAY]?.(), 20);
  }`;

describe('a program with the probe behaves as it does without:', { concurrency: 2 }, () => {
  for (const [name, text] of Object.entries(programs)) {
    test(name, async () => {
      await assertSame(name, text);
    });
  }
  test('workers end.mjs', async () => {
    const { stdout } = await assertSame('workers end.mjs', lifeOfWorkers);
    for (const line of [
      'exits 3 null false',
      'throws 1 null false',
      'rejects 1 null false',
      'aborts null SIGABRT false',
      'killed null SIGTERM false',
      'killsItself 0 null true',
      'disconnected 0 null true',
      'disconnects 0 null true',
      'cutsOff 0 null false',
    ])
      assert.ok(stdout.includes(`${line} `), `${line}\n${stdout}`);
  });
});

test('a program that has nothing left to do exits at once', async () => {
  const text = `import http from 'node:http';
    setTimeout(() => http.createServer().listen(0, function () { this.close(); }), 50);`;
  const { events } = await run('ends.mjs', text, { isProbed: true });
  const whats = events.map(({ what }) => what);
  const last = whats.slice(whats.indexOf('listening') + 1);
  assert.equal(last.at(-1), 'exit');
  assert.ok(last.length <= 2, `it did not exit at once, but continued: ${last}`); // one beat may fall in between
});

test('a program whose timeline cannot be written behaves as usual', async () => {
  const { code, stdout } = await run('no folder.mjs', `console.log('fine')`, {
    isProbed: true,
    env: { FORKSHOP_TIMELINE: join(folder, 'no such folder', 'timeline.jsonl') },
  });
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'fine\n' });
});

test('the clock of a process that loses its core during a reading stays right', async () => {
  const loser = join(folder, 'loses its core.cjs');
  const text = `const { bigint } = process.hrtime;
    process.hrtime.bigint = () => {
      process.hrtime.bigint = bigint;
      const read = bigint();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      console.log(Number(bigint() / 1000n) / 1000);
      return read;
    };`;
  writeFileSync(loser, text);
  const NODE_OPTIONS = `--require "${loser}" --require "${probe}"`;
  const { stdout, events } = await run('reads.cjs', '', { isProbed: true, env: { NODE_OPTIONS } });
  assert.ok(events[0].t >= Number(stdout), `${events[0].t} is before ${stdout}`);
});

/** Serves, deals a connection by hand, has a thread and a child, and crashes in the end. */
const everything = `
  import cluster from 'node:cluster';
  import { spawn } from 'node:child_process';
  import http from 'node:http';
  import net from 'node:net';
  import { Worker } from 'node:worker_threads';
  if (cluster.isPrimary) {
    for (let count = 0; count < 2; count += 1) cluster.fork();
    const byHand = http.createServer((request, response) => response.end('by hand'));
    net.createServer((socket) => byHand.emit('connection', socket)).listen(process.env.PORT_2);
    cluster.on('exit', () => {
      if (Object.keys(cluster.workers).length === 0) throw new TypeError('end');
    });
  } else {
    http.createServer((request, response) => {
      if (request.url === '/kill') process.kill(process.pid, 'SIGKILL');
      if (request.url === '/leave') cluster.worker.disconnect();
      response.statusCode = 418;
      response.end('ok');
    }).listen(process.env.PORT);
    if (cluster.worker.id === 1) {
      spawn(process.execPath, ['-e', '']);
      new Worker('setTimeout(() => {}, 60)', { eval: true });
    }
  }`;

/** The fields that every event of a kind has, at least. */
const fields = {
  start: ['ppid', 'role', 'node'],
  listening: ['port', 'handle'],
  connection: ['client', 'how'],
  request: ['client', 'method', 'url'],
  response: ['client', 'status'],
  beat: ['late', 'elu'],
  child: ['childPid'],
  crash: ['error', 'origin'],
  exit: ['code'],
  fork: ['worker', 'workerPid', 'policy'],
  online: ['worker', 'workerPid'],
  'worker-listening': ['worker', 'workerPid', 'port'],
  disconnect: ['worker', 'workerPid'],
  'worker-exit': ['worker', 'workerPid', 'code', 'signal', 'planned'],
};

describe('the timeline', () => {
  /** @type {Awaited<ReturnType<typeof start>>} */
  let program;
  /** @type {number | undefined} */
  let client;
  const find = (/** @type {string} */ what, more = {}) => program.find(what, more);

  before(async () => {
    program = await start('everything.mjs', everything);
    await until('both workers listen', () => find('worker-listening').length === 2);
    await until('the thread has been there', () => find('exit', { tid: 1 }).length === 1);
    await until('a second has a memory', () => find('beat').some(({ rss }) => rss > 0));
    client = (await get(`${program.url}/?a=%22b%22`)).client;
    assert.equal((await get(`${program.url2}/hand`)).body, 'by hand');
    await get(`${program.url}/kill`);
    await until('the killed one is gone', () => find('worker-exit').length === 1);
    await get(`${program.url}/leave`);
    assert.equal((await program.ended).code, 1);
  });

  test('holds every kind of event, with its fields', () => {
    const events = program.events();
    for (const [what, names] of Object.entries(fields)) {
      assert.match(header, new RegExp(`\\b${what}\\b`), 'the header names it');
      const found = events.filter((event) => event.what === what);
      assert.ok(found.length > 0, what);
      for (const event of found) {
        assert.ok(event.pid > 0 && event.t > program.sinceMs && event.t < nowMs(), what);
        for (const name of names) assert.ok(name in event, `${what} has ${name}`);
      }
    }
    const unknown = events.filter(({ what }) => !(what in fields));
    assert.deepEqual(unknown, []);
  });

  test('identifies every process', () => {
    const [primary] = find('start', { role: 'primary' });
    const workers = find('start', { role: 'worker' });
    assert.equal(primary.pid, program.pid);
    assert.deepEqual(new Set(workers.map(({ ppid }) => ppid)), new Set([primary.pid]));
    assert.deepEqual(workers.map(({ worker }) => worker).sort(), [1, 2]);
    assert.equal(find('start', { role: 'thread' }).length, 1);
    const reported = find('fork').map(({ workerPid }) => workerPid);
    assert.deepEqual(new Set(reported), new Set(workers.map(({ pid }) => pid)));
    const children = find('child', { pid: primary.pid });
    const pids = children.map(({ childPid }) => childPid);
    assert.deepEqual(new Set(pids), new Set(reported), 'a worker is also a child');
    assert.deepEqual(children.map(({ worker }) => worker).sort(), [1, 2]);
    const others = find('child').filter(({ pid }) => pid !== primary.pid);
    assert.ok(others.length > 0 && others.every((other) => !('worker' in other)));
  });

  test('reports a worker whose primary exits before its cluster reports the fork', async () => {
    const text = `import cluster from 'node:cluster';
      if (cluster.isPrimary) {
        cluster.fork();
        process.exit(1);
      }`;
    const one = await start('leaves.mjs', text);
    await one.ended;
    assert.deepEqual(one.find('fork'), []);
    assert.deepEqual(
      one.find('child').map(({ worker }) => worker),
      [1],
    );
  });

  test('reports which process listens, and how a connection arrived', () => {
    const handles = find('listening', { port: program.port }).map(({ pid, handle }) =>
      pid === program.pid ? `primary ${handle}` : handle,
    );
    assert.deepEqual(handles.sort(), ['handed', 'handed', 'primary kernel']);
    const hows = new Set(find('connection').map(({ how }) => how));
    assert.deepEqual([...hows].sort(), ['dealt', 'handed', 'kernel']);
  });

  test('joins a request with its response and its client', () => {
    const [request] = requestsOf(program.events(), '/');
    assert.equal(request.client, client);
    assert.equal(request.url, '/?a=%22b%22');
    assert.equal(request.status, 418);
    assert.ok(Number(request.endMs) >= request.startMs);
  });

  test('reports how each process exited', () => {
    const ends = find('worker-exit').map(({ code, signal, planned }) => [code, signal, planned]);
    assert.deepEqual(ends, [
      [null, 'SIGKILL', false],
      [0, null, true],
    ]);
    const [crash] = find('crash');
    assert.deepEqual([crash.pid, crash.origin], [program.pid, 'uncaughtException']);
    assert.match(crash.error, /^TypeError: end\n/);
    assert.equal(find('exit', { pid: program.pid })[0].code, 1);
  });
});

test('under SCHED_NONE the workers have the listening socket themselves', async (t) => {
  const env = { NODE_CLUSTER_SCHED_POLICY: 'none' };
  const program = await start('none.mjs', everything, env);
  t.after(() => process.kill(program.pid, 'SIGKILL'));
  await until('both listen', () => program.find('worker-listening').length === 2);
  const listening = program.find('listening', { port: program.port });
  assert.deepEqual(
    listening.map(({ handle }) => handle),
    ['kernel', 'kernel'],
  );
  assert.ok(listening.every(({ pid }) => pid !== program.pid));
});

describe('the request that ends its process is recorded', () => {
  const ends = {
    'process.kill(process.pid, "SIGKILL")': { signal: 'SIGKILL' },
    'process.abort()': { signal: 'SIGABRT' },
    'process.exit(9)': { code: 9 },
    'throw new Error("in the handler")': { code: 1 },
    'Promise.reject(new Error("in the handler"))': { code: 1 },
  };
  for (const [statement, expected] of Object.entries(ends)) {
    for (const kind of ['mjs', 'cjs']) {
      test(`${statement} (${kind})`, async () => {
        const load =
          kind === 'mjs' ? `import http from 'node:http'` : `const http = require('http')`;
        const text = `${load};
          http.createServer((request, response) => {
            if (request.url !== '/last') return response.end();
            ${statement};
          }).listen(process.env.PORT);`;
        const program = await start(`ends${count}.${kind}`, text);
        await until('it listens', () => program.find('listening').length === 1);
        for (let round = 0; round < 5; round += 1) await get(program.url);
        await get(`${program.url}/last`);
        const { code, signal } = await program.ended;
        assert.deepEqual({ code, signal }, { code: null, signal: null, ...expected });
        assert.equal(program.find('request', { url: '/last' }).length, 1);
        assert.equal(requestsOf(program.events(), '/').filter(({ endMs }) => endMs).length, 5);
      });
    }
  }
});

test('FORKSHOP_PROBE=life leaves out requests and connections', async (t) => {
  const text = `require('node:http').createServer((q, r) => r.end()).listen(process.env.PORT);`;
  const program = await start('life.cjs', text, { FORKSHOP_PROBE: 'life' });
  t.after(() => process.kill(program.pid, 'SIGKILL'));
  await until('it listens', () => program.find('listening').length === 1);
  assert.equal((await get(program.url)).status, 200);
  const { length } = program.find('beat');
  await until('it beats again', () => program.find('beat').length > length);
  assert.deepEqual([...program.find('request'), ...program.find('connection')], []);
});

test('FORKSHOP_PROBE=waits also reports how long Atomics.wait() was asked to hold the thread', async (t) => {
  const text = `const cell = new Int32Array(new SharedArrayBuffer(4));
    require('node:http').createServer((q, r) => {
      Atomics.wait(cell, 0, 1);
      r.end(Atomics.wait(cell, 0, 0, 7.5));
      Atomics.wait(cell, 0, 0, 3);
      setTimeout(() => Atomics.wait(cell, 0, 0, 2), 50);
    }).listen(process.env.PORT);`;
  const program = await start('waits.cjs', text, { FORKSHOP_PROBE: 'waits' });
  t.after(() => process.kill(program.pid, 'SIGKILL'));
  await until('it listens', () => program.find('listening').length === 1);
  assert.equal((await get(program.url)).body, 'timed-out');
  await until('it has answered', () => program.find('response').length === 1);
  await until('it has waited again', () => program.find('wait').length === 3);
  const [request] = requestsOf(program.events(), '/');
  const waits = program.find('wait');
  assert.deepEqual(
    waits.map(({ ms, answered }) => [ms, answered]),
    [
      [7.5, undefined],
      [3, true],
      [2, true],
    ],
  );
  assert.ok(waits[0].t >= request.startMs + 7 && waits[0].t <= (request.endMs ?? 0));
});

/** @param {string} name @param {string} text */
async function assertSame(name, text) {
  const bare = await run(name, text);
  const { events, ...same } = await run(name, text, { isProbed: true });
  assert.deepEqual(same, { code: bare.code, signal: bare.signal, stdout: bare.stdout });
  assert.equal(events[0]?.what, 'start', 'the probe was there');
  assert.deepEqual(bare.events, []);
  return bare;
}

/**
 * Runs a program to its end.
 * @param {string} name
 * @param {string} text
 * @param {{ isProbed?: boolean, env?: Record<string, string> }} [options]
 */
async function run(name, text, { isProbed = false, env = {} } = {}) {
  const program = await start(name, text, isProbed ? env : { NODE_OPTIONS: '', ...env });
  const { code, signal, stdout } = await program.ended;
  return { code, signal, stdout, events: program.events() };
}

/** @param {string} name @param {string} text @param {Record<string, string>} [more] environment */
async function start(name, text, more = {}) {
  count += 1;
  const file = join(folder, name);
  writeFileSync(file, text);
  const timelineFile = join(folder, `timeline ${count}.jsonl`);
  const timeline = openTimeline(timelineFile);
  const [port, port2] = [await reservePort(), await reservePort()];
  const inherited = { ...process.env };
  delete inherited.NODE_TEST_CONTEXT;
  const own = { FORKSHOP_TIMELINE: timelineFile, NODE_OPTIONS: `--require "${probe}"` };
  const env = { ...inherited, ...own, PORT: String(port), PORT_2: String(port2), ...more };
  const sinceMs = nowMs();
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (stdout += part));
  /** @type {Promise<{ code: number | null, signal: string | null, stdout: string }>} */
  const ended = new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout })),
  );
  const events = () => {
    timeline.read();
    return timeline.events;
  };
  return {
    ...{ port, ended, events, sinceMs },
    pid: Number(child.pid),
    url: `http://127.0.0.1:${port}`,
    url2: `http://127.0.0.1:${port2}`,
    find: (/** @type {string} */ what, /** @type {Record<string, unknown>} */ fields = {}) =>
      events().filter(
        (event) =>
          event.what === what &&
          Object.entries(fields).every(([field, value]) => event[field] === value),
      ),
  };
}
