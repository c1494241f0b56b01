// Verifies `spot` on the real catalogue of lesson 2: what it shows, asks, judges and saves, and that the learner can leave.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { chooseAnswers, run } from '../lib/cli/commands/spot.js';
import { changesOf } from '../lib/lessons/answer-programs.js';
import { answersOf } from '../lib/lessons/answers.js';
import { filesBelow, rootFolder } from '../lib/lessons/catalog.js';
import { spotDemos } from '../lib/deck/spots.js';
import { Watched, until } from './nothing-left.js';

const KEY = '02-cluster-fork';
const passed = { version: 1, passed: { [KEY]: { at: '2026-01-01' } } };
const main = join(rootFolder, 'lib/cli/main.cjs');

/** A folder for progress. @param {import('node:test').TestContext} t @param {object} [progress] */
function makeHome(t, progress) {
  const home = mkdtempSync(join(tmpdir(), 'spot-'));
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  if (progress) writeFileSync(join(home, 'progress.json'), JSON.stringify(progress));
  return home;
}

const readHome = (/** @type {string} */ home) =>
  JSON.parse(readFileSync(join(home, 'progress.json'), 'utf8'));

/** Runs the command and types; optionally at a terminal of 80 columns. */
async function spot(
  /** @type {string} */ home,
  /** @type {string} */ typed,
  { isTTY = false, isEnded = true } = {},
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, isTTY ? { isTTY, columns: 80 } : {}),
  );
  let output = '';
  stdout.setEncoding('utf8').on('data', (text) => (output += text));
  stdin.write(typed);
  if (isEnded) stdin.end();
  const env = { FORKSHOP_HOME: home, NO_COLOR: '1' };
  const code = await run(['2'], { stdin, stdout, stderr: stdout, env, root: rootFolder });
  return { code, output };
}

/** The learner's files, with their contents. */
const mine = () =>
  Object.fromEntries(
    filesBelow(join(rootFolder, 'lessons'))
      .filter((file) => !file.includes('node_modules'))
      .map((file) => [file, readFileSync(join(rootFolder, 'lessons', file), 'utf8')]),
  );

describe('spot', { concurrency: true }, () => {
  test('asks twice if the lesson has not been passed', async (t) => {
    const home = makeHome(t);
    const first = await spot(home, '');
    assert.equal(first.code, 0);
    assert.match(first.output, /^Lesson 2 has not passed yet[^]*run the same command again\.\n$/);
    assert.match((await spot(home, '')).output, /Spot the fault, 1 of 3/);
  });

  /** @type {Record<string, { said: string, words: RegExp, isSeen: boolean }>} */
  const guesses = {
    'the right promise': {
      said: 'forks-as-told',
      words: /You saw it\. It breaks 1\./,
      isSeen: true,
    },
    'another promise': { said: '2', words: /Not quite\. It breaks 1\./, isSeen: false },
    none: { said: 'none', words: /Not quite\. It breaks 1\./, isSeen: false },
  };
  for (const [what, { said, words, isSeen }] of Object.entries(guesses))
    test(`a change is shown without its comment, judged, explained and remembered: ${what}`, async (t) => {
      const name = 'one-too-many';
      const answer = answersOf(rootFolder, KEY).find((one) => one.name === name);
      assert.deepEqual(answer?.breaks, ['forks-as-told']);
      const home = makeHome(t, { ...passed, spotted: { [KEY]: { [name]: false } } });
      const before = mine();
      const { code, output } = await spot(home, `seven\n99\n${said}\n`);
      assert.equal(code, 0, output);
      const [shown, told] = output.split('It is started and judged.\n');
      assert.match(shown, /Lesson 2: .* Spot the fault, 1 of 3\n\n {2}server\.js, from line \d+\n/);
      assert.match(shown, /\n {4}\+/);
      assert.equal(shown.match(/A number from 0 to \d+, please/g)?.length, 2);
      const inOneLine = (/** @type {string} */ text) => text.replaceAll(/\s+/g, ' ');
      assert.ok(!inOneLine(shown).includes(inOneLine(answer.why)));
      assert.match(told, /\[1\/\d+\] ✖ failed: [^]* expected [^]* got /);
      assert.match(told, words);
      assert.ok(inOneLine(told).includes(inOneLine(answer.why)));
      assert.match(told, /2 of 3/);
      assert.ok(!output.includes('\u001B'), 'no colour');
      assert.deepEqual(readHome(home).spotted[KEY], { [name]: isSeen });
      assert.deepEqual(mine(), before);
    });

  test('Ctrl-C, Ctrl-D and Enter at the question leave, and nothing is saved', async (t) => {
    const home = makeHome(t, passed);
    for (const key of ['\u0003', '\u0004', '\n']) {
      const { code, output } = await spot(home, key, { isTTY: true, isEnded: false });
      assert.equal(code, 130);
      assert.match(output, /Your answer, 0 to \d+: /);
      assert.doesNotMatch(output, /bug in Forkshop|It is started/);
    }
    assert.equal(readHome(home).spotted, undefined);
  });

  test('interrupted during a check, it exits and leaves nothing', async (t) => {
    const home = makeHome(t, passed);
    writeFileSync(join(home, 'typed'), '1\n1\n1\n');
    const command = `exec "${process.execPath}" "${main}" spot 2 < "${home}/typed"`;
    const watched = new Watched(['sh', '-c', command], { FORKSHOP_HOME: home });
    t.after(() => watched.cleanUp());
    // Some answers fail within 100 ms of their start, so waiting for a program could be too late.
    await until('the keeper runs', () => watched.running('keeper.js').length > 0);
    process.kill(watched.pid, 'SIGINT');
    const { code, stdout } = await watched.end;
    assert.equal(code, 130);
    assert.doesNotMatch(stdout, /You saw it|Not quite/);
    await until('nothing is left', async () => (await watched.left()).length === 0);
    assert.equal(readHome(home).spotted, undefined);
  });
});

test('a sitting has missed faults first, then new ones, one of each promise before the next', () => {
  const wrong = (/** @type {string} */ name, /** @type {string[]} */ ...breaks) => ({
    ...{ name, breaks, isRight: false, why: 'because' },
  });
  const right = { name: 'r', breaks: [], isRight: true, why: 'because' };
  const all = [wrong('a1', 'a'), wrong('a2', 'a'), wrong('b1', 'b', 'a'), wrong('b2', 'b'), right];
  const names = (/** @type {Record<string, boolean>} */ spotted) =>
    chooseAnswers(all, spotted, ['a', 'b']).map(({ name }) => name);
  assert.deepEqual(names({}).sort(), ['a1', 'b1', 'r']);
  assert.deepEqual(names({ a1: true, b1: true, r: true }).slice(0, 2).sort(), ['a2', 'b2']);
  assert.deepEqual(names({ a1: true, b1: false, r: true })[0], 'b1');
  assert.equal(names(Object.fromEntries(all.map(({ name }) => [name, true]))).length, 3);
});

test('every change of the catalogue is shown as a diff that has a line of the solution', () => {
  const changes = answersOf(rootFolder, KEY).filter(({ patches }) => patches);
  assert.ok(changes.length > 20);
  for (const answer of changes) {
    const lines = changesOf(rootFolder, KEY, answer).flatMap(({ hunks }) =>
      hunks.flatMap((hunk) => hunk.lines),
    );
    assert.ok(
      lines.some((line) => line.startsWith('+') || line.startsWith('-')),
      answer.name,
    );
    assert.ok(!lines.some((line) => line.includes('#region')), answer.name);
  }
});

test('on the projector a change breaks its promise or is right; a change that was not judged has no verdict', async () => {
  const [demo] = spotDemos(rootFolder);
  const play = async (/** @type {any} */ promise) => {
    /** @type {string[]} */
    const said = [];
    const verdict = promise.verdict;
    const stage = {
      say: (/** @type {string} */ words) => said.push(words),
      judge: async () => ({ promises: [promise], verdict }),
    };
    await demo.perform(/** @type {any} */ (stage));
    return said.at(-1);
  };
  const sentence = 'it answers';
  const failed = await play({ verdict: 'failed', sentence, got: 'It was silent.' });
  assert.equal(failed, 'It breaks “it answers”. It was silent.');
  assert.equal(await play({ verdict: 'passed' }), 'It is right: all 1 promises hold.');
  await assert.rejects(play({ verdict: 'inconclusive', got: 'It had no turn.', why: 'Busy.' }), {
    name: 'Undecided',
    message: 'It could not be judged here and now. It had no turn.',
  });
});
