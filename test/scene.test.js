// Verifies the picture of a scene: what a slice counts, the terminal's strip, the SVG file.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { failuresIn } from '../checks/12-everything-at-once/looks.js';
import { sceneOf } from '../lib/check/scene.js';
import { saveScene } from '../lib/cli/saved/scene-file.js';
import { deathsOf } from '../lib/check/strike.js';
import { pictureOfCheck, scenePicture } from '../lib/verdict/scene-picture.js';
import { blowsStood, firstBroken, sceneLines } from '../lib/verdict/scene-strip.js';
import { createStyle } from '../lib/verdict/style.js';
import { plainText } from './plain-text.js';

const style = createStyle(/** @type {any} */ ({ isTTY: false }), {});
const isGood = (/** @type {any} */ { status }) => status === 200;
const answer = (/** @type {number} */ sentMs, /** @type {number} */ tookMs, status = 200) =>
  /** @type {any} */ ({ sentMs, doneMs: sentMs + tookMs, status });

/** Two workers from the beginning; one exits at 120 ms and is back at 180 ms. */
const events = [
  { t: 900, pid: 1, what: 'worker-listening', workerPid: 2 },
  { t: 910, pid: 1, what: 'worker-listening', workerPid: 3 },
  { t: 1_000, pid: 1, what: 'beat' },
  { t: 1_120, pid: 1, what: 'worker-exit', workerPid: 2 },
  { t: 1_180, pid: 1, what: 'worker-listening', workerPid: 4 },
];

const scene = sceneOf({
  ...{ startMs: 1_000, endMs: 1_000 + 50 * 5, most: 2, isGood },
  program: /** @type {any} */ ({ events }),
  answers: [answer(1_001, 10), answer(1_002, 30), answer(1_110, 5, 500), answer(2_000, 1)],
  blows: /** @type {any} */ ([{ name: 'kill', how: 'a <kill>', fromMs: 1_110, toMs: 1_190 }]),
});

test('a slice counts what was sent in it, and the fewest workers that served', () => {
  const { slices, sliceMs } = scene;
  assert.equal(sliceMs, 50);
  assert.deepEqual(
    slices.map(({ asked, failed }) => [asked, failed]),
    [[2, 0], [0, 0], [1, 1], [0, 0], [0, 0]], // prettier-ignore
  );
  assert.deepEqual(slices[0], { asked: 2, failed: 0, p50Ms: 30, p99Ms: 30, workers: 2 });
  assert.equal(slices[2].p99Ms, null);
  assert.deepEqual(
    slices.map(({ workers }) => workers),
    [2, 2, 1, 1, 2],
  );
});

test('the strip has a column for each slice, the blow with its length, and the moment', () => {
  const lines = sceneLines(scene, 1_130, style, 80).map(plainText);
  assert.match(lines[0], /3 requests, 1 of them failed; a column is 50 ms/);
  assert.equal(lines[1].slice(12), '  1─ ');
  assert.equal(lines[2].slice(12), '█ ▁  ');
  assert.equal(lines[5].slice(12), '22112');
  assert.equal(lines[6], `${' '.repeat(14)}▲ here`);
  assert.match(lines[7], /1 kill$/);
});

test('of many blows strip and picture say how often each struck, and the axis has few marks', () => {
  const often = Array.from({ length: 12 }, (_, index) => ({
    ...{ name: index % 3 ? 'kill' : 'deploy', how: 'a blow', isBack: true },
    ...{ fromMs: 20 * index, toMs: 20 * index + 5 },
  }));
  const lines = sceneLines({ ...scene, blows: often }, undefined, style, 80).map(plainText);
  assert.equal(lines[1].slice(12), '┬┬┬┬┬');
  assert.match(lines.at(-1) ?? '', /4 deploy · 8 kill$/);
  const long = { ...scene, blows: often, sliceMs: 60_000 };
  const svg = scenePicture(long, { title: 'five minutes', broken: undefined });
  assert.match(svg, />Blows: 4 deploy\u00a0· 8 kill</);
  assert.doesNotMatch(svg, /class="number"/);
  assert.deepEqual(svg.match(/>\d+ s</g)?.slice(0, 2), ['>0 s<', '>25 s<']);
});

test('the file is one SVG without scripts or links, and nothing in it is taken for markup', () => {
  const broken = { ms: 1_130, sentence: 'none is lost', got: 'lost & <gone>' };
  const svg = scenePicture(scene, { title: 'Lesson 12, seed 1', broken });
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/);
  assert.ok(svg.includes('a &lt;kill&gt;') && svg.includes('lost &amp; &lt;gone&gt;'));
  assert.equal(svg.match(/class="broken"/g)?.length, 1);
  assert.doesNotMatch(svg, /NaN|undefined|Infinity|<script|href/);
});

test('the picture of a check names its lesson, its seed, and the first broken promise', () => {
  const broken = { id: 'a', task: 1, sentence: 'it stands', verdict: 'failed', got: 'It fell.' };
  const promises = /** @type {any} */ ([broken]);
  const svg = pictureOfCheck({ scene, seed: 7, verdict: 'failed', promises }, 12);
  assert.ok(svg.includes('Lesson 12, seed 7: failed') && svg.includes('✖ it stands'));
});

test('the moment is that of the first broken promise, if it has one', () => {
  const record = (/** @type {any} */ more) => ({
    id: 'a',
    task: 1,
    sentence: 'it stands',
    ...more,
  });
  const shows = { program: 0, moments: [{ pid: 1, t: 7, says: 'exits' }] };
  const held = record({ verdict: 'passed' });
  const failed = record({ verdict: 'failed', got: 'It fell.', shows });
  assert.deepEqual(firstBroken([held, failed]), { ms: 7, sentence: 'it stands', got: 'It fell.' });
  assert.equal(firstBroken([held]), undefined);
});

test('a death is one that the check has caused, until the primary learns of it', () => {
  const exit = { pid: 1, what: 'worker-exit', signal: 'SIGKILL' };
  const blows = /** @type {any} */ ([
    { kills: true, acted: [2], fromMs: 5, events: [{ ...exit, t: 9, workerPid: 2 }] },
    { kills: false, acted: [3], fromMs: 20, events: [{ ...exit, t: 25, workerPid: 3 }] },
    { kills: true, acted: [4], fromMs: 30, events: [] },
  ]);
  assert.deepEqual(deathsOf(blows), [
    { pid: 2, fromMs: 5, toMs: 9 },
    { pid: 4, fromMs: 30, toMs: Infinity },
  ]);
});

test('a request that no process recorded was on its way to the first worker that died, which only the check may have killed', () => {
  const listens = (/** @type {number} */ workerPid) => ({ pid: 1, t: 0, what: 'worker-listening', workerPid }); // prettier-ignore
  const exit = (/** @type {number} */ workerPid, /** @type {number} */ t, code = /** @type {number | null} */ (null)) => ({ pid: 1, t, what: 'worker-exit', workerPid, code }); // prettier-ignore
  const silent = { sentMs: 100, doneMs: 2_600, client: 9, isReused: false, error: 'no answer' };
  const failedWith = (/** @type {any[]} */ exits) =>
    failuresIn({
      ...{ program: { events: [listens(2), listens(3), ...exits] }, requests: [] },
      ...{ sent: [{ path: '/', first: silent, isRepeated: false }], placed: [] },
      deaths: [{ pid: 3, fromMs: 900, toMs: 950 }], // the check's own kill
    });
  assert.deepEqual(failedWith([exit(3, 950)]), []);
  assert.deepEqual(failedWith([exit(2, 200, 0), exit(3, 950)]), [], 'worker 2 had drained');
  const [one] = failedWith([exit(2, 400), exit(3, 950)]);
  assert.deepEqual([one.failedMs, one.death?.workerPid], [400, 2], 'a watchdog killed worker 2');
  const [two] = failedWith([exit(3, 50)]);
  assert.deepEqual([two.failedMs, two.death], [2_600, undefined], 'it was sent after the kill');
});

test('a check that played a scene leaves its picture, and one without leaves nothing', () => {
  const root = mkdtempSync(join(tmpdir(), 'scene-'));
  const io = /** @type {any} */ ({ root, env: {} });
  const check = /** @type {any} */ ({ promises: [], verdict: 'passed', seed: 7, scene });
  try {
    assert.equal(saveScene(io, { ...check, scene: undefined }, 12), undefined);
    const path = saveScene(io, check, 12);
    assert.equal(path, join(root, '.forkshop/lesson-12.svg'));
    assert.match(readFileSync(path, 'utf8'), /Lesson 12, seed 7: passed/);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('a program has stood the blows that were over when its first promise broke', () => {
  const blows = /** @type {any} */ ([100, 200, 300].map((toMs) => ({ toMs, isBack: toMs < 300 })));
  const two = { ...scene, blows };
  const brokenAt = (/** @type {number[]} */ ...moments) => [
    { id: 'a', verdict: 'passed' },
    { id: 'b', verdict: 'failed', shows: { moments: moments.map((t) => ({ t })) } },
  ];
  const stood = (/** @type {any} */ promises) => blowsStood(two, promises);
  assert.deepEqual([stood([]), stood(brokenAt(1_050)), stood(brokenAt(1_150))], [2, 0, 1]);
  assert.equal(stood(brokenAt()), 2, 'the third was too much');
  assert.equal(stood(brokenAt(900)), null, 'in an earlier scene');
});
