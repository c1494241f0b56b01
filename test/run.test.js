// Verifies the traps of running other people's cluster code, and the small parts of the runner.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { Socket, createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { Server, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, run, test } from 'node:test';
import { get, getAtOnce } from '../lib/observe/client.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { copyProgram } from '../lib/observe/program-copy.js';
import { environmentOf } from '../lib/observe/environment.js';
import { reservePort } from '../lib/observe/ports.js';
import { ageMs, familyOf, isAlive, listProcesses } from '../lib/observe/processes.js';
import { hasMark } from '../lib/observe/mark.js';
import { createRunner } from '../lib/observe/runner.js';
import { hasUnseenWorker, isFutile, isSettled } from '../lib/observe/settled.js';
import * as timeline from '../lib/observe/timeline.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const hasPython = spawnSync('python3', ['--version']).status === 0; // it can end its first thread alone
const withPython = { skip: !(process.platform === 'linux' && hasPython) && 'it wants Python' };
const onPosix = { skip: process.platform === 'win32' && 'pipes as POSIX has them' };
const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };
const folder = mkdtempSync(join(tmpdir(), 'a runner ü '));
after(() => rmSync(folder, { recursive: true }));

/** @typedef {import('node:test').TestContext} TestContext */

/** @param {string} name @param {string} text */
function write(name, text) {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** @param {TestContext} t */
function open(t) {
  const runner = createRunner();
  t.after(async () => assert.deepEqual(await runner.close(), []));
  return runner;
}

/**
 * @param {TestContext} t
 * @param {string} text
 * @param {Partial<import('../lib/observe/program.js').StartOptions>} [options]
 */
function start(t, text, options = {}) {
  const entry = write(`${t.name.replace(/\W+/g, ' ')}.mjs`, text);
  return open(t).start({ entry, ...options });
}

/**
 * @param {import('../lib/observe/program.js').Program} program
 * @returns {Promise<import('../lib/observe/program.js').Fate>}
 */
const fate = async (program) =>
  /** @type {any} */ (await until('the program is at its end', () => program.fate));

const serving = `
  import cluster from 'node:cluster';
  import http from 'node:http';
  const serve = (handle) => http.createServer(handle).listen(process.env.PORT);
  if (cluster.isPrimary) {
    const [first, ...others] = [0, 1, 2].map((turn) => cluster.fork({ TURN: turn }));
    const asked = new Promise((resolve) => first.on('message', resolve));
    for (const worker of others) worker.on('message', () => asked.then(() => worker.send('go')));
  } else if (process.env.TURN === '0') serve((q, r) => r.end(String(process.send('asked'))));
  else {
    process.once('message', () => serve((q, r) => r.end('ok')));
    process.send('I wait');
  }
`;

describe('traps', () => {
  test('trap 1: a detached child is killed with its program, although it left the group', async (t) => {
    const program = await start(
      t,
      `import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'ignore', env: {} });
      console.log(child.pid);
      setInterval(() => {}, 1e6);`,
    );
    const pid = Number(await until('it prints the pid', () => program.output().trim()));
    const child = listProcesses().find((one) => one.pid === pid);
    assert.ok(child && child.pgid === pid && program.pid !== pid);
    assert.deepEqual(await program.stop(), []);
    assert.equal(isAlive(child), false);
    assert.equal(isAlive({ ...child, pid: Number(program.pid) }), false);
  });

  test(
    'a process whose first thread has exited, but not the others, is alive: it holds its files',
    withPython,
    async (t) => {
      const ended = 'ctypes.CDLL(None).pthread_exit(None)';
      const text = `import ctypes, threading; threading.Thread(target=input).start(); ${ended}`;
      const python = spawn('python3', ['-c', text], { stdio: ['pipe', 'ignore', 'ignore'] });
      t.after(() => python.kill('SIGKILL'));
      const pid = Number(python.pid);
      const stateOf = () => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
      await until('its first thread has exited', () => stateOf() === 'Z');
      const found = listProcesses().find((one) => one.pid === pid);
      assert.ok(found && isAlive(found));
      python.stdin.end('\n');
      await until('it has exited', () => !isAlive(found));
    },
  );

  test('the time at which a signal killed the first process is kept, unless stop() sent it', async (t) => {
    const runner = open(t);
    const entry = write('stays.mjs', 'setInterval(() => {}, 1_000);');
    const killed = await runner.start({ entry });
    await until('it runs', () => killed.pid && killed.events.length > 0);
    killed.interrupt();
    assert.equal((await fate(killed)).signal, 'SIGINT');
    assert.ok(Number(killed.killedMs) > killed.events[0].t);
    const stopped = await runner.start({ entry });
    await until('it runs', () => stopped.pid && stopped.events.length > 0);
    await stopped.stop();
    assert.equal(stopped.killedMs, undefined);
  });

  test("trap 2: a program's exit is noticed although a child holds its output open", async (t) => {
    const program = await start(
      t,
      `import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'inherit' });
      console.log(child.pid);
      child.on('spawn', () => process.exit(5));`,
    );
    assert.deepEqual(await fate(program), { kind: 'ended', code: 5, signal: null });
    const pid = Number(program.output());
    const child = listProcesses().find((one) => one.pid === pid);
    assert.ok(child, 'the child is still there');
    await program.stop();
    assert.equal(isAlive(child), false);
  });

  test('trap 3: a zombie is not alive, though it can be signalled', onLinux, async (t) => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec tail -f /dev/null']);
    t.after(() => parent.kill('SIGKILL'));
    const pid = await new Promise((resolve) =>
      parent.stdout.once('data', (text) => resolve(+text)),
    );
    const state = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[2];
    await until('it is a zombie', () => state() === 'Z');
    assert.equal(process.kill(pid, 0), true);
    assert.equal(
      listProcesses().some((one) => one.pid === pid),
      false,
    );
    assert.equal(
      isAlive({ pid, born: Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[21]) }),
      false,
    );
  });

  test('trap 4: everything that a program prints before it exits is captured', async (t) => {
    const program = await start(
      t,
      `for (let line = 0; line < 9_000; line += 1) console.log(String(line).padStart(99, '.'));
      process.exit(0);`,
    );
    await fate(program);
    assert.equal(statSync(join(program.folder, 'output.txt')).size, 900_000);
    assert.match(program.output(), /^\[\.\.\.\] [^]*\.8999\n$/);
  });

  test('trap 5: output goes to a file, which no program can close; a flood of processes is stopped', async (t) => {
    const program = await start(
      t,
      `import { fstatSync } from 'node:fs';
      import { fork } from 'node:child_process';
      import { fileURLToPath } from 'node:url';
      if (!process.send) console.log(fstatSync(1).isFile(), fstatSync(2).isFile());
      for (let count = 0; count < 4; count += 1) fork(fileURLToPath(import.meta.url));`,
    );
    const { kind, of, amount } = await fate(program);
    assert.deepEqual({ kind, of }, { kind: 'excess', of: 'processes' });
    assert.ok(Number(amount) > 40);
    assert.equal(program.output(), 'true true\n');
  });

  test('trap 5: a flood in the timeline is stopped', async (t) => {
    const text = `import { appendFileSync } from 'node:fs';
      const line = '{"t":1,"pid":1,"what":"x","y":"' + 'z'.repeat(1000) + '"}\\n';
      setInterval(() => appendFileSync(process.env.FORKSHOP_TIMELINE, line.repeat(2000)));`;
    const program = await start(t, text);
    const { kind, of, amount } = await fate(program);
    assert.deepEqual({ kind, of }, { kind: 'excess', of: 'timeline' });
    assert.ok(Number(amount) >= timeline.MOST_BYTES);
    assert.ok(program.events.length < timeline.MOST_BYTES / 1000, 'the rest is not read');
    assert.deepEqual(await program.survivorsAfter(10_000), []);
  });

  test('trap 5: a pipe in place of the timeline blocks nothing', onPosix, async (t) => {
    const text = `import { execFileSync } from 'node:child_process'; import { rmSync } from 'node:fs';
      const file = process.env.FORKSHOP_TIMELINE;
      rmSync(file); execFileSync('mkfifo', [file]); console.log('done'); setInterval(() => {}, 1000);`;
    const program = await start(t, text);
    assert.ok(await program.until(() => program.output() === 'done\n'));
    assert.deepEqual(program.survivors(), [program.pid]);
    assert.deepEqual(await program.stop(), []);
  });

  test('trap 6: a port is free and below the range of clients', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, reservePort));
    assert.ok(ports.every((port) => port >= 1_024 && port < 32_768));
    assert.ok(new Set(ports).size > 40);
    const server = createServer().listen(ports[0], '127.0.0.1');
    await new Promise((resolve) => server.on('listening', resolve));
    server.close();
  });

  test('trap 6: a port is not given out twice within a moment', async (t) => {
    const script = `
      const { reservePort } = await import(${JSON.stringify(import.meta.resolve('../lib/observe/ports.js'))});
      const ports = await Promise.all(Array.from({ length: 200 }, () => reservePort()));
      console.log(JSON.stringify(ports));
      await new Promise((resolve) => process.stdin.once('data', resolve));
    `;
    const asked = [0, 1].map(() => spawn(process.execPath, ['--input-type=module', '-e', script]));
    t.after(() => asked.forEach((one) => one.kill()));
    const ends = asked.map((one) => once(one, 'exit'));
    const told = await Promise.all(
      asked.map(async ({ stdout }, index) => {
        const [said] = await Promise.race([once(stdout, 'data'), ends[index]]);
        assert.ok(Buffer.isBuffer(said), 'It exited before it printed anything.');
        return JSON.parse(String(said));
      }),
    );
    for (const { stdin } of asked) stdin.end('go');
    assert.equal(new Set(told.flat()).size, 400); // by chance alone about seven would have repeated
    await Promise.all(ends); // the locks keep no process alive
  });

  test('trap 6: it is reported if all ports are in use, or no more files can be opened', async (t) => {
    const fail = (/** @type {string} */ code) =>
      t.mock.method(
        Socket.prototype,
        'bind',
        /** @this {Socket} */ function bind() {
          queueMicrotask(() => this.emit('error', Object.assign(new Error(code), { code })));
          return this;
        },
      );
    const bind = fail('EADDRINUSE');
    await assert.rejects(reservePort, (/** @type {any} */ { name, message, hint }) => {
      assert.ok(name && message.includes('All ports from 20000 to 31999 are taken.'), message);
      return /ss -ltnup/.test(hint);
    });
    const ports = new Set(bind.mock.calls.map(({ arguments: [how] }) => Object(how).port));
    assert.equal(ports.size, 12_000, 'each was tried');
    bind.mock.restore();
    fail('EMFILE');
    await assert.rejects(reservePort, { code: 'EMFILE' });
  });

  test('trap 6: no other run listens on a reserved port, not even to find out whether it is free', async (t) => {
    const random = t.mock.method(Math, 'random');
    const taken = await reservePort();
    const drawn = Number(random.mock.calls.at(-1)?.result);
    random.mock.resetCalls();
    random.mock.mockImplementationOnce(() => drawn); // the port in use comes first
    const listen = t.mock.method(Server.prototype, 'listen');
    assert.notEqual(await reservePort(), taken);
    assert.equal(random.mock.calls[0].result, drawn);
    assert.deepEqual(
      listen.mock.calls.filter(({ arguments: [port] }) => port === taken),
      [],
    );
    assert.notEqual(listen.mock.callCount(), 0);
  });

  test('trap 6: the port of a program is reserved for it until it has exited, even while nothing listens there', async (t) => {
    const program = await start(t, 'setInterval(() => {}, 1000);');
    const isKept = () => {
      const lock = createSocket('udp4');
      return new Promise((resolve) => {
        lock.once('error', () => resolve(true));
        lock.bind(program.port, '127.0.0.1', () => lock.close(() => resolve(false)));
      });
    };
    assert.equal(await isKept(), true);
    await program.stop();
    assert.equal(await isKept(), false);
  });

  test('trap 7: each request has its own connection, to 127.0.0.1, and a time limit', async (t) => {
    const server = http.createServer(({ url }, response) => url === '/' && response.end('ok'));
    t.after(() => server.close().closeAllConnections());
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const url = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
    const answers = [...(await getAtOnce(4, url)), await get(url)];
    assert.equal(new Set(answers.map(({ client }) => client)).size, 5);
    const { error, status, sentMs, doneMs } = await get(`${url}/never`, { timeoutMs: 100 });
    assert.match(String(error), /^no answer within 0\.[123] s$/); // a busy machine gets 0.1 s more than once
    assert.equal(status, undefined);
    assert.ok(doneMs - sentMs < limitMs(1));
  });

  test('trap 8: ready means that the expected number of workers listen', async (t) => {
    const program = await start(t, serving);
    const listening = () => program.events.filter(({ handle }) => handle === 'handed').length;
    assert.equal(await program.ready(1), true);
    assert.ok(listening() <= 1, 'the others start on request');
    const ready = program.ready(3);
    await get(program.url);
    assert.equal(await ready, true);
    await until('each has reported it', () => listening() === 3);
    assert.equal(await program.ready(4), false);
  });

  test('a program that waits for its module hooks, in a thread of Node, has not settled', async (t) => {
    const hooks = `export async function resolve(specifier, context, next) {
        const endMs = Date.now() + 3_000;
        while (specifier === 'node:http' && Date.now() < endMs);
        return next(specifier, context);
      }`;
    const text = `import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
      const { createServer } = await import('node:http');
      createServer((request, response) => response.end()).listen(process.env.PORT);`;
    const program = await start(t, text);
    assert.equal(await program.ready(1), true);
  });

  test('trap 9: variables that would turn a server into a worker are not passed on', async (t) => {
    const stray = {
      NODE_UNIQUE_ID: '7',
      NODE_CHANNEL_FD: '9',
      NODE_CLUSTER_SCHED_POLICY: 'none',
      NODE_EXTRA_CA_CERTS: '/etc/company.pem',
    };
    Object.assign(process.env, stray, { FORKSHOP_REPORT: 'json', KEPT: 'yes' });
    t.after(() => Object.keys(stray).forEach((name) => delete process.env[name]));
    t.after(() => ['FORKSHOP_REPORT', 'KEPT'].forEach((name) => delete process.env[name]));
    const program = await start(
      t,
      `import cluster from 'node:cluster';
      const names = ['NODE_UNIQUE_ID', 'NODE_CHANNEL_FD', 'NODE_CLUSTER_SCHED_POLICY', 'NODE_EXTRA_CA_CERTS', 'NODE_TEST_CONTEXT', 'FORKSHOP_REPORT'];
      console.log(cluster.isPrimary, names.filter((name) => name in process.env), process.env.KEPT);`,
    );
    await fate(program);
    assert.equal(program.output(), 'true [] yes\n');
  });

  test('trap 10: the probe has its own channel, and the program has none to us', async (t) => {
    const program = await start(
      t,
      `process.on('message', () => console.log('a message'));
      console.log(process.connected, typeof process.send);`,
    );
    await fate(program);
    assert.equal(program.output(), 'undefined undefined\n');
    assert.deepEqual(
      program.events.filter(({ what }) => what !== 'beat').map(({ what }) => what),
      ['start', 'exit'],
    );
  });

  test("trap 11: node:test's run() works on a list of files", async () => {
    const file = write('one.test.mjs', `import { test } from 'node:test'; test('one', () => {});`);
    const names = [];
    const env = process.env.NODE_TEST_CONTEXT;
    delete process.env.NODE_TEST_CONTEXT; // this file is itself in a test run
    try {
      for await (const { type, data } of run({ files: [file], concurrency: false }))
        if (type === 'test:pass') names.push(data.name);
    } finally {
      if (env !== undefined) process.env.NODE_TEST_CONTEXT = env;
    }
    assert.deepEqual(names, ['one']);
  });

  test('trap 12: coverage is of the machinery: the keeper reports its own', async (t) => {
    const place = mkdtempSync(join(folder, 'coverage '));
    const before = process.env.NODE_V8_COVERAGE;
    process.env.NODE_V8_COVERAGE = place;
    const runner = createRunner();
    if (before === undefined) delete process.env.NODE_V8_COVERAGE;
    else process.env.NODE_V8_COVERAGE = before;
    t.after(() => runner.close());
    const program = await runner.start({ entry: write('idle.mjs', 'setInterval(() => {}, 1e6);') });
    await until('it runs', () => program.events.length > 0);
    await runner.close();
    const covers = () =>
      readdirSync(place).some((name) =>
        readFileSync(join(place, name), 'utf8').includes('keeper.js'),
      );
    await until('the coverage is there', covers);
  });
});

describe('a runner', () => {
  test('keeps its files in one folder, which is removed with it', async () => {
    const runner = createRunner();
    const program = await runner.start({ entry: write('quick.mjs', `console.log('here')`) });
    await fate(program);
    const place = program.folder;
    assert.equal(existsSync(place), true);
    assert.deepEqual(await runner.close(), []);
    assert.equal(existsSync(join(place, '..')), false);
    assert.equal(program.output(), 'here\n', 'its earlier events are still known');
    assert.equal(program.events[0].what, 'start');
    await assert.rejects(runner.start({ entry: 'late.mjs' }), /closed/);
  });

  test('reports a program that cannot be started', async (t) => {
    const program = await start(t, '', { cwd: join(folder, 'nowhere') });
    const { kind, error } = await fate(program);
    assert.equal(kind, 'unstarted');
    assert.match(String(error), /ENOENT/);
  });

  test('resolves packages and #work for a program outside the repository', async (t) => {
    const program = await start(
      t,
      `import express from 'express'; import { blockFor } from '#work';
      console.log(typeof express, typeof blockFor);`,
    );
    await fate(program);
    assert.equal(program.output(), 'function function\n');
  });

  test('gives a program its own folder for temporary files on request', async (t) => {
    const text = "import { tmpdir } from 'node:os'; console.log(tmpdir());";
    const program = await start(t, text, { temporary: 'with a blank' });
    await fate(program);
    assert.equal(program.output().trim(), join(program.folder, 'with a blank'));
    assert.equal(program.temporary, join(program.folder, 'with a blank'));
  });

  test('pretends cores', async (t) => {
    const text = `import os, { availableParallelism } from 'node:os';
      console.log(availableParallelism(), os.availableParallelism(), os.cpus().length);`;
    const program = await start(t, text, { pretendCores: 13 });
    await fate(program);
    assert.match(program.output(), /^13 13 (?!13)\d+\n$/);
  });

  test('pretends that waits take longer', async (t) => {
    const text = `const array = new Int32Array(new SharedArrayBuffer(4));
      const startMs = performance.now();
      Atomics.wait(array, 0, 0, 20);
      console.log(performance.now() - startMs);`;
    const program = await start(t, text, { pretendWaits: 5 });
    await fate(program);
    assert.ok(Number(program.output()) > 95, program.output());
  });

  test('pretends forks: they are reported and emitted, and no process is started', async (t) => {
    const text = `import cluster from 'node:cluster';
      let heard = 0;
      cluster.on('listening', () => (heard += 1) === 3 && console.log('all listen'));
      if (cluster.isPrimary) for (let count = 0; count < 3; count += 1) cluster.fork();
      else console.log('a worker');
      setTimeout(() => process.exit(), 300);`;
    const program = await start(t, text, { pretendForks: true });
    await fate(program);
    assert.equal(program.output(), 'all listen\n');
    assert.equal(program.events.filter(({ what }) => what === 'fork').length, 3);
    assert.equal(program.events.filter(({ what }) => what === 'start').length, 1);
  });

  test('pretends forks even for a primary that exits before Node.js reports them', async (t) => {
    const text = `import cluster from 'node:cluster';
      cluster.fork();
      setImmediate(() => (cluster.fork(), process.exit(1)));`;
    const program = await start(t, text, { pretendForks: true });
    await fate(program);
    assert.equal(program.events.filter(({ what }) => what === 'fork').length, 2);
  });

  test('pretends that a worker exits with a code other than 1, whether it throws or exits', async (t) => {
    const text = `import cluster from 'node:cluster';
      if (cluster.isPrimary)
        for (const way of ['throw', 'one', 'two', 'none'])
          cluster.fork({ WAY: way }).on('exit', (code) => console.log(way, code));
      else if (process.env.WAY === 'throw') setTimeout(() => undefined.rows, 10);
      else process.exit({ one: 1, two: 2, none: 0 }[process.env.WAY]);`;
    const program = await start(t, text, { pretendExitCode: 3 });
    await fate(program);
    const lines = program.output().match(/^(throw|one|two|none) \d$/gm) ?? [];
    assert.deepEqual(lines.sort(), ['none 0', 'one 3', 'throw 3', 'two 2']);
  });

  const hasChild = `import { spawn } from 'node:child_process';
    import { EventEmitter } from 'node:events';
    if (process.env.KIND === 'child') setInterval(() => {}, 60_000);
    else {
      const env = { KIND: 'child', NODE_OPTIONS: '--max-old-space-size=64' };
      const child = spawn(process.execPath, [process.argv[1]], { stdio: 'inherit', env });
      child.on('exit', () => {});
      for (let count = 0; count < 12; count += 1) child.on('message', () => {});
      const other = new EventEmitter();
      for (let count = 0; count < 14; count += 1) other.on('a crowd', () => {});
      setInterval(() => other.emit('nothing'), 60_000);
    }`;
  const startsIn = (program) => program.events.filter(({ what }) => what === 'start');
  const beatsOf = (program, pid) =>
    program.events.filter((event) => event.what === 'beat' && event.pid === pid);

  test('follows a child with a replaced environment, if so configured', async (t) => {
    const program = await start(t, hasChild, { followsChildren: true });
    await until('the child has reported itself', () => startsIn(program).length === 2);
    const left = await start(t, hasChild);
    await until('there is a child', () => left.events.some(({ what }) => what === 'child'));
    await until('it has beaten', () => beatsOf(left, left.pid).length > 10);
    assert.equal(startsIn(left).length, 1);
  });

  test('reports a crowd of listeners, whether Node warned or not', async (t) => {
    const program = await start(t, hasChild);
    const crowds = () => beatsOf(program, program.pid).filter(({ listeners }) => listeners > 10);
    await until('it is found', () => crowds().length > 0);
    const { listeners, crowded } = crowds()[0];
    assert.deepEqual({ listeners, crowded }, { listeners: 14, crowded: 'a crowd' });
  });

  test('stops children before the first line of their file', onPosix, async (t) => {
    const program = await start(t, hasChild, { followsChildren: true, haltsChildren: true });
    await until('the child has reported itself', () => startsIn(program).length === 2);
    const child = startsIn(program)[1].pid;
    const { length } = beatsOf(program, program.pid);
    await until('its parent continues', () => beatsOf(program, program.pid).length > length + 5);
    assert.equal(beatsOf(program, child).length, 0);
    await until('it continues as well', () => {
      program.kill(child, 'SIGCONT');
      return beatsOf(program, child).length > 0;
    });
  });

  test('waits until no request is left', async (t) => {
    const program = await start(
      t,
      `import http from 'node:http';
      http.createServer((q, r) => setTimeout(() => r.end('late'), 100)).listen(process.env.PORT);`,
    );
    await program.ready(1);
    const asked = getAtOnce(3, program.url);
    await program.until((events) => events.some(({ what }) => what === 'request'));
    const answers = await asked;
    await program.drained();
    assert.ok(answers.every(({ body }) => body === 'late'));
    assert.equal(timeline.requestsOf(program.events).filter(({ endMs }) => endMs).length, 3);
  });
});

describe('a copy of a program', () => {
  const place = join(folder, 'to be copied');
  mkdirSync(join(place, 'deep/node_modules'), { recursive: true });
  writeFileSync(
    join(place, 'server.js'),
    `import { version } from './app.js'; console.log(version);`,
  );
  writeFileSync(join(place, 'app.js'), `export const version = 'one';`);
  writeFileSync(join(place, 'package.json'), `{ "type": "module", "name": "copied" }`);
  writeFileSync(join(place, 'deep/node_modules/left.js'), '');
  const home = join(folder, 'home of copies');
  mkdirSync(home);

  test('runs by itself, with another version of a file; the original stays', async (t) => {
    const runner = open(t);
    const copy = copyProgram({ place, entry: join(place, 'server.js') }, runner.home);
    copy.write('app.js', `export const version = 'two';`);
    const program = await runner.start({ entry: copy.entry });
    await fate(program);
    assert.equal(program.output(), 'two\n');
    assert.match(readFileSync(join(place, 'app.js'), 'utf8'), /one/);
    assert.equal(existsSync(join(copy.folder, 'deep')), true);
    assert.equal(existsSync(join(copy.folder, 'deep/node_modules')), false);
    assert.match(readFileSync(join(copy.folder, 'package.json'), 'utf8'), /copied/);
    await runner.close();
    assert.equal(existsSync(copy.folder), false);
  });

  test('of a single file has the rest from elsewhere, and the module type from around it', () => {
    const file = join(place, 'other.js');
    writeFileSync(file, '');
    const rest = join(folder, 'rest of it');
    mkdirSync(rest);
    for (const name of ['app.js', 'other.js']) writeFileSync(join(rest, name), '// of the rest');
    const copy = copyProgram({ place: file, entry: file, rest }, home);
    assert.equal(copy.entry, join(copy.folder, 'other.js'));
    assert.equal(readFileSync(copy.entry, 'utf8'), '');
    assert.equal(readFileSync(join(copy.folder, 'app.js'), 'utf8'), '// of the rest');
    assert.equal(existsSync(join(copy.folder, 'server.js')), false);
    const manifest = readFileSync(join(copy.folder, 'package.json'), 'utf8');
    assert.deepEqual(JSON.parse(manifest), { type: 'module' });
  });

  test('of a program of this repository finds packages and #work', async (t) => {
    const ours = join(rootFolder, '.forkshop', `copied-${process.pid}`);
    mkdirSync(ours, { recursive: true });
    t.after(() => rmSync(ours, { recursive: true }));
    const text = `import express from 'express'; import { blockFor } from '#work';
      console.log(typeof express, typeof blockFor);`;
    writeFileSync(join(ours, 'server.js'), text);
    const runner = open(t);
    const { entry } = copyProgram({ place: ours, entry: join(ours, 'server.js') }, runner.home);
    const program = await runner.start({ entry });
    await fate(program);
    assert.equal(program.output(), 'function function\n');
    assert.doesNotMatch(String(environmentOf(program).NODE_OPTIONS), /resolve-elsewhere/);
  });

  test('has no module type if there is none around the original', () => {
    const bare = mkdtempSync(join(tmpdir(), 'bare '));
    writeFileSync(join(bare, 'server.js'), '');
    const copy = copyProgram({ place: bare, entry: join(bare, 'server.js') }, home);
    rmSync(bare, { recursive: true });
    assert.equal(existsSync(join(copy.folder, 'package.json')), false);
  });
});

describe('the timeline', () => {
  const { deepestOverlap, groupBy, listenersOf, openTimeline, parseTimeline, quickestOf } =
    timeline;
  const { eventsOf, exitsOf, forksOf, waitsOf } = timeline;

  test('reads appended events, and waits for the end of a line', () => {
    const file = write('growing.jsonl', '');
    const opened = openTimeline(file);
    assert.deepEqual(opened.read(), []);
    appendFileSync(file, '{"t":1,"pid":1,"what":"ü"}\n{"t":2,"pi');
    assert.deepEqual(
      opened.read().map(({ t, what }) => [t, what]),
      [[1, 'ü']],
    );
    assert.deepEqual(opened.read(), []);
    appendFileSync(file, 'd":1,"what":"b"}\nno JSON\n\n{"t":3,"pid":1,"what":"c"}\n');
    assert.deepEqual(
      opened.read().map(({ t }) => t),
      [2, 3],
    );
    assert.equal(opened.events.length, 3);
    opened.close();
  });

  test('reads more than fits into its buffer, whole letters and whole lines', () => {
    const line = (/** @type {number} */ t) => `{"t":${t},"pid":1,"what":"${'ü€'.repeat(40)}"}\n`;
    const file = write('long.jsonl', Array.from({ length: 5_000 }, (_, t) => line(t)).join(''));
    assert.ok(statSync(file).size > 2 * 256 * 1024);
    const opened = openTimeline(file);
    const events = opened.read();
    opened.close();
    assert.deepEqual(
      events.map(({ t }) => t),
      Array.from({ length: 5_000 }, (_, t) => t),
    );
    assert.ok(events.every(({ what }) => what === 'ü€'.repeat(40)));
  });

  test('reads a line that is longer than its buffer, up to a limit', () => {
    const event = '{"t":1,"pid":1,"what":"b"}\n';
    const file = write('endless.jsonl', `${event}${'ü'.repeat(500_000)}`);
    const opened = openTimeline(file);
    assert.equal(opened.read().length, 1);
    appendFileSync(file, `${'ü'.repeat(500_000)}\n${event}`);
    assert.equal(opened.read().length, 1);
    assert.equal(opened.isFull(), false);
    truncateSync(file, timeline.MOST_BYTES + 1024 ** 2);
    appendFileSync(file, `\n${event}`);
    assert.equal(opened.read().length, 0);
    assert.equal(opened.isFull(), true);
    opened.close();
  });

  test('ignores every line that is not an event', () => {
    const odd = ['null', '3', '"text"', '[]', '{}', '{"t":1}', '{"t":"1","pid":1,"what":"beat"}'];
    odd.push('{"t":1,"pid":1,"what":"request"}', '{"t":1,"pid":1,"what":"crash","error":{}}');
    const event = '{"t":1,"pid":1,"what":"beat"}';
    assert.deepEqual(parseTimeline([...odd, event, 'x', ''].join('\n')), [JSON.parse(event)]);
  });

  const recorded = parseTimeline(`
    {"t":1,"pid":10,"what":"start","ppid":1,"role":"primary"}
    {"t":2,"pid":10,"what":"fork","worker":1,"workerPid":11}
    {"t":2,"pid":10,"what":"fork","worker":2,"workerPid":12}
    {"t":3,"pid":11,"what":"start","ppid":10,"role":"worker","worker":1}
    {"t":4,"pid":11,"tid":1,"what":"start","ppid":10,"role":"thread"}
    {"t":5,"pid":11,"tid":1,"what":"exit","code":0}
    {"t":5,"pid":11,"what":"listening","port":80,"handle":"handed"}
    {"t":5,"pid":10,"what":"listening","port":80,"handle":"kernel"}
    {"t":6,"pid":11,"what":"listening","handle":"kernel"}
    {"t":6,"pid":11,"what":"connection","client":5,"how":"handed"}
    {"t":6,"pid":11,"what":"request","client":5,"url":"/a?b"}
    {"t":7,"pid":12,"what":"request","client":5,"url":"/b"}
    {"t":8,"pid":11,"what":"response","client":5,"status":200}
    {"t":9,"pid":11,"what":"response","client":6,"status":200}
    {"t":9,"pid":10,"what":"worker-exit","worker":2,"workerPid":12,"code":null,"signal":"SIGKILL"}
    {"t":9,"pid":11,"what":"exit","code":3}`);

  test('lists the processes, including one that only its primary has reported', () => {
    const found = timeline.processesOf(recorded);
    assert.deepEqual(
      found.map(({ pid, role, endMs, code, signal }) => [pid, role, endMs, code, signal]),
      [
        [10, 'primary', undefined, undefined, undefined],
        [11, 'worker', 9, 3, undefined],
        [12, 'worker', 9, null, 'SIGKILL'],
      ],
    );
  });

  test('lists the events of a kind, the forks, and the exits of workers', () => {
    const starts = eventsOf(recorded, 'start');
    assert.deepEqual(
      starts.map(({ pid, role }) => [pid, role]),
      [
        [10, 'primary'],
        [11, 'worker'],
        [11, 'thread'],
      ],
    );
    assert.deepEqual(eventsOf(recorded, 'beat'), []);
    assert.deepEqual(
      forksOf(recorded).map(({ workerPid }) => workerPid),
      [11, 12],
    );
    assert.deepEqual(
      exitsOf(recorded).map(({ workerPid, signal }) => [workerPid, signal]),
      [[12, 'SIGKILL']],
    );
  });

  test('measures how long a primary waits before each new start, including a wait that is still running', () => {
    const line = (t, what) => ({ t, pid: 1, what });
    const events = [
      ...[line(1, 'fork'), line(11, 'worker-exit')],
      ...[line(111.4, 'fork'), line(120, 'worker-exit')],
    ];
    assert.deepEqual(waitsOf([], 500), []);
    assert.deepEqual(waitsOf(events.slice(0, 1), 500), [], 'it is alive');
    assert.deepEqual(waitsOf(events.slice(0, 2)), [], 'there is no next');
    assert.deepEqual(waitsOf(events), [100]);
    assert.deepEqual(waitsOf(events, 500), [100, 380]);
  });

  test('lists requests, of a path, answered or not', () => {
    const all = timeline.requestsOf(recorded);
    assert.deepEqual(
      all.map(({ pid, client, startMs, endMs, status }) => [pid, client, startMs, endMs, status]),
      [
        [11, 5, 6, 8, 200],
        [12, 5, 7, undefined, undefined],
      ],
    );
    assert.deepEqual(timeline.requestsOf(recorded, '/a'), all.slice(0, 1));
    assert.deepEqual(timeline.requestsOf(recorded, '/c'), []);
  });

  test('joins an answer to its request by their order on the connection', () => {
    const line = (t, what, more = {}) => ({ t, pid: 1, what, client: 9, ...more });
    const events = [
      line(1, 'connection'),
      ...[line(2, 'request', { url: '/a' }), line(3, 'response', { status: 200 })],
      ...[line(4, 'request', { url: '/b' }), line(5, 'request', { url: '/c' })],
      line(6, 'response', { status: 404 }),
      line(7, 'connection'), // the same port again: /c was never answered
      ...[line(8, 'request', { url: '/d' }), line(9, 'response', { status: 500 })],
    ];
    assert.deepEqual(
      timeline.requestsOf(events).map(({ url, endMs, status }) => [url, endMs, status]),
      [
        ['/a', 3, 200],
        ['/b', 6, 404],
        ['/c', undefined, undefined],
        ['/d', 9, 500],
      ],
    );
    assert.deepEqual(
      timeline.requestsOf(events, '/d').map(({ endMs }) => endMs),
      [9],
    );
  });

  test('lists listeners by port', () => {
    assert.deepEqual(listenersOf(recorded), new Map([[80, new Set([11, 10])]]));
  });

  test('finds the deepest overlap; neighbours do not overlap, unanswered requests never end', () => {
    assert.equal(deepestOverlap([]), 0);
    const intervals = [
      { startMs: 1, endMs: 2 },
      { startMs: 2, endMs: 3 },
      { startMs: 1.5, endMs: 1.7 },
    ];
    assert.equal(deepestOverlap(intervals), 2);
    assert.equal(deepestOverlap(intervals.slice(0, 2)), 1);
    assert.equal(deepestOverlap([{ startMs: 1 }, { startMs: 5 }, { startMs: 9 }]), 3);
  });

  test('finds the quickest; unanswered requests never end', () => {
    assert.equal(
      quickestOf([{ startMs: 1, endMs: 4 }, { startMs: 2, endMs: 4 }, { startMs: 4 }]),
      2,
    );
    assert.equal(quickestOf([{ startMs: 1 }]), Infinity);
    assert.equal(quickestOf([]), Infinity);
  });

  test('groups', () => {
    assert.deepEqual(
      groupBy([1, 2, 3], (n) => n % 2),
      new Map([
        [1, [1, 3]],
        [0, [2]],
      ]),
    );
  });
});

describe('whether a program has settled', () => {
  const start = { t: 0, pid: 1, what: 'start', role: 'primary' };
  const beat = (/** @type {number} */ t, more = {}) => ({ t, pid: 1, what: 'beat', ...more });
  const listening = { t: 10, pid: 1, what: 'listening', port: 80 };

  test('it has when all processes listen and their loops have turned for a while', () => {
    assert.equal(isSettled([start, listening, beat(100)]), false);
    assert.equal(isSettled([start, listening, beat(120)]), true);
  });

  test('a process that does not listen gets longer; one with a timer longer still', () => {
    assert.equal(isSettled([start, beat(2_400)]), false);
    assert.equal(isSettled([start, beat(2_600)]), true);
    const timers = { timers: 1 };
    assert.equal(isSettled([start, beat(2_500, timers), beat(2_600)]), false);
    assert.equal(isSettled([start, beat(2_500, timers), beat(3_100)]), true);
    assert.equal(isSettled([start, beat(2_500, timers), beat(2_600, { timers: 0 })]), true);
  });

  test('a process with a child that has not reported itself also gets longer', () => {
    const child = { t: 50, pid: 1, what: 'child', childPid: 2 };
    const grown = { ...start, t: 100, pid: 2, role: 'primary' };
    assert.equal(isSettled([start, child, beat(2_600)]), false);
    assert.equal(isSettled([start, child, beat(3_100)]), true);
    const dead = { t: 2, pid: 1, what: 'worker-exit', workerPid: child.childPid };
    assert.equal(
      isSettled([start, child, dead, beat(2_600)]),
      true,
      'exited processes are not waited for',
    );
    const both = [beat(2_700), { ...beat(2_700), pid: 2 }];
    assert.equal(isSettled([start, child, grown, ...both]), true);
  });

  test('a process has not settled if its loop does not turn or it is gone', () => {
    assert.equal(isSettled([start, listening]), false);
    assert.equal(isSettled([start, beat(9_000, { tid: 1 })]), false);
    assert.equal(isSettled([start, beat(9_000), { t: 9_001, pid: 1, what: 'exit' }]), false);
    assert.equal(isSettled([]), false);
  });

  test('workers that exit again and again are enough, unless one has listened', () => {
    const end = (/** @type {number} */ t) => ({ t, pid: 1, what: 'worker-exit', workerPid: t });
    const ends = Array.from({ length: 12 }, (_, index) => end(index + 100));
    assert.equal(isFutile(ends.slice(1)), false);
    assert.equal(isFutile(ends), true);
    assert.equal(isSettled([start, ...ends]), true);
    assert.equal(isFutile([{ ...listening, handle: 'handed' }, ...ends]), false);
    assert.equal(isFutile([{ ...listening, handle: 'kernel' }, ...ends]), true);
    const children = ends.flatMap(({ t }) =>
      Array(4).fill({ t, pid: 1, what: 'child', childPid: t }),
    );
    assert.equal(isFutile(children), true);
  });

  test('a worker that listens without having reported itself counts as unobserved', () => {
    const told = { t: 3, pid: 1, what: 'worker-listening', workerPid: 2 };
    assert.equal(hasUnseenWorker([start, told]), true);
    assert.equal(hasUnseenWorker([start, { ...start, pid: 2 }, told]), false);
  });
});

describe('processes', () => {
  test('are listed as ps lists them', () => {
    const mine = listProcesses().find(({ pid }) => pid === process.pid);
    const text = execFileSync('ps', ['-o', 'ppid=,pgid=,rss=', '-p', String(process.pid)]);
    const [ppid, pgid, rss] = String(text).trim().split(/\s+/).map(Number);
    assert.deepEqual([mine?.ppid, mine?.pgid], [ppid, pgid]);
    assert.ok(Math.abs(Number(mine?.rssBytes) / 1024 - rss) < 0.3 * rss);
    assert.ok(mine && Math.abs(ageMs(mine) - process.uptime() * 1000) < limitMs(2));
  });

  test('are listed by ps where there is no /proc', { skip: process.platform === 'win32' }, (t) => {
    const platform = /** @type {PropertyDescriptor} */ (
      Object.getOwnPropertyDescriptor(process, 'platform')
    );
    t.after(() => Object.defineProperty(process, 'platform', platform));
    Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
    const mine = listProcesses().find(({ pid }) => pid === process.pid);
    assert.ok(mine && mine.ppid === process.ppid && mine.rssBytes > 2 ** 20);
    assert.equal(isAlive(mine), true);
    assert.equal(isAlive({ pid: process.pid, born: 1 }), false);
    assert.ok(Math.abs(ageMs(mine) - process.uptime() * 1000) < limitMs(3)); // reported in seconds
    assert.equal(hasMark(process.pid, 'forkshop-0-0-0-00000000'), false, 'only Linux reports it');
  });

  test('are identified by pid and birth', () => {
    const mine = listProcesses().find(({ pid }) => pid === process.pid);
    assert.ok(mine && isAlive(mine));
    assert.equal(isAlive({ ...mine, born: mine.born + 1 }), false);
    assert.equal(isAlive({ pid: 2 ** 30, born: mine.born }), false);
  });

  test('have families', () => {
    const one = (/** @type {number} */ pid, /** @type {number} */ ppid) => ({
      ...{ pid, ppid, pgid: 0, born: 0, rssBytes: 0 },
    });
    const all = [one(5, 4), one(4, 3), one(3, 1), one(6, 1)];
    const pids = familyOf(all, ({ pid }) => pid === 3).map(({ pid }) => pid);
    assert.deepEqual(pids, [5, 4, 3]);
    assert.deepEqual(
      familyOf(all, () => false),
      [],
    );
  });
});

describe('the client', () => {
  /** @param {TestContext} t @param {http.RequestListener} listener */
  async function serve(t, listener) {
    const server = http.createServer(listener);
    t.after(() => server.close().closeAllConnections());
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  }

  test('reports status, headers, body and time', async (t) => {
    const url = await serve(t, (request, response) => {
      response.writeHead(203, { 'x-seen': String(request.headers['x-sent']) }).end('é');
    });
    const answer = await get(url, { headers: { 'x-sent': 'this' } });
    const { status, headers, body, error, sentMs, doneMs } = answer;
    assert.deepEqual([status, headers['x-seen'], error], [203, 'this', undefined]);
    assert.equal(Buffer.from(body, 'latin1').toString(), 'é');
    assert.ok(doneMs >= sentMs);
  });

  test('describes failures in words, and never rejects', async (t) => {
    const url = await serve(t, ({ url: path, socket }, response) => {
      if (path === '/reset') socket.destroy();
      else if (path === '/broken') {
        response.writeHead(200, { 'content-length': 10 }).write('half');
        setTimeout(() => socket.destroy(), 30);
      } else if (path === '/half') response.writeHead(200).write('half');
      else response.end('x'.repeat(2 * 1024 * 1024));
    });
    assert.match(String((await get(`${url}/reset`)).error), /ECONNRESET|socket hang up/);
    assert.match(String((await get(`${url}/broken`)).error), /broke off/);
    assert.equal((await get(`${url}/large`)).error, 'the body is larger than 1 MB');
    const timeoutMs = limitMs(0.1); // the first part must have arrived before that
    const { error } = await get(`${url}/half`, { timeoutMs });
    assert.match(String(error), /^only a part of the answer within [\d.]+ s$/);
    const refused = await get(`http://127.0.0.1:${await reservePort()}`);
    assert.equal(refused.error, 'ECONNREFUSED');
    assert.equal(refused.status, undefined);
  });

  test('waits less long for a server that has not answered before', async (t) => {
    const url = await serve(t, () => {});
    assert.match(
      String((await get(url, { timeoutMs: 50 })).error),
      /^no answer within 0\.(05|1|15) s$/,
    );
    assert.match(String((await get(url)).error), /^no answer within (0\.4|0\.8|1\.2\d*) s$/); // of the default of 4 s
  });

  test('keeps a connection if it is given an agent', async (t) => {
    const url = await serve(t, (request, response) => response.end('ok'));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const answers = [await get(url, { agent }), await get(url, { agent })];
    assert.ok(answers.every(({ status }) => status === 200));
  });
});
