// Verifies the demos of the deck in a real Chromium: run to their end and left midway; their recordings; the static export; what
// an author saves.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import express from 'express';
import { execFileSync } from '../../lib/common/child.js';
import { checkFile, loadCheck } from '../../lib/check/definitions.js';
import { answersOf } from '../../lib/lessons/answers.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { exportHtml } from '../../lib/deck/export.js';
import { serveDeck } from '../../lib/deck/serve.js';
import { accessibilityFaults, currentSlide, goTo, layoutFaults, skip } from './browser.js';
import {
  demoSlides,
  drawnFrom,
  isSpot,
  keyOf,
  recordingOf,
  tableOf,
  useDeck,
} from './deck-page.js';
import { limitMs } from '../limits.js';
import { describe as describeProcess, isOpen, until } from '../nothing-left.js';
import { createSlots } from '../slots.js';

const TIMES_LEFT = 20;
const LONG_MS = 3_600_000;
const LONG_PAUSE_MS = 5_000; // of each of four pauses, so that the demo is still running when the test acts
const DEMOS_AT_ONCE = 2;
const RECORDINGS_AT_ONCE = 4;

/** @typedef {import('playwright-core').Page} Page */

describe('the demos of the deck', { skip }, () => {
  const { open } = useDeck();

  test('R plays the recording, which can be held and moved through; a demo that is stopped says so', async () => {
    const { page, faults, close } = await open();
    const { id, demos } = demoSlides[0];
    const messages = recordingOf(id, demos[0]);
    const long = messages.with(-1, { ...messages.at(-1), at: LONG_MS }); // it doesn't end by itself during the test
    await page.route('**/recordings/*.json', (route) => route.fulfill({ json: long }));
    await page.route('**/demos/*', () => {}); // neither does the demo
    await goTo(page, id);
    const part = (/** @type {string} */ name) => page.locator(`section.present ${name}`);
    await page.keyboard.press('r');
    await part('svg.xray .alive').first().waitFor();
    assert.match(await part('.badge').innerText(), /^recorded: /);
    await part('.hold').click();
    assert.equal(await part('.hold').innerText(), 'Play');
    await part('.time').evaluate((/** @type {HTMLInputElement} */ time) => {
      time.value = '1';
      time.dispatchEvent(new Event('input'));
    });
    assert.equal(await part('svg.xray .alive').count(), 0, 'nothing had begun');
    await part('.time').evaluate((/** @type {HTMLInputElement} */ time) => {
      time.value = time.max;
      time.dispatchEvent(new Event('input'));
    });
    assert.deepEqual(await tableOf(page), drawnFrom(messages));
    await part('svg.xray .work .served').last().hover();
    assert.match(await part('.point').innerText(), /pid \d+: .* ms/);
    await part('.run').click();
    await page.waitForFunction(
      () => document.querySelector('section.present .badge')?.textContent === 'true time',
    );
    await page.waitForTimeout(500); // sooner it is the second half of a double click
    await part('.run').click();
    assert.equal(await part('.status').innerText(), 'It was stopped.');
    assert.deepEqual(faults, []);
    await close();
  });

  describe('every demo', { concurrency: true }, () => {
    const slots = createSlots(DEMOS_AT_ONCE);
    for (const slide of demoSlides)
      test(`${slide.demos[0]} shows what happened, by keyboard alone, and leaves nothing`, async (t) => {
        const tell = (/** @type {string} */ error) => t.diagnostic(`not shown: ${error}`);
        const error = await slots.takeUntilSure(1, () => runDemo(slide), Boolean, tell);
        assert.equal(error, undefined);
      });
  });

  /**
   * Its error if it couldn't be shown, for example on a machine that is too busy.
   * @param {import('../../lib/deck/read-deck.js').Slide} slide
   * @returns {Promise<string | undefined>}
   */
  async function runDemo({ id, demos }) {
    const { page, faults, close } = await open();
    await goTo(page, id);
    const run = page.locator('section.present .run');
    await run.focus();
    await page.keyboard.press('Space');
    await page.waitForFunction(() => 'told' in window);
    const body = await page.evaluate(() => /** @type {any} */ (window).told);
    assert.equal(await currentSlide(page), id, 'Space has turned the slide');
    const messages = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { error } = messages.at(-1).end;
    await page.waitForFunction(
      (wanted) => document.querySelector('section.present .run')?.textContent === wanted,
      error ? 'Try again' : 'Run again',
    );
    if (error) {
      assert.ok((await page.locator('section.present .status').innerText()).includes(error));
      await close();
      return error;
    }
    assert.deepEqual(await tableOf(page), drawnFrom(messages));
    const told = await page.locator('section.present .status').innerText();
    assert.equal(told, messages.filter(({ say }) => say).at(-1).say, 'the text equivalent');
    if (isSpot({ demos })) {
      assert.ok(told.startsWith(await verdictOf(id, demos[0])), told);
      const [broken, ...others] = await page
        .locator('section.present .options .broken')
        .allTextContents();
      assert.ok(told.includes(broken) && others.length === 0, `marked: ${broken}`);
    } else
      assert.ok(
        (await page.locator('section.present svg.xray').getAttribute('aria-label')).includes(
          'requests',
        ),
      );
    const bad = [...(await layoutFaults(page)), ...(await accessibilityFaults(page)), ...faults];
    assert.deepEqual(bad, []);
    if (id === demoSlides[0].id) {
      await page.keyboard.press('r');
      const beside = page.locator('section.present .beside');
      await beside.waitFor();
      assert.ok((await beside.locator('p').innerText()).startsWith(`Here, just now: ${told}`));
      assert.ok((await beside.locator('.work .served').count()) > 0);
    }
    if (!isSpot({ demos })) {
      await gone(pidsIn(messages));
      await closed(portsIn(messages));
    }
    await close();
    return undefined;
  }

  test(`a tab closed midway leaves nothing, ${TIMES_LEFT} times`, async () => {
    for (let count = 0; count < TIMES_LEFT; count += 1) {
      const { id } = demoSlides[count % demoSlides.length];
      const { page, close } = await open();
      await goTo(page, id);
      await page.locator('section.present .run').click();
      await until('a program runs', () => portsOf(familiesOf(process.pid)).length > 0);
      const pids = familiesOf(process.pid);
      const ports = portsOf(pids);
      if (count % 2 === 0) await close();
      else await page.keyboard.press('PageUp'); // leaving the slide stops the demo
      await gone(pids);
      await closed(ports);
      if (count % 2 === 1) await close();
    }
  });

  test('what an author saves is shown; the slide stays, and so does a demo that runs', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'deck root '));
    t.after(() => rmSync(root, { recursive: true }));
    for (const part of ['lib', 'checks', 'node_modules'])
      symlinkSync(join(rootFolder, part), join(root, part));
    for (const part of ['slides', 'solutions', 'lessons', 'package.json'])
      cpSync(join(rootFolder, part), join(root, part), { recursive: true });
    const { id } = demoSlides[0];
    const fileOf = (/** @type {string} */ name) => join(root, 'slides', keyOf(id), name);
    const pause = /^const PAUSE_MS = \d+;/m;
    const demos = readFileSync(fileOf('demos.js'), 'utf8');
    assert.match(demos, pause);
    writeFileSync(fileOf('demos.js'), demos.replace(pause, `const PAUSE_MS = ${LONG_PAUSE_MS};`));
    const own = await serveDeck({ root });
    t.after(() => own.close());
    const { page, close } = await open(own.url);
    await goTo(page, id);
    await page.locator('section.present .run').click();
    await page.waitForFunction(() => document.querySelector('section.present .xray .alive'));
    const text = readFileSync(fileOf('slides.md'), 'utf8');
    const [, heading] = /^# (.*?) \{/m.exec(text) ?? [];
    writeFileSync(fileOf('slides.md'), text.replace(heading, 'Saved just now'));
    await page.waitForFunction(() =>
      [...document.querySelectorAll('h1')].some((one) => one.textContent === 'Saved just now'),
    );
    assert.equal(await currentSlide(page), id);
    assert.equal(
      await page.locator('section.present .run').innerText(),
      'Stop',
      'the demo goes on',
    );
    await page.waitForFunction(() => document.querySelector('section.present .work .served'));
    await page.locator('section.present .run').click();
    assert.equal(await page.locator('section.present .status').innerText(), 'It was stopped.');
    await close();
  });

  test('the static export plays what was recorded, from any file server', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deck-export-'));
    t.after(() => rmSync(folder, { recursive: true }));
    exportHtml({ root: rootFolder, folder });
    const server = express().use('/some/where', express.static(folder)).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const left = [...demoSlides];
    const play = async () => {
      const { page, faults, close } = await open(`http://127.0.0.1:${port}/some/where/`);
      await page.clock.install();
      for (let slide = left.pop(); slide; slide = left.pop()) await playRecording(page, slide);
      assert.deepEqual(faults, []);
      await close();
    };
    await Promise.all(Array.from({ length: RECORDINGS_AT_ONCE }, play));
    server.closeAllConnections();
  });

  /** @param {Page} page @param {import('../../lib/deck/read-deck.js').Slide} slide */
  async function playRecording(page, { id, demos }) {
    await goTo(page, id);
    const run = page.locator('section.present .run');
    await run.click();
    await page.locator('section.present .badge', { hasText: 'recorded' }).waitFor();
    await page.clock.fastForward(LONG_MS);
    await run.and(page.getByText('Run again')).waitFor({ timeout: limitMs(20) });
    assert.match(
      await page.locator('section.present .badge').innerText(),
      /^recorded: \d+ cores .*, Node \d+.*, \d{4}-/,
    );
    assert.deepEqual(await tableOf(page), drawnFrom(recordingOf(id, demos[0])));
  }
});

/** The sentence about such a change begins with the promise that it breaks. @param {string} id @param {string} demo */
async function verdictOf(id, demo) {
  const answer = answersOf(rootFolder, keyOf(id)).find(({ name }) => demo.endsWith(`-${name}`));
  const { promises } = await loadCheck(checkFile(rootFolder, keyOf(id)));
  return `It breaks “${promises[answer?.breaks[0] ?? '']}”. `;
}

/** @param {any[]} messages */
const pidsIn = (messages) => [
  ...new Set(
    messages.flatMap(({ events = [] }) => events.map((/** @type {any} */ { pid }) => pid)),
  ),
];

/** The ports on which a process listened. @param {any[]} messages @returns {number[]} */
const portsIn = (messages) => [
  ...new Set(
    messages
      .flatMap(({ events = [] }) => events)
      .filter((/** @type {any} */ { what }) => what === 'listening')
      .map((/** @type {any} */ { port }) => port),
  ),
];

/** The ports that these programs got in PORT. @param {number[]} pids */
const portsOf = (pids) => [
  ...new Set(pids.flatMap((pid) => describeProcess(pid).env.PORT ?? []).map(Number)),
];

/** Asserts that no process listens on these ports any more. @param {number[]} ports */
async function closed(ports) {
  assert.ok(ports.length > 0);
  const open = await Promise.all(ports.map(isOpen));
  assert.deepEqual(
    ports.filter((port, index) => open[index]),
    [],
    'These ports are open.',
  );
}

/** The keepers of a process, and the programs that run below them. @param {number} root @returns {number[]} */
function familiesOf(root) {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const all = lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .map(([, pid, ppid, args]) => ({ pid: Number(pid), ppid: Number(ppid), args }));
  const below = (/** @type {number} */ parent) =>
    all.filter(({ ppid }) => ppid === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(root)
    .filter(({ args }) => args.includes('keeper.js'))
    .flatMap((keeper) => [keeper, ...below(keeper.pid)])
    .map(({ pid }) => pid);
}

/** Waits until none of them is alive. @param {number[]} pids */
async function gone(pids) {
  assert.ok(pids.length > 0);
  const alive = () => pids.filter((pid) => /^[^Z]/.test(stateOf(pid)));
  await until('they have ended', () => alive().length === 0).catch(() => {});
  assert.deepEqual(alive(), [], 'These processes are left.');
}

/** @param {number} pid */
function stateOf(pid) {
  try {
    return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
