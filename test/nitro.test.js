// Verifies what is built when, for lesson 11, with a stand-in for nitropack: the real one is proved by the lesson.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { buildNitro } from '../lib/tools/nitro.js';
import { Shortage } from '../lib/observe/shortage.js';
import { Broken, Undecided } from '../lib/verdict/outcome.js';
import { read, write } from './fixture-root.js';

const PAGE = 'export default defineEventHandler(() => 1);\n';

/**
 * A learner's folder, and a stand-in for nitropack that leaves the same files as a build.
 * @param {import('node:test').TestContext} t
 */
function makePlace(t, fate = { code: 0 }, folderOf = (preset) => `.output/${preset}`, said = '') {
  const home = mkdtempSync(join(tmpdir(), 'forkshop nitro ü '));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const place = join(home, 'mine');
  write(home, {
    'nitropack/package.json': '{}',
    'mine/server.js': 'first();\n',
    'mine/routes/index.js': PAGE,
  });
  const started = [];
  const start = async (options) => {
    const { NITRO_PRESET: preset = 'node-cluster' } = options.env;
    started.push({ ...options, preset, files: readdirSync(options.cwd) });
    write(options.cwd, {
      [`${folderOf(preset)}/nitro.json`]: JSON.stringify({ preset }),
      [`${folderOf(preset)}/server/index.mjs`]: read(options.cwd, 'routes/index.js'),
    });
    const ended = async () => fate;
    return { ended, stop: async () => [], output: () => `${said}built in ${options.cwd}/routes` };
  };
  const options = { manifest: join(home, 'nitropack/package.json'), cache: join(home, 'cache') };
  const build = (from = place) => buildNitro(/** @type {any} */ (start), from, options);
  return { home, place, started, build, edit: (files) => write(place, files) };
}

test('a build runs twice, beside a copy of the program, and writes nothing into the folder', async (t) => {
  const { place, started, build } = makePlace(t);
  const { builds, outputs, entry } = await build();
  assert.deepEqual(
    started.map(({ preset }) => preset),
    ['node-cluster', 'node-server'],
  );
  assert.ok(started[0].entry.endsWith(join('nitropack', 'dist/cli/index.mjs')));
  assert.ok(
    started[0].files.includes('nitro.config.js'),
    'missing files are taken from the solution',
  );
  assert.equal(builds[1].output, 'built in routes');
  assert.deepEqual(outputs.map(({ folder, preset }) => [preset, folder]).sort(), [
    ['node-cluster', join('.output', 'node-cluster')],
    ['node-server', join('.output', 'node-server')],
  ]);
  assert.equal(readFileSync(entry, 'utf8'), 'first();\n');
  for (const { server, folder } of outputs)
    assert.equal(server, join(dirname(entry), folder, 'server/index.mjs'));
  assert.deepEqual(readdirSync(place).sort(), ['routes', 'server.js']);
});

test("each build's output is known, even if the next one has emptied it; packages resolve from there", async (t) => {
  const { home, build } = makePlace(t, { code: 0 }, () => '.output');
  const { builds, outputs } = await build();
  assert.deepEqual(
    builds.map((one) => one.outputs.map(({ preset }) => preset)),
    [['node-cluster'], ['node-server']],
  );
  assert.deepEqual(
    outputs.map(({ preset }) => preset),
    ['node-server'],
  );
  assert.ok(existsSync(join(home, 'cache/node_modules/nitropack/package.json')));
});

test('the same files are built once; an edited program is only copied again', async (t) => {
  const { started, build, edit } = makePlace(t);
  const [first, again] = [await build(), await build()];
  assert.deepEqual(again, first);
  edit({ 'server.js': 'second();\n' });
  const { entry } = await build();
  assert.notEqual(entry, first.entry);
  assert.equal(readFileSync(entry, 'utf8'), 'second();\n');
  assert.equal(started.length, 2);
});

test('an edited route is rebuilt, and so is a program that a route names', async (t) => {
  const { started, build, edit } = makePlace(t);
  await build();
  edit({ 'routes/index.js': `// as server.js says\n${PAGE}` });
  const { outputs } = await build();
  assert.match(readFileSync(outputs[0].server, 'utf8'), /as server\.js says/);
  edit({ 'server.js': 'second();\n' });
  await build();
  assert.equal(started.length, 6);
});

test('a build that fails for want of disk space says nothing about the program', async (t) => {
  const { build } = makePlace(
    t,
    { code: 1 },
    undefined,
    'ENOSPC: no space left on device, write\n',
  );
  await assert.rejects(build, Shortage);
});

test('a failed build is reported and not cached', async (t) => {
  const { home, started, build } = makePlace(t, { code: 1 });
  const { builds, outputs } = await build();
  assert.deepEqual(
    builds.map(({ code }) => code),
    [1, 1],
  );
  assert.deepEqual(outputs, []);
  await build();
  assert.equal(started.length, 4);
  assert.deepEqual(readdirSync(join(home, 'cache/builds')), []);
});

test('of two builds in one folder only the second is left', async (t) => {
  const { build } = makePlace(t, { code: 0 }, () => '.output');
  const { outputs } = await build();
  assert.deepEqual(
    outputs.map(({ preset, folder }) => [preset, folder]),
    [['node-server', '.output']],
  );
});

test('a build that does not finish decides nothing', async (t) => {
  const killed = /** @type {any} */ ({ kind: 'ended', code: null, signal: 'SIGKILL' });
  const { home, build } = makePlace(t, killed);
  await assert.rejects(build(), (error) => {
    assert.ok(error instanceof Undecided);
    assert.match(error.story.got, /SIGKILL/);
    return true;
  });
  assert.deepEqual(readdirSync(join(home, 'cache/builds')), []);
});

test('without a program nothing is built', async (t) => {
  const { home, build, started } = makePlace(t);
  await assert.rejects(build(join(home, 'nitropack')), Broken);
  assert.deepEqual(started, []);
});

test('a single program becomes the server; the rest is the solution', async (t) => {
  const { home, build, started } = makePlace(t);
  write(home, { 'accept-me.cjs': 'other();\n' });
  const { entry } = await build(join(home, 'accept-me.cjs'));
  assert.ok(entry.endsWith('server.cjs'));
  assert.ok(started[0].files.includes('routes') && started[0].files.includes('package.json'));
});

test('only the last thirty builds are kept', async (t) => {
  const { home, build, edit } = makePlace(t);
  for (let edition = 0; edition < 33; edition += 1) {
    edit({ 'routes/index.js': `${PAGE}// ${edition}\n` });
    await build();
  }
  for (const kind of ['builds', 'runs'])
    assert.equal(readdirSync(join(home, 'cache', kind)).length, 30);
  const draft = join(home, 'cache/builds/123.draft');
  mkdirSync(draft);
  await build();
  assert.ok(existsSync(draft), 'another build may be running');
  utimesSync(draft, 0, 0);
  await build();
  assert.ok(!existsSync(draft), 'the process that built it was killed');
});
