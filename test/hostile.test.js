// Verifies that each hostile program gets a verdict that names the cause, in time, and leaves nothing, even if the check is
// interrupted. The programs are in test/fixtures/hostile/, run through the real command, in a namespace of our own
// (namespace.js).
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnSync } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { hasStopped } from '../lib/observe/processes.js';
import { limitMs } from './limits.js';
import { onlyApart } from './namespace.js';
import { Watched, until } from './nothing-left.js';
import { createSlots } from './slots.js';

const fixtures = join(rootFolder, 'test/fixtures/hostile');
const AT_ONCE = 3; // most of these programs wait; more of them would leave the machine too busy to judge missing events
const REST_MS = 2_000; // a keeper resumes a check that a program has stopped sooner than this
const TRIES_TO_CATCH = 10; // a running check may be over before we look
const slots = createSlots(AT_ONCE);
const concurrency = true; // as many as there are slots for

/** Programs that keep a core busy or take much memory leave room for fewer beside them. @type {Record<string, number>} */
const wants = {
  'blocks-at-top': 2,
  'workers-in-microtasks': 2,
  'hogs-heap': 3,
  'hogs-buffers': 3,
  'fork-bomb': 2,
};
const slotsOf = (/** @type {string} */ place) => wants[basename(place)] ?? 1;

/**
 * A distinctive part of got and why in the first failed promise of each program.
 * @type {Record<string, { says: RegExp, lesson?: string, promise?: string }>}
 */
const hostile = {
  'never-listens': { says: /isn't listening on any port.*No process called listen/ },
  'exits-with-0': { says: /code 0 before it listened.*nothing keeps it alive/ },
  'exits-with-3': { says: /code 3 .*The database cannot be reached/ },
  'waits-for-nothing': { says: /code 13 .*await at the top/ },
  'throws-on-request': { says: /ECONNRESET.*TypeError: the price of this request is unknown/ },
  'throws-in-workers': { says: /RangeError: no worker can start \(server\.js, line 3\)/ },
  'blocks-at-top': { says: /event loop does not turn.*endless loop/ },
  'blocks-in-request': { says: /4 answered none.*no answer within/ },
  'one-worker-stuck': { says: /1 answered none/ },
  'workers-in-microtasks': { says: /4 answered none.*as far as listen/ },
  'fork-bomb': { says: /started \d+ processes.*forks endlessly/ },
  'respawns-without-end': { says: /workers exit before they listen.*configuration is missing/ },
  'respawns-with-back-off': { says: /workers exit before they listen.*configuration is missing/ },
  'detached-grandchild': { says: /forks no worker/ },
  'detached-in-disguise': { says: /forks no worker/ },
  'leaves-a-stray': { says: /code 0 before it listened/ },
  'leaves-a-daemon': { says: /isn't listening on any port.*No process called listen/ },
  hydra: { says: /code 0 before it listened/ },
  'ignores-signals': { says: /forks no worker/ },
  'floods-output': { says: /printed \d+ MB.*prints far too much/ },
  'closes-output': { says: /forks no worker/ },
  'other-port': { says: /listens on port \d+, but PORT was \d+/ },
  'port-taken': { says: /EADDRINUSE.*line 4/ },
  'answers-half': { says: /only a part of the answer within/ },
  'hangs-after-headers': { says: /only a part of the answer within/ },
  'endless-answer': { says: /larger than 1 MB/ },
  'kills-parent-sigterm': { says: /killed the process that had started it/ },
  'kills-parent-sigkill': { says: /killed the process that had started it/ },
  'hogs-heap': { says: /forks no worker|MB of memory/ },
  'hogs-buffers': { says: /took \d+ MB of memory|event loop does not turn/ }, // the second on a machine with slow memory
  'prints-json': { says: /forks no worker/ },
  tampers: { says: /forks no worker/ },
  'hides-its-workers': { says: /cannot be observed.*process\.env/ },
  'leaves-after-listening': { says: /code 7 after it had listened/ },
  'cleans-up-too-much': { says: /forks no worker/ },
  'stops-its-parent': { says: /forks no worker/ },
  'stops-the-check': { says: /forks no worker/ },
  forges: { says: /Process \d+ is reported, but it does not belong to this run/ },
  'silent-health': { says: /\/health .*no answer within/, lesson: 'lesson-1' },
};

/** Kills the command and the keeper, so no process is left to print a verdict. */
const KILLS_BOTH = 'kills-both';

/** The slowest programs start first, so that the others run beside them. */
const LONG = ['blocks-at-top', 'hogs-heap', 'silent-health', 'hogs-buffers', 'blocks-in-request'];
const inOrder = Object.entries({
  ...Object.fromEntries(LONG.map((name) => [name, hostile[name]])),
  ...hostile,
});

/** Programs that the check of lesson 1, which sends more requests, must survive as well. */
const alsoInLesson1 = {
  'exits-with-3': /code 3/,
  'throws-on-request': /ECONNRESET.*the price of this request is unknown/,
  'blocks-in-request': /no answer within \d+ s/,
  'answers-half': /only a part of the answer/,
};

const holder = createServer();
before(() => new Promise((resolve) => holder.listen(0, () => resolve(undefined))));
after(() => holder.close());

test('every hostile program is tried', () => {
  const tried = [...Object.keys(hostile), KILLS_BOTH];
  assert.deepEqual(tried.sort(), readdirSync(fixtures).sort());
  assert.ok(Object.keys(hostile).length >= 22);
});

describe(
  'a hostile program gets a verdict that names the cause, and leaves nothing',
  { concurrency, ...onlyApart },
  () => {
    for (const [name, { says, lesson = 'lesson-2' }] of inOrder) {
      const options = { lesson, place: join(fixtures, name), says };
      test(name, (t) => assertFailure(t, options));
    }
    for (const [name, says] of Object.entries(alsoInLesson1)) {
      const options = { lesson: 'lesson-1', place: join(fixtures, name), says };
      test(`${name}, in lesson 1`, (t) => assertFailure(t, options));
    }
  },
);

describe('a file that is not a program', { concurrency }, () => {
  const place = mkdtempSync(join(tmpdir(), 'hostile-places-'));
  const solution = join(rootFolder, 'solutions/02-cluster-fork/server.js');
  const make = (/** @type {string} */ name) => {
    mkdirSync(join(place, name));
    return join(place, name);
  };
  after(() => rmSync(place, { recursive: true }));

  test('is missing', (t) => assertFailure(t, { place: make('missing'), says: /no server\.js in/ }));

  test('is a dangling link', (t) => {
    const folder = make('dangling');
    symlinkSync('gone', join(folder, 'server.js'));
    return assertFailure(t, { place: folder, says: /no server\.js in/ });
  });

  test('is empty', (t) => {
    const folder = make('empty');
    writeFileSync(join(folder, 'server.js'), '\n');
    return assertFailure(t, { place: folder, says: /server\.js is empty/ });
  });

  test('is a folder', (t) => {
    const folder = make('folder');
    mkdirSync(join(folder, 'server.js'));
    return assertFailure(t, { place: folder, says: /isn't a file; perhaps it is a folder/ });
  });

  test('is not JavaScript', (t) => {
    const folder = make('syntax');
    const text = "import http from 'node:http';\nhttp.createServer((request, response => {});\n";
    writeFileSync(join(folder, 'server.js'), text);
    return assertFailure(t, { place: folder, says: /SyntaxError: .*\(server\.js, line 2\)/ });
  });

  const prefix = process.getuid?.() === 0 ? withoutPowers() : [];
  test('cannot be read', { skip: !prefix && 'root reads everything; no setpriv' }, (t) => {
    const folder = make('unreadable');
    copyFileSync(solution, join(folder, 'server.js'));
    chmodSync(join(folder, 'server.js'), 0);
    return assertFailure(t, { place: folder, says: /cannot be read \(EACCES\)/, prefix });
  });

  test('does not exist, which is a usage error', async (t) => {
    const watched = check(t, { place: join(place, 'nowhere') });
    const { code, stdout, stderr } = await watched.end;
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /There is no folder .*nowhere/);
    await assertNothingLeft(watched);
  });

  test('is right, in a path with blanks, quotes, signs and letters of other languages', async (t) => {
    const folder = make(`mein Ordner ü 日本 'q' "d" $HOME #1%20 é`);
    copyFileSync(solution, join(folder, 'server.js'));
    const result = await slots.take(1, () => judgeOnce(t, { place: folder }));
    const unsure = result.promises.filter(({ verdict }) => verdict !== 'passed');
    assert.ok(result.verdict !== 'failed' && !result.fault, JSON.stringify(unsure));
    assert.ok(
      unsure.every(({ id }) => id === 'speedup'),
      'only the speedup may be undecided',
    );
  });
});

describe('an interrupted check leaves nothing', { concurrency, ...onlyApart }, () => {
  /** @type {Record<string, (watched: Watched) => void>} */
  const interruptions = {
    'Ctrl-C': ({ pid }) => process.kill(-pid, 'SIGINT'),
    'SIGKILL of the command': ({ pid }) => process.kill(pid, 'SIGKILL'),
    'SIGKILL of the keeper': (watched) => killAll(watched.running('keeper.js')),
    'SIGTERM of the command': ({ pid }) => process.kill(pid, 'SIGTERM'),
  };
  /** Further interruptions of a check that runs by itself, under `node --test`. @type {typeof interruptions} */
  const alone = {
    'SIGKILL of node --test': ({ pid }) => process.kill(pid, 'SIGKILL'),
    "SIGKILL of the check's process": (watched) =>
      killAll(watched.running('/check.js').filter(({ ppid }) => ppid === watched.pid)),
  };
  const isUp = (/** @type {Watched} */ watched) => watched.programs().length > 0;
  const isMeasuring = (/** @type {Watched} */ watched) =>
    watched.running('load-process.js').length > 0 && watched.running('starter').length > 0;
  const solution = join(rootFolder, 'solutions/02-cluster-fork');
  const unstoppable = ['ignores-signals', 'detached-in-disguise', 'fork-bomb', 'blocks-at-top'];
  const programs = [
    { name: 'the solution, as soon as it runs', place: solution, when: isUp, ways: 4 },
    { name: 'the solution, when measured', place: solution, when: isMeasuring, ways: 3 },
    ...unstoppable.map((name) => ({ name, place: join(fixtures, name), when: isUp, ways: 3 })),
  ];
  for (const { name, place, when, ways } of programs)
    for (const [how, interrupt] of Object.entries(interruptions).slice(0, ways))
      test(`${how}: ${name}`, (t) =>
        slots.take(slotsOf(place), () =>
          interrupted(() => check(t, { place }), { when, how, interrupt }),
        ));
  for (const name of ['ignores-signals', 'detached-in-disguise'])
    for (const [how, interrupt] of Object.entries(alone))
      test(`${how}: ${name}`, (t) =>
        slots.take(1, () =>
          interrupted(() => checkAlone(t, join(fixtures, name)), { when: isUp, how, interrupt }),
        ));

  test(
    'the program sends SIGKILL to the command and the keeper at once',
    { skip: process.platform !== 'linux' && 'Only there can it find out their pids.' },
    (t) =>
      slots.take(1, async () => {
        const watched = check(t, { place: join(fixtures, KILLS_BOTH) });
        const { signal, stdout } = await watched.over();
        const wasQuicker = /killed the process that had started it/; // the program lost its core between the two signals
        assert.ok(signal === 'SIGKILL' || wasQuicker.test(stdout), `${signal} ${stdout}`);
        await watched.startNext();
        await assertNothingLeft(watched);
      }),
  );

  test(
    'Ctrl-Z: it stops until it is continued',
    { skip: process.platform !== 'linux' && 'Seen on Linux only.' },
    (t) =>
      slots.take(1, async () => {
        const watched = check(t, { place: solution });
        await until('it is running', () => isUp(watched), limitMs(10));
        process.kill(watched.pid, 'SIGTSTP');
        await until('it stands still', () => hasStopped(watched.pid), limitMs(10));
        await sleep(REST_MS);
        assert.ok(hasStopped(watched.pid), 'Its keeper has woken it.');
        process.kill(watched.pid, 'SIGCONT');
        const { stdout } = await watched.over();
        assert.match(stdout, /"verdict": "(passed|inconclusive)"/);
        await assertNothingLeft(watched);
      }),
  );

  /**
   * Begins again if the check was over before it was interrupted.
   * @param {() => Watched} begin
   * @param {{ when: typeof isUp, how: string, interrupt: (watched: Watched) => void }} options
   */
  async function interrupted(begin, { when, how, interrupt }) {
    for (let tries = 0; tries < TRIES_TO_CATCH; tries += 1) {
      const watched = begin();
      await until('it is running', () => watched.ended || when(watched), limitMs(10));
      const isCaught = !watched.ended && hits(() => interrupt(watched));
      const { code, stdout } = await watched.over();
      await assertNothingLeft(watched);
      const hasSaidAll = how === 'Ctrl-C' && stdout.includes('"verdict"');
      if (!isCaught || hasSaidAll) continue;
      if (how === 'Ctrl-C') assert.equal(code, 130);
      assert.notEqual(code, 0);
      return;
    }
    assert.fail('The check was always over before it could be interrupted.');
  }
});

/** @typedef {{ place: string, lesson?: string, prefix?: string[] }} Options */

/** @param {import('node:test').TestContext} t @param {Options} options */
function check(t, { place, lesson = 'lesson-2', prefix = [] }) {
  const command = [
    process.execPath,
    'lib/cli/main.cjs',
    'check',
    lesson,
    '--in',
    place,
    '--json',
    '--quick',
  ];
  const port = /** @type {import('node:net').AddressInfo} */ (holder.address()).port;
  const watched = new Watched([...prefix, ...command], { HOSTILE_PORT: String(port) });
  t.after(() => watched.cleanUp());
  return watched;
}

/** The check of lesson 2 as it runs by itself. @param {import('node:test').TestContext} t @param {string} place */
function checkAlone(t, place) {
  const command = [process.execPath, '--test', 'checks/02-cluster-fork/check.js'];
  const watched = new Watched(command, { FORKSHOP_SUBJECT: place });
  t.after(() => watched.cleanUp());
  return watched;
}

/**
 * The check's verdict; if undecided, the check runs again with the machine to itself.
 * @param {import('node:test').TestContext} t
 * @param {Options} options
 */
async function judge(t, options) {
  return slots.takeUntilSure(
    slotsOf(options.place),
    () => judgeOnce(t, options),
    ({ verdict }) => verdict === 'inconclusive',
    ({ promises }) => t.diagnostic(`inconclusive: ${JSON.stringify(promises)}`),
  );
}

/** @param {import('node:test').TestContext} t @param {Options} options */
async function judgeOnce(t, options) {
  const watched = check(t, options);
  const result = await resultOf(watched);
  await assertNothingLeft(watched);
  return result;
}

/** @param {Watched} watched */
async function resultOf(watched) {
  const { stdout, stderr, code } = await watched.over();
  assert.equal(stderr, '');
  const result = JSON.parse(stdout);
  assert.ok(!Array.isArray(result) && typeof result === 'object');
  assert.equal(code, { passed: 0, failed: 1, inconclusive: 3 }[result.verdict]);
  return /** @type {import('../lib/check/run-check.js').CheckResult} */ (result);
}

/** @param {import('node:test').TestContext} t @param {Options & { says: RegExp }} options */
async function assertFailure(t, { says, ...options }) {
  const { verdict, promises, fault } = await judge(t, options);
  assert.deepEqual({ fault, verdict }, { fault: null, verdict: 'failed' });
  const first = promises.find((one) => one.verdict === 'failed');
  assert.match(`${first?.got} ${first?.why}`, says);
}

/** @param {Watched} watched */
async function assertNothingLeft(watched) {
  /** @type {string[]} */
  let left = [];
  const look = async () => (left = await watched.left()).length === 0;
  await until('nothing is left', look).catch(() => assert.deepEqual(left, []));
}

/** @param {import('./nothing-left.js').Seen[]} processes */
function killAll(processes) {
  if (processes.length === 0) throw Object.assign(new Error('No try is left.'), { code: 'ESRCH' });
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
}

/** Was there still a process to kill? @param {() => void} kill */
function hits(kill) {
  try {
    kill();
    return true;
  } catch (/** @type {any} */ error) {
    if (error.code !== 'ESRCH') throw error;
    return false;
  }
}

/** How root runs a command without permission to read everything; undefined if that is impossible. */
function withoutPowers() {
  const powers = '-dac_override,-dac_read_search';
  const prefix = ['setpriv', `--bounding-set=${powers}`, `--inh-caps=${powers}`];
  const [file, ...args] = [...prefix, process.execPath, 'lib/cli/main.cjs', 'list'];
  return spawnSync(file, args, { cwd: rootFolder }).status === 0 ? prefix : undefined;
}
