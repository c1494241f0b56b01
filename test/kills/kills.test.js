// Verifies that each process of ours may be killed at any moment. If check, keeper or page (`npm start`) are killed, none of
// their processes and files is left after the next start; if the load of a measurement is killed, the check ends with a
// verdict. The moment is random and decides nothing.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { updateProgress } from '../../lib/cli/saved/progress.js';
import { findLesson, listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { signal } from '../../lib/observe/processes.js';
import { limitMs } from '../limits.js';
import { onlyApart } from '../namespace.js';
import { Watched, isOpen, until } from '../nothing-left.js';

const TIMES = Number(process.env.FORKSHOP_TIMES ?? 1);
const LATEST_MS = 3_000;
const TRIES_TO_CATCH = 10;
const times = Array.from({ length: TIMES }, (_, index) => index + 1);
const pidsOf = (/** @type {{ pid: number }[]} */ some) => some.map(({ pid }) => pid);

/** @typedef {(watched: Watched) => number[]} Choose  which processes of a command are killed */

/** @type {Record<string, Choose>} */
const victims = {
  check: ({ pid }) => [pid],
  keeper: (watched) => pidsOf(watched.running('keeper.js')),
  both: (watched) => [watched.pid, ...victims.keeper(watched)],
};

describe('killed at a random moment; the next start leaves nothing of it:', onlyApart, () => {
  for (const lesson of ['lesson-2', 'lesson-5', 'lesson-6', 'lesson-9', 'lesson-10'])
    for (const [victim, choose] of Object.entries(victims))
      for (const time of times)
        test(`${victim}, ${lesson} (${time})`, async (t) => {
          for (let tries = 1, killed = 0; killed === 0; tries += 1) {
            assert.ok(tries < TRIES_TO_CATCH, 'each check was over before it could be killed');
            const watched = begin(t, ['check', lesson, '--solution', '--json', '--quick']);
            killed = await killLater(t, watched, choose);
            await until('the check is over', () => watched.ended, limitMs(120));
            await assertNothingLeft(watched);
          }
        });
});

/** A process that sends a measurement's requests or measures the machine, and a lesson that needs it. */
const loads = {
  'load process': { file: 'load-process.js', lesson: 'lesson-2' },
  'load process of the measurements': { file: 'load-process.js', lesson: 'lesson-3' },
  'open-loop process': { file: 'open-loop-process.js', lesson: 'lesson-7' },
  spinners: { file: 'spinner-process.js', lesson: 'lesson-2' },
};
const WHILE_MEASURING_MS = 1_000;

describe('a check whose load is killed at a random moment ends with a verdict:', onlyApart, () => {
  for (const [victim, { file, lesson }] of Object.entries(loads))
    for (const time of times)
      test(`${victim}, ${lesson} (${time})`, async (t) => {
        const watched = begin(t, ['check', lesson, '--solution', '--json']);
        const isUp = () => watched.running(file).length > 0;
        await until(`${file} runs`, () => watched.ended ?? isUp(), limitMs(60));
        await killLater(t, watched, () => pidsOf(watched.running(file)), WHILE_MEASURING_MS);
        const { stdout } = await watched.over();
        const { verdict, fault, promises } = JSON.parse(stdout);
        assert.equal(fault, null);
        assert.notEqual(verdict, 'failed', JSON.stringify(promises));
        await assertNothingLeft(watched);
      });
});

/** @type {Record<string, Choose>} */
const victimsOfPage = {
  page: victims.check,
  'page and keeper': victims.both,
  'page and the program that it checks': (watched) => [watched.pid, ...pidsOf(watched.programs())],
};

describe(
  '`npm start`, killed during a check, leaves nothing after the next start:',
  onlyApart,
  () => {
    for (const lesson of ['lesson-2', 'lesson-10'])
      for (const time of times) {
        for (const [victim, choose] of Object.entries(victimsOfPage))
          test(`${victim}, ${lesson} (${time})`, async (t) => {
            const { watched, port, home } = await beginPage(t, lesson);
            await killLater(t, watched, choose);
            await until('it is over', () => watched.ended, limitMs(10));
            await assertNothingLeft(watched);
            assert.equal(await isOpen(port), false);
            assertKeptWhole(home);
          });

        test(`keeper, ${lesson}: the page carries on (${time})`, async (t) => {
          const { watched, save } = await beginPage(t, lesson);
          await killLater(t, watched, victims.keeper);
          const waits = /Waiting for the next save/;
          await until('the check is over', () => watched.printed(waits), limitMs(120));
          save();
          const twice = new RegExp(`${waits.source}[^]*${waits.source}`);
          await until('the next one is', () => watched.printed(twice), limitMs(120));
          assert.equal(watched.printed(/✖|bug in Forkshop/), null);
          process.kill(watched.pid, 'SIGTERM');
          assert.equal((await watched.over()).code, 0);
          await assertNothingLeft(watched);
        });
      }
  },
);

/** Runs a command of ours. @param {import('node:test').TestContext} t @param {string[]} argv @param {Record<string, string>} [env] */
function begin(t, argv, env) {
  const watched = new Watched([process.execPath, 'lib/cli/main.cjs', ...argv], env);
  t.after(() => watched.cleanUp());
  return watched;
}

/** Runs `npm start` in a new workshop, and saves a lesson there. @param {import('node:test').TestContext} t @param {string} lesson */
async function beginPage(t, lesson) {
  const root = mkdtempSync(join(tmpdir(), 'kills '));
  t.after(() => rmSync(root, { recursive: true, maxRetries: 3 }));
  const { key } = findLesson(listLessons(rootFolder), lesson);
  const mine = join(root, 'lessons', key);
  for (const room of ['checks', 'solutions']) symlinkSync(join(rootFolder, room), join(root, room));
  const filter = (/** @type {string} */ path) => basename(path) !== 'node_modules'; // Nitro: 90 MB
  cpSync(join(rootFolder, 'lessons'), join(root, 'lessons'), { recursive: true, filter });
  cpSync(join(rootFolder, 'solutions', key), mine, { recursive: true });
  const home = join(root, '.forkshop');
  const env = { FORKSHOP_ROOT: root, FORKSHOP_HOME: home };
  const watched = begin(t, ['start', '--port', '0'], env);
  await until('it watches', () => watched.printed(/Whenever you save/), limitMs(10));
  const port = watched.printed(/The page: http:\/\/[^:]+:(\d+)/)?.[1];
  assert.ok(port);
  const file = join(mine, 'server.js');
  const save = () => writeFileSync(file, readFileSync(file));
  save();
  await until('it checks', () => watched.printed(/ saved -/), limitMs(10));
  return { watched, port, home, save };
}

/** @param {import('node:test').TestContext} t @param {Watched} watched @param {Choose} choose  @returns {Promise<number>} how many */
async function killLater(t, watched, choose, latestMs = LATEST_MS) {
  const atMs = Math.random() * latestMs;
  await sleep(atMs);
  const pids = choose(watched);
  const killed = watched.look().filter((one) => pids.includes(one.pid) && signal(one, 'SIGKILL'));
  t.diagnostic(`after ${Math.round(atMs)} ms, ${killed.length} killed`);
  return killed.length;
}

/** @param {Watched} watched */
async function assertNothingLeft(watched) {
  await watched.startNext();
  /** @type {string[]} */
  let left = [];
  const look = async () => (left = await watched.left()).length === 0;
  await until('nothing is left', look).catch(() => assert.deepEqual(left, []));
}

/** The learner's progress can be read, and the next change leaves no other file beside it. @param {string} home */
function assertKeptWhole(home) {
  const told = { text: '', write: (/** @type {string} */ text) => (told.text += text) };
  const io = /** @type {any} */ ({ env: { FORKSHOP_HOME: home }, root: home, stderr: told });
  updateProgress(io, () => {});
  assert.equal(told.text, '');
  const known = ['history.jsonl', 'progress.json', 'verdicts'];
  assert.deepEqual(
    readdirSync(home).filter((name) => !known.includes(name)),
    [],
  );
}
