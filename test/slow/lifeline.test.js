// Verifies that every process that we start exits when its parent does: at once, before its own first line, or later; by
// process.exit() or by SIGKILL. No process and no file stays. FORKSHOP_TIMES=20 tries each that often.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { limitMs } from '../limits.js';
import { Watched, until } from '../nothing-left.js';

const times = Number(process.env.FORKSHOP_TIMES ?? 1);
const folder = mkdtempSync(join(tmpdir(), 'forkshop-lifeline-'));
after(() => rmSync(folder, { recursive: true }));
const idle = join(folder, 'idle.js');
writeFileSync(idle, 'setInterval(() => {}, 1e6);');
const browser = join(folder, 'browser.sh'); // it stays alive, which is all that matters here
writeFileSync(browser, '#!/bin/sh\nsleep 600\n', { mode: 0o755 });
mkdirSync(join(folder, 'lessons'));

const exporting = `exportPdf({ root: ${JSON.stringify(rootFolder)}, file: '/none.pdf', hasNotes: false, env: { CHROME_PATH: ${JSON.stringify(browser)} } })`;

/** @typedef {[file: string, start: string]} Child  what exports it, and how a parent starts it: a promise when it is up */

/** @type {Record<string, Child>} */
const children = {
  'spinners, idle': ['lib/measure/spinners.js', 'createSpinners(2).spin(1, 5)'],
  'spinners, at work': [
    'lib/measure/spinners.js',
    '(createSpinners(2).spin(2, 600_000), later(300))',
  ],
  'load, idle': [
    'lib/measure/load.js',
    'createLoad().fire({ url, connections: 1, durationMs: 5 })',
  ],
  'load, at work': [
    'lib/measure/load.js',
    '(createLoad().fire({ url, connections: 1, durationMs: 600_000 }), later(300))',
  ],
  'open loop': [
    'lib/measure/open-loop.js',
    '(createOpenLoop().fire({ url, ratePerSecond: 10, durationMs: 600_000 }), later(300))',
  ],
  'keeper, and a program': [
    'lib/observe/runner.js',
    `createRunner().start({ entry: ${JSON.stringify(idle)} }).then((one) => one.until((events) => events.length > 0))`,
  ],
  'compile cache': [
    'lib/observe/compile-cache.js',
    "(makeCache(join(process.env.TMPDIR, 'cache')), later(20))",
  ],
  'command of xray --reload': [
    'lib/xray/reload-command.js',
    "(runCommand({ command: 'sleep 600 & sleep 600', cwd: '/', env: process.env }), later(300))",
  ],
  'browser of slides --pdf': ['lib/deck/export.js', `(${exporting}, later(1_500))`],
  hog: ['bench/hog.js', '(startHogs(1), later(200))'],
  'command of ours': [
    'lib/common/child.js',
    "new Promise((up) => spawnOurs([main, 'start', '--no-page']).stdout.once('data', up))",
  ],
  'server of bench:probe': [
    'lib/common/child.js',
    "new Promise((up) => spawnOurs([server], { env: { ...process.env, PORT: '0' } }).stdout.once('data', up))",
  ],
};

/** How the parent exits. @type {Record<string, (start: string) => string>} */
const manners = {
  'at once': (start) => `${start}; process.exit();`,
  later: (start) => `await ${start}; process.exit();`,
  'at once, killed': (start) => `${start}; process.kill(process.pid, 'SIGKILL');`,
  'later, killed': (start) => `await ${start}; process.kill(process.pid, 'SIGKILL');`,
};

const SETTING = `
  import { join } from 'node:path';
  import { setTimeout as later } from 'node:timers/promises';
  const [url, main, server] = ['http://127.0.0.1:1/', ...process.argv.slice(1)];
  process.on('unhandledRejection', () => {});`;
const given = ['lib/cli/main.cjs', 'bench/empty-server.js'].map((file) => join(rootFolder, file));

const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc', concurrency: 2 };
for (const [name, [file, start]] of Object.entries(children)) {
  describe(`parent gone: ${name}`, onLinux, () => {
    const imported = `import * as all from ${JSON.stringify(join(rootFolder, file))};`;
    const names = /** @type {RegExpExecArray} */ (
      /\b(create\w+|makeCache|runCommand|exportPdf|startHogs|spawnOurs)\b/.exec(start)
    );
    for (const [manner, scriptOf] of Object.entries(manners)) {
      test(manner, async (t) => {
        const script = `${SETTING} ${imported} const { ${names[0]} } = all; ${scriptOf(start)}`;
        for (let count = 0; count < times; count += 1) await assertGoes(t, script);
      });
    }
  });
}

describe('if the guard of the browser of slides --pdf is killed, the browser', onLinux, () => {
  const imported = `import { exportPdf } from ${JSON.stringify(join(rootFolder, 'lib/deck/export.js'))};`;
  const killGuard = async (/** @type {import('node:test').TestContext} */ t) => {
    const watched = begin(t, `${imported} await ${exporting}.catch(() => {});`);
    await until('the browser runs', () => watched.running('sleep 600').length > 0, limitMs(10));
    for (const { pid } of watched.running('guard.js')) process.kill(pid, 'SIGKILL');
    return watched;
  };

  test('exits with the command', async (t) => {
    const watched = await killGuard(t);
    await watched.over();
    await assertNothingLeft(watched);
  });

  test('is killed by the next start, even if the command was killed', async (t) => {
    const watched = await killGuard(t);
    process.kill(watched.pid, 'SIGKILL');
    await watched.over();
    await watched.startNext();
    await assertNothingLeft(watched);
  });
});

/** @param {import('node:test').TestContext} t @param {string} script */
function begin(t, script) {
  const command = [process.execPath, '--input-type=module', '-e', script, ...given];
  const watched = new Watched(command, { FORKSHOP_ROOT: folder });
  t.after(() => watched.cleanUp());
  return watched;
}

/** @param {import('node:test').TestContext} t @param {string} script */
async function assertGoes(t, script) {
  const watched = begin(t, script);
  const { stderr } = await watched.over();
  assert.equal(stderr, '');
  await assertNothingLeft(watched);
}

/** @param {Watched} watched */
async function assertNothingLeft(watched) {
  /** @type {string[]} */
  let left = [];
  const look = async () => (left = await watched.left()).length === 0;
  await until('nothing is left', look, limitMs(5)).catch(() => assert.deepEqual(left, []));
}
