// The learner's commands, as real processes in a small workshop.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { rootFolder } from '../lib/lessons/catalog.js';
import { appendHistory, readHistory } from '../lib/cli/saved/history.js';
import { readProgress, updateProgress } from '../lib/cli/saved/progress.js';
import { run as reset } from '../lib/cli/commands/reset.js';
import { createStyle } from '../lib/verdict/style.js';
import {
  dispatched,
  forkshop,
  ioOf,
  keys,
  makeRoot,
  read,
  readme,
  solution,
  starter,
  write,
} from './fixture-root.js';

const pass = (/** @type {string} */ root, /** @type {string} */ key) =>
  updateProgress(ioOf(root), ({ passed }) => {
    passed[key] = { at: '2026-01-01T00:00:00.000Z' };
  });
const exitOf = (/** @type {import('node:child_process').ChildProcess} */ child) =>
  child.exitCode ?? new Promise((done) => child.once('exit', done));
const captured = (/** @type {string} */ text, /** @type {RegExp} */ pattern) =>
  pattern.exec(text)?.[1] ?? '';
const onPosix = { skip: process.platform === 'win32' && 'pipes as POSIX has them' };
const progressFile = (/** @type {string} */ root) => join(root, '.forkshop', 'progress.json');

test('help lists every command, and every command has help', async () => {
  const root = makeRoot();
  const { code, stdout } = await forkshop(root, []);
  assert.equal(code, 0);
  const names = [
    'start',
    'check',
    'list',
    'hint',
    'solution',
    'diff',
    'reset',
    'doctor',
    'new',
    'sync',
  ];
  for (const name of names) assert.match(stdout, new RegExp(`^npm run ${name}\\b`, 'm'));
  const one = await forkshop(root, ['reset', '--help']);
  assert.match(one.stdout, /^npm run reset -- \[lesson\] \[--all\] \[--yes\]\n {4}put .*\n$/);
  assert.deepEqual(readdirSync(root).includes('.forkshop'), false);
});

test('an unknown command suggests the nearest right one: exit code 2', async () => {
  const { code, stdout, stderr } = await forkshop(makeRoot(), ['lits']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(
    stderr,
    /^Forkshop has no command "lits"\.\nDid you mean list\? The commands are: start, check/,
  );
});

test('a command named like an object property or a path is unknown', async () => {
  const root = makeRoot();
  for (const name of ['constructor', '../catalog', '']) {
    assert.equal((await dispatched(root, [name])).code, 2, name);
  }
});

test('list shows every lesson, its state, and where to continue', async () => {
  const root = makeRoot();
  pass(root, keys[0]);
  const { code, stdout, stderr } = await dispatched(root, ['list']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(
    stdout,
    `Lessons: 1 of 3 passed

✔  1  blocking-server      20 min  About 01-blocking-server
→  2  cluster-fork         20 min  About 02-cluster-fork
   3  scheduling-policies  20 min  About 03-scheduling-policies

Continue with: npm run check lesson-2
`,
  );
  for (const key of keys) pass(root, key);
  assert.match(
    (await dispatched(root, ['list'])).stdout,
    /3 of 3 passed[^]*You have passed them all/,
  );
});

test("list names a lesson's missing tools", async () => {
  const root = makeRoot();
  const file = `lessons/${keys[1]}/lesson.yml`;
  write(root, { [file]: read(root, file).replace('minutes:', 'needs: [vegeta]\nminutes:') });
  const { stdout } = await forkshop(root, ['list'], { PATH: root });
  assert.match(stdout, /About 02-cluster-fork \(not installed: vegeta\)\n/);
  assert.equal(stdout.match(/not installed/g)?.length, 1);
});

test('hint shows one more each time, for the next lesson', async () => {
  const root = makeRoot();
  pass(root, keys[0]);
  const first = await dispatched(root, ['hint']);
  assert.match(
    first.stdout,
    /^Lesson 2: [^]*Hint 1 of 3\n {2}nudge\n\nOne more hint: npm run hint lesson-2\n$/,
  );
  assert.doesNotMatch(first.stdout, /Hint 2/);
  const second = await dispatched(root, ['hint', 'cluster-fork']);
  assert.match(
    second.stdout,
    /Hint 1 of 3\n {2}nudge\n\nHint 2 of 3\n {2}look it up\n\nOne more hint/,
  );
  for (const time of [3, 4]) {
    const { stdout } = await dispatched(root, ['hint', '2']);
    assert.match(stdout, /Hint 3 of 3\n {2}the answer\n\nThat was the last hint/, `time ${time}`);
  }
  const { hints, lastLesson } = JSON.parse(readFileSync(progressFile(root), 'utf8'));
  assert.deepEqual([hints, lastLesson], [{ '02-cluster-fork/1': 3 }, '02-cluster-fork']);
});

for (const command of ['solution', 'diff']) {
  test(`${command}: before passing it explains once, then shows; after passing it shows`, async () => {
    const root = makeRoot();
    const shows = /console\.log\('hello'\);/;
    const first = await dispatched(root, [command, '1']);
    assert.equal(first.code, 0);
    assert.match(
      first.stdout,
      /Lesson 1 has not passed yet[^]*3 of its hints left[^]*run the same command again/,
    );
    assert.doesNotMatch(first.stdout, shows);
    assert.match((await dispatched(root, [command, '1'])).stdout, shows);
    assert.doesNotMatch((await dispatched(root, [command, '2'])).stdout, shows);
    pass(root, keys[2]);
    assert.match((await dispatched(root, [command, '3'])).stdout, shows);
  });
}

test('diff: unified, ignores line endings, and names a missing file', async () => {
  const root = makeRoot();
  pass(root, keys[0]);
  write(root, { [`lessons/${keys[0]}/server.js`]: starter.replaceAll('\n', '\r\n') });
  const { stdout } = await dispatched(root, ['diff', '1']);
  assert.match(stdout, /^--- lessons\/01-blocking-server\/server\.js\n\+\+\+ solutions/m);
  assert.match(stdout, /^-\/\/ Task 1: greet\.\n\+console\.log\('hello'\);$/m);
  assert.equal(stdout.match(/^-/gm)?.length, 2, 'only one line differs');
  write(root, { [`lessons/${keys[0]}/server.js`]: solution });
  assert.equal(
    (await dispatched(root, ['diff', '1'])).stdout,
    'server.js is the same as in the solution.\n',
  );
  rmSync(join(root, 'lessons', keys[0], 'server.js'));
  assert.match(
    (await dispatched(root, ['diff', '1'])).stdout,
    /^--- .*\(you have no such file\)\n/m,
  );
});

const mine = '// my own work\n';

test('reset without a terminal and without --yes changes nothing: exit code 2', async () => {
  const root = makeRoot();
  write(root, { [`lessons/${keys[0]}/server.js`]: mine });
  // `npm config set yes true` is no answer to our question.
  const npm = { npm_lifecycle_event: 'reset', npm_config_yes: 'true' };
  const { code, stderr } = await forkshop(root, ['reset', '1'], npm);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Nothing was changed\.\nTo go ahead, add --yes[^]*npm run reset -- lesson-1 --yes/,
  );
  assert.equal(read(root, `lessons/${keys[0]}/server.js`), mine);
  assert.equal(existsSync(join(root, '.forkshop')), false);
});

test('reset restores the starter, names its backup, and leaves other files alone', async () => {
  const root = makeRoot();
  const notes = `lessons/${keys[0]}/notes.txt`;
  write(root, {
    [`lessons/${keys[0]}/server.js`]: mine,
    [`lessons/${keys[1]}/server.js`]: mine,
    [notes]: 'n',
  });
  const { code, stdout } = await dispatched(root, ['reset', 'lesson-1', '--yes']);
  assert.equal(code, 0);
  const backup = captured(stdout, /kept in (.*)\n/);
  assert.match(backup, /[\\/]\.forkshop[\\/]backups[\\/][^\\/]+$/);
  assert.equal(readFileSync(join(backup, keys[0], 'server.js'), 'utf8'), mine);
  assert.equal(read(root, `lessons/${keys[0]}/server.js`), starter);
  assert.equal(read(root, `lessons/${keys[1]}/server.js`), mine);
  assert.deepEqual(
    [read(root, notes), read(root, `lessons/${keys[0]}/README.md`)],
    ['n', readme(keys[0])],
  );
});

test('reset of an untouched lesson says so', async () => {
  const root = makeRoot();
  const { code, stdout } = await dispatched(root, ['reset', '1']);
  assert.deepEqual(
    [code, stdout],
    [0, 'Nothing to reset: the files of lesson-1 are as they were given to you.\n'],
  );
});

test('reset --all resets every changed lesson, including missing files and a folder in place of a file', async () => {
  const root = makeRoot();
  const server = (/** @type {string} */ key) => `lessons/${key}/server.js`;
  rmSync(join(root, server(keys[0])));
  rmSync(join(root, server(keys[1])));
  write(root, { [`${server(keys[1])}/inner.js`]: mine });
  const { code, stdout } = await dispatched(root, ['reset', '--all', '--yes']);
  assert.equal(code, 0, stdout);
  const backup = captured(stdout, /kept in (.*)\n/);
  assert.deepEqual(readdirSync(backup), [keys[1]]);
  assert.equal(readFileSync(join(backup, keys[1], 'server.js', 'inner.js'), 'utf8'), mine);
  for (const key of keys) assert.equal(read(root, server(key)), starter);
});

test('npm run reset --all: npm consumes the flag, and reset still obeys it', async () => {
  const root = makeRoot();
  for (const key of keys) write(root, { [`lessons/${key}/server.js`]: mine });
  const npm = { npm_lifecycle_event: 'reset', npm_config_all: 'true' };
  assert.equal((await forkshop(root, ['reset', '--yes'], npm)).code, 0);
  for (const key of keys) assert.equal(read(root, `lessons/${key}/server.js`), starter);
});

test("reset replaces a link and leaves the link's target alone", async () => {
  const root = makeRoot();
  write(root, { 'elsewhere.js': mine });
  rmSync(join(root, 'lessons', keys[0], 'server.js'));
  symlinkSync(join(root, 'elsewhere.js'), join(root, 'lessons', keys[0], 'server.js'));
  assert.equal((await dispatched(root, ['reset', '1', '--yes'])).code, 0);
  assert.deepEqual(
    [read(root, `lessons/${keys[0]}/server.js`), read(root, 'elsewhere.js')],
    [starter, mine],
  );
});

test(
  'a pipe in place of a file, or inside a folder there, stops neither diff nor reset',
  onPosix,
  async () => {
    const root = makeRoot();
    const mine = join(root, 'lessons', keys[0], 'server.js');
    rmSync(mine);
    spawnSync('mkfifo', [mine]);
    await forkshop(root, ['diff', '1']);
    const { code, stdout } = await forkshop(root, ['diff', '1']);
    assert.deepEqual([code, stdout.includes('you have no such file')], [0, true]);
    const argv = ['reset', '1', '--yes'];
    const first = await forkshop(root, argv);
    assert.deepEqual(
      [first.code, first.stderr, read(root, `lessons/${keys[0]}/server.js`)],
      [0, '', starter],
    );
    assert.doesNotMatch(first.stdout, /were kept in/);

    rmSync(mine);
    write(root, { [`lessons/${keys[0]}/server.js/mine.js`]: '// mine' });
    spawnSync('mkfifo', [join(mine, 'pipe')]);
    const second = await forkshop(root, argv);
    assert.deepEqual([second.code, second.stderr], [0, '']);
    const backup = captured(second.stdout, /were kept in (.*)\n/);
    assert.deepEqual(readdirSync(join(backup, keys[0], 'server.js')), ['mine.js']);
    assert.equal(read(root, `lessons/${keys[0]}/server.js`), starter);
  },
);

test('reset refuses invalid options', async () => {
  const root = makeRoot();
  write(root, { [`lessons/${keys[0]}/server.js`]: mine });
  rmSync(join(root, 'checks', keys[2], 'starter'), { recursive: true });
  const refused = {
    '--yes': /must say what/,
    '1 --all': /not both/,
    '3 --yes': /holds no files to go back to/,
  };
  for (const [argv, message] of Object.entries({ ...refused, '--all --yes': /holds no files/ })) {
    const { code, stderr } = await dispatched(root, ['reset', ...argv.split(' ')]);
    assert.equal(code, 2, argv);
    assert.match(stderr, message);
  }
  assert.equal(read(root, `lessons/${keys[0]}/server.js`), mine);
});

for (const [answer, expected] of [
  ['y\n', starter],
  ['YES\n', starter],
  ['n\n', mine],
  ['\n', mine],
  [null, mine],
]) {
  test(`reset at a terminal, answered by ${JSON.stringify(answer)}`, async () => {
    const root = makeRoot();
    write(root, { [`lessons/${keys[0]}/server.js`]: mine });
    const io = ioOf(root);
    io.stdin.isTTY = true;
    io.stdin.end(answer ?? '');
    assert.equal(await reset([], io), 0);
    assert.equal(read(root, `lessons/${keys[0]}/server.js`), expected);
    assert.match(
      String(io.stdout.read()),
      expected === mine ? /Nothing was changed/ : /were kept in/,
    );
  });
}

test('wrong and hostile lesson names: exit code 2, no escape codes, nothing touched', async () => {
  const root = makeRoot();
  const names = [
    'lesson-33',
    '../03-scheduling-policies',
    '/etc',
    '',
    'ünïcödé',
    '\u001b[31m',
    'a'.repeat(9999),
  ];
  for (const command of ['hint', 'solution', 'diff', 'reset']) {
    for (const name of names.slice(0, command === 'hint' ? undefined : 2)) {
      const { code, stdout, stderr } = await dispatched(root, [command, name]);
      assert.deepEqual([code, stdout], [2, ''], `${command} ${name.slice(0, 40)}`);
      assert.match(
        stderr,
        /^There is no lesson named ".*"\.\n[^]*The lessons are:\n {2}lesson-1, /,
      );
      assert.ok(!stderr.includes('\u001b'));
    }
  }
  assert.equal(existsSync(join(root, '.forkshop')), false);
});

test('colour only when requested', async () => {
  const root = makeRoot();
  const colours = async (/** @type {Record<string, string>} */ env) =>
    (await forkshop(root, ['list'], env)).stdout.includes('\u001b[');
  assert.equal(await colours({}), false, 'piped');
  assert.equal(await colours({ FORCE_COLOR: '1' }), true);
  assert.equal(await colours({ FORCE_COLOR: '0' }), false);
  assert.equal(await colours({ FORCE_COLOR: '1', NO_COLOR: '1' }), false);
  const red = (
    /** @type {{ isTTY?: boolean }} */ stream,
    /** @type {Record<string, string>} */ env,
  ) => createStyle(stream, env).red('x') !== 'x';
  assert.equal(red({ isTTY: true }, {}), true);
  assert.equal(red({ isTTY: true }, { NO_COLOR: '1' }), false);
  assert.equal(red({ isTTY: true }, { NO_COLOR: '' }), true, 'an empty NO_COLOR is none');
  assert.equal(red({ isTTY: true }, { TERM: 'dumb' }), false);
});

// Preloaded into a command: kills it in the middle of its first write, or just before the rename.
const killers = {
  'in the middle of the write': `const write = fs.writeFileSync;
    fs.writeFileSync = (file, text) => {
      if (!file.endsWith('.unfinished')) return write(file, text);
      write(file, text.slice(0, text.length / 2));
      process.kill(process.pid, 'SIGKILL');
    };`,
  'before the rename': `fs.renameSync = () => process.kill(process.pid, 'SIGKILL');`,
};
for (const [moment, patch] of Object.entries(killers)) {
  test(`progress survives kill -9 ${moment}`, async () => {
    const root = makeRoot();
    pass(root, keys[0]);
    const before = readFileSync(progressFile(root), 'utf8');
    write(root, {
      'kill.mjs': `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';\n${patch}\nsyncBuiltinESMExports();`,
    });
    const preload = `--import=${pathToFileURL(join(root, 'kill.mjs')).href}`;
    assert.equal((await forkshop(root, ['hint'], { NODE_OPTIONS: preload })).code, 'SIGKILL');
    assert.equal(readFileSync(progressFile(root), 'utf8'), before);
    assert.equal(
      readdirSync(join(root, '.forkshop')).length,
      3,
      'the killed process left its unfinished file, and its turn',
    );
    const { code, stderr, stdout } = await forkshop(root, ['hint']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Lesson 2: [^]*Hint 1 of 3/);
    assert.deepEqual(readdirSync(join(root, '.forkshop')), ['progress.json']);
  });
}

for (const text of [
  '{"version":1,"pas',
  '',
  '[]',
  'null',
  '{"version":2}',
  '{"version":1,"passed":7}',
  '{"version":1,"passed":{"01-blocking-server":true}}',
  '{"version":1,"hints":{"01-blocking-server":"one"}}',
  '{"version":1,"spotted":{"01-blocking-server":[1]}}',
  '{"version":1,"lastLesson":{}}',
]) {
  test(`a progress file that says ${JSON.stringify(text)} is kept aside, with a message`, async () => {
    const root = makeRoot();
    write(root, { '.forkshop/progress.json': text });
    const { code, stdout, stderr } = await dispatched(root, ['list']);
    assert.equal(code, 0);
    assert.match(stdout, /0 of 3 passed/);
    assert.match(stderr, /^Forkshop could not understand its progress file/);
    const kept = captured(stderr, /kept as (.*)\n$/);
    assert.equal(readFileSync(kept, 'utf8'), text);
    assert.equal((await dispatched(root, ['list'])).stderr, '');
  });
}

test('history: a torn line is ignored and spoils no other', () => {
  const io = ioOf(makeRoot());
  assert.deepEqual(readHistory(io), []);
  appendHistory(io, { n: 1 });
  write(io.root, { '.forkshop/history.jsonl': '{"n":1}\n{"n":2,"lo' });
  assert.deepEqual(readHistory(io), [{ n: 1 }]);
  appendHistory(io, { n: 3 });
  appendHistory(io, { n: 4 });
  assert.deepEqual(readHistory(io), [{ n: 1 }, { n: 3 }, { n: 4 }]);
});

test('history: a line without a measurement is ignored', () => {
  const io = ioOf(makeRoot());
  const whole = { name: 'words', value: 1 };
  const odd = [[null, whole, 3, { name: 'b' }, { value: 1 }], 'many', null, {}];
  const lines = odd.map((measurements) => JSON.stringify({ measurements }));
  write(io.root, { '.forkshop/history.jsonl': `${lines.join('\n')}\nnull\n3\n[]\n` });
  assert.deepEqual(
    readHistory(io).map(({ measurements }) => measurements),
    [[whole], [], [], []],
  );
});

test('history: a line of another shape is ignored', async () => {
  const root = makeRoot();
  /** @type {object[]} */
  const lines = [{ failed: 7 }, { failed: [1] }, { verdicts: 'all' }, { verdicts: { a: {} } }];
  lines.push({ conditions: 'idle' }, { lesson: [keys[0]] }, { at: 1 });
  const text = lines.map((line) => `${JSON.stringify({ lesson: keys[0], ...line })}\n`).join('');
  write(root, { '.forkshop/history.jsonl': text });
  assert.deepEqual(readHistory(ioOf(root)), []);
});

test('in the environment of a cluster worker every command refuses to start, and says why', async () => {
  const { code, stdout, stderr } = await forkshop(makeRoot(), ['list'], { NODE_UNIQUE_ID: '1' });
  assert.deepEqual([code, stdout], [3, '']);
  assert.match(stderr, /^NODE_UNIQUE_ID is set[^]*env -u NODE_UNIQUE_ID npm run check\n$/);
});

test('FORKSHOP_HOME moves the state, even with a path relative to the root', () => {
  const io = { ...ioOf(makeRoot()), env: { FORKSHOP_HOME: 'state' } };
  updateProgress(io, (progress) => (progress.lastLesson = keys[1]));
  assert.equal(readProgress(io).lastLesson, keys[1]);
  assert.deepEqual(readdirSync(join(io.root, 'state')), ['progress.json']);
});

test('an operating-system error is not reported as a fault of Forkshop, nor a fault of Forkshop as the learner’s', async () => {
  const root = makeRoot();
  write(root, { [`lessons/${keys[0]}/server.js`]: '// mine' });
  const throwing = (/** @type {string} */ text) =>
    `data:text/javascript,${encodeURIComponent(`import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      fs.mkdirSync = () => { ${text} }; syncBuiltinESMExports();`)}`;
  const run = (/** @type {string} */ text) =>
    forkshop(root, ['reset', '1', '--yes'], { NODE_OPTIONS: `--import=${throwing(text)}` });
  const full = await run(
    `throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })`,
  );
  assert.equal(full.code, 3);
  assert.match(
    full.stderr,
    /^The operating system refused: ENOSPC: no space left\nSee to the permissions/,
  );
  const fault = await run(`null.x`);
  assert.equal(fault.code, 3);
  assert.match(
    fault.stderr,
    /^This is a bug in Forkshop, not in your code\.[^]*TypeError[^]*\n {4}at /,
  );
});

test('a reader that leaves early is no error', async () => {
  const env = { ...process.env, FORKSHOP_ROOT: makeRoot() };
  const main = join(rootFolder, 'lib/cli/main.cjs');
  const child = spawn(process.execPath, [main, 'list'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const stderr = await text(child.stderr);
  assert.deepEqual([stderr, await exitOf(child)], ['', 0]);
});

test('an old Node.js and a missing installation are explained: exit code 3', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forkshop-bare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'lib'));
  cpSync(join(rootFolder, 'package.json'), join(folder, 'package.json'));
  cpSync(join(rootFolder, 'lib/cli'), join(folder, 'lib/cli'), { recursive: true });
  const main = join(folder, 'lib/cli/main.cjs');
  const bare = spawnSync(process.execPath, [main, 'list'], { encoding: 'utf8' });
  assert.equal(bare.status, 3);
  assert.match(
    bare.stderr,
    /^Forkshop is not installed completely: .*express.* are missing\.\n[^]*npm ci\n$/,
  );
  const pretend = (/** @type {string} */ version) => {
    const versions = `{ value: { ...process.versions, node: '${version}' } }`;
    write(folder, { 'old.cjs': `Object.defineProperty(process, 'versions', ${versions});` });
    const real = join(rootFolder, 'lib/cli/main.cjs');
    return spawnSync(process.execPath, ['-r', join(folder, 'old.cjs'), real], { encoding: 'utf8' });
  };
  for (const version of ['0.12.18', '18.20.0', '20.18.3', '21.7.3', '22.5.0']) {
    const { status, stderr } = pretend(version);
    assert.equal(status, 3);
    const message = `Forkshop needs Node.js 20.19.0 or 22.12.0 or newer; this is ${version}.\nInstall`;
    assert.ok(stderr.startsWith(message), stderr);
  }
  for (const version of ['20.19.0', '22.12.0', '100.0.0']) {
    assert.equal(pretend(version).status, 0, version);
  }
});

test('main.cjs is ES5, so that an old Node.js can say that it is old', () => {
  const source = readFileSync(join(rootFolder, 'lib/cli/main.cjs'), 'utf8');
  assert.doesNotMatch(
    source.replace(/^\/\/.*$/gm, ''),
    /=>|`|\b(const|let|class|async|await|import)\b|node:|\.\.\.[a-z[]/,
  );
});
