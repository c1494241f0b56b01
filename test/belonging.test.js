// Verifies that a check kills the processes that provably belong to it, however they escape, and no others, whatever the
// judged program reports. In a namespace of our own, see namespace.js.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { rootFolder } from '../lib/lessons/catalog.js';
import { findMarker } from '../lib/observe/mark.js';
import { isAlive, listProcesses, processAt } from '../lib/observe/processes.js';
import { Stranger } from '../lib/observe/program.js';
import { holdersOf } from '../lib/observe/sockets.js';
import { createRunner } from '../lib/observe/runner.js';
import { abandonedHomes, nameHome, temporaryFolder } from '../lib/observe/temporary-folder.js';
import { onBoth } from './both-killed.js';
import { escapes, missingFor, programOf, staying } from './escapes.js';
import { limitMs } from './limits.js';
import { onlyApart } from './namespace.js';
import { until } from './nothing-left.js';

const TIMES = Number(process.env.FORKSHOP_TIMES ?? 1);
const folder = mkdtempSync(join(tmpdir(), 'belonging '));
after(() => rmSync(folder, { recursive: true }));

/** @param {string} text */
function write(text) {
  const file = join(folder, `${Math.random()}.mjs`);
  writeFileSync(file, text);
  return file;
}

/** Starts a program whose processes carry a mark. @param {import('node:test').TestContext} t @param {string} text */
async function start(t, text, env = {}) {
  const runner = createRunner();
  t.after(() => runner.close());
  const mark = `${Math.random()}`;
  const options = { env: { MARK: mark, ...env }, temporary: 'temporary' };
  const program = await runner.start({ entry: write(text), ...options });
  return { runner, program, mark };
}

/** A process of no check, killed after the test. @param {import('node:test').TestContext} t @param {string[]} [args] */
function bystander(t, args = ['-e', 'setInterval(() => {}, 1e6)']) {
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore', cwd: rootFolder });
  t.after(() => child.kill('SIGKILL'));
  return Number(child.pid);
}

/** The same with parent 1, as a daemon has; started by a shell. @param {import('node:test').TestContext} t @param {string} command */
async function orphan(t, command) {
  const shell = spawn('sh', ['-c', `${command} > /dev/null 2>&1 & echo $!`], {
    cwd: rootFolder,
    env: {},
  });
  const [pid] = (await once(shell.stdout.setEncoding('utf8'), 'data')).map(Number);
  t.after(() => process.kill(pid, 'SIGKILL'));
  await until('it has lost its parent', () => processAt(pid)?.ppid === 1);
  return pid;
}

const forging = `
  import { appendFileSync } from 'node:fs';
  const t = Number(process.hrtime.bigint() / 1000n) / 1000;
  const { TARGETS, OTHER_TIMELINE, FORKSHOP_TIMELINE } = process.env;
  for (const file of [FORKSHOP_TIMELINE, OTHER_TIMELINE]) for (const pid of JSON.parse(TARGETS)) for (const line of [
    { t, pid: process.pid, what: 'child', childPid: pid },
    { t: t + 1e6, pid: process.pid, what: 'child', childPid: pid },
    { t, pid: process.pid, what: 'fork', worker: 1, workerPid: pid },
    { t, pid, ppid: process.pid, what: 'start', role: 'worker' },
  ]) appendFileSync(file, JSON.stringify(line) + '\\n');
  console.log('forged');
  setInterval(() => {}, 1e6);`;

describe('the reports of a program prove nothing', onlyApart, () => {
  for (let time = 1; time <= TIMES; time += 1)
    test(`no process that it names is signalled (${time})`, async (t) => {
      const older = bystander(t);
      const { runner, program: other } = await start(t, 'setInterval(() => {}, 1e6)');
      const younger = bystander(t);
      await until('it runs', () => other.pid);
      const keeper = Number(processAt(Number(other.pid))?.ppid);
      const targets = [1, 2, keeper, process.pid, process.ppid, older, younger];
      const seen = targets.flatMap((pid) => processAt(pid) ?? []); // 2 may have exited long ago
      assert.ok(seen.length >= targets.length - 1);
      const env = {
        TARGETS: JSON.stringify(targets),
        OTHER_TIMELINE: join(other.folder, 'timeline.jsonl'),
      };
      const program = await runner.start({ entry: write(forging), env });
      await until('it has forged', () => program.output().includes('forged'));
      for (const { pid } of seen) assert.throws(() => program.kill(pid, 'SIGSTOP'), Stranger);
      assert.deepEqual(program.survivors(), [program.pid]);
      assert.deepEqual(await program.stop(), []);
      assert.deepEqual(await other.stop(), []);
      for (const { pid, born } of seen) {
        const now = processAt(pid);
        assert.ok(now && now.born === born && now.state !== 'T', `process ${pid}`);
      }
    });

  test('a child in a PID namespace reports only that, and its pids are ignored', async (t) => {
    const inner = `const { spawn } = require('child_process');
      for (let n = 0; n < 5; n += 1) spawn('sleep', ['60']);
      setInterval(() => {}, 1e6);`;
    const { program } = await start(
      t,
      `import { spawn } from 'node:child_process';
      spawn('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, '-e', ${JSON.stringify(inner)}, 'stays', process.env.MARK]);
      setInterval(() => {}, 1e6);`,
    );
    const before = listProcesses().filter(({ pid }) => pid < 10);
    const told = await program.until((events) => events.find(({ what }) => what === 'apart'));
    assert.equal(told?.pid, 1);
    assert.deepEqual(
      program.events.filter(({ what, pid }) => pid === 1 && what !== 'apart'),
      [],
    );
    const isInside = () => program.survivors().length > 6; // each of the five sleeps
    await until('it has started its own', isInside);
    assert.deepEqual(await program.stop(), []);
    assert.deepEqual(program.survivors(), []);
    assert.ok(before.every(isAlive));
  });
});

test(
  "processes that resemble a program's daemon stay alive: same folder, no terminal, same port",
  onlyApart,
  async (t) => {
    const { program } = await start(t, 'setInterval(() => {}, 1e6)');
    await until('it runs', () => program.pid);
    const listener = `require('net').createServer().listen(${program.port})`;
    const pids = [
      await orphan(t, 'sleep 60'),
      await orphan(t, 'nohup sleep 60'),
      await orphan(t, `${process.execPath} -e "${listener}"`),
      bystander(t, ['-e', 'setInterval(() => {}, 1e6)', program.folder]),
    ];
    const seen = pids.map((pid) => processAt(pid));
    await until('it listens', () => holdersOf(program.port, () => pids).length > 0);
    assert.deepEqual(await program.stop(), []);
    assert.deepEqual(program.spared, [pids[2]], 'and that is said');
    assert.deepEqual(
      seen.filter((one) => one && isAlive(one)).map((one) => one?.pid),
      pids,
    );
  },
);

describe(
  'processes that a program started are killed with it, however they escape:',
  onlyApart,
  () => {
    assert.ok(onlyApart.skip || findMarker(), 'the table holds where there is prlimit');
    for (const [name, escape] of Object.entries(escapes))
      for (let time = 1; time <= TIMES; time += 1)
        test(name, { skip: missingFor(name) }, async (t) => {
          const { runner, mark } = await start(t, programOf(escape));
          await until('it has left', () => staying(mark).length > 0, limitMs(10));
          assert.deepEqual(await runner.close(), []);
          assert.deepEqual(staying(mark), []);
        });
  },
);

describe('the next start', onlyApart, () => {
  const left = ['no environment, its parent gone at once', 'stopped, no environment'];
  const daemons = ['nginx, no environment', 'redis-server, no environment'];
  for (const name of [...left, ...daemons])
    test(
      `ends leftovers of a killed check and keeper: ${name}`,
      { skip: missingFor(name) },
      async () => {
        const { home, mark } = await onBoth(programOf(escapes[name]));
        assert.ok(staying(mark).length > 0, 'it is left');
        await createRunner().close();
        assert.deepEqual(staying(mark), []);
        assert.equal(existsSync(home), false);
      },
    );

  test('leaves the processes of a running check, or of another place, alone', async (t) => {
    const { runner, program } = await start(t, 'setInterval(() => {}, 1e6)');
    await until('it runs', () => program.pid);
    const [, , pid, born] = nameHome().split('-');
    const elsewhere = join(temporaryFolder(), `forkshop-00000000-${pid}-1-00000001`);
    const dead = join(temporaryFolder(), nameHome().replace(`-${pid}-${born}-`, `-${pid}-1-`));
    for (const home of [elsewhere, dead]) mkdirSync(home);
    t.after(() => rmSync(elsewhere, { recursive: true }));
    assert.deepEqual(
      abandonedHomes().map(({ home }) => home),
      [dead],
    );
    await createRunner().close();
    assert.ok(isAlive(/** @type {any} */ (program)));
    assert.deepEqual(
      [runner.home, elsewhere, dead].map((home) => existsSync(home)),
      [true, true, false],
    );
  });
});
