// Verifies the board of a class in a real Chromium: empty and full, light and dark, wide and narrow, and that learners'
// reports appear by themselves.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { serveBoard } from '../../lib/board/serve.js';
import { joinBoard } from '../../lib/board/join-board.js';
import { COLOURS, accessibilityFaults, openBrowser, skip, watchFaults } from './browser.js';
import { limitMs } from '../limits.js';

const lessons = listLessons(rootFolder);
const NAMES = ['Ada', 'Grace', 'Linus', '<b>Barbara</b>', 'W'.repeat(24), 'Zoë'];
const STATES = /** @type {const} */ (['failed', 'passed', 'checking', 'inconclusive', 'reading']);

describe('the board in Chromium', { skip }, () => {
  /** @type {import('playwright-core').Browser} */
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  test('is accessible and fits, empty and full, and follows the reports', async (t) => {
    const board = await serveBoard({ root: rootFolder, lessons, awayMs: 1e9 });
    t.after(board.close);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    t.after(() => context.close());
    context.setDefaultTimeout(limitMs(15));
    const page = await context.newPage();
    const faults = watchFaults(page, board.url);
    await page.goto(board.url);
    const look = async (/** @type {string} */ name) => {
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        await page.emulateMedia({ colorScheme });
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 800 });
          const runOnly = colorScheme === 'light' ? undefined : COLOURS;
          const found = await accessibilityFaults(page, { runOnly });
          const over = await page.evaluate(
            () => document.documentElement.scrollWidth - window.innerWidth,
          );
          if (over > 0) found.push(`${over} px too wide`);
          faults.push(...found.map((fault) => `${name}, ${colorScheme}, ${width}: ${fault}`));
        }
      }
    };

    await page.waitForFunction(() => document.querySelector('#counts').textContent === '0 here');
    assert.match(
      await page.locator('#nobody').innerText(),
      new RegExp(`--join \\S+ ${board.code}`),
    );
    await look('empty');

    const lines = NAMES.map((name, index) =>
      joinBoard({
        ...{ url: board.url, code: board.code, name, say: () => {}, waitMs: limitMs(15) },
        report: {
          ...{ lesson: lessons[index % 2].key, state: STATES[index % STATES.length] },
          ...{ failed: index === 0 ? ['listens'] : [], kept: [], hand: index === 1 },
        },
      }),
    );
    t.after(() => Promise.all(lines.map((line) => line.close())));
    await page.waitForFunction(() => document.querySelector('#counts').textContent === '6 here');
    assert.equal(await page.locator('#class tbody tr').count(), 2);
    assert.match(await page.locator('#hands').innerText(), /Grace, lesson 2/);
    assert.match(await page.locator('.fails').innerText(), /^1\s+the server listens on PORT/);
    assert.equal(await page.locator('#class b:not(.fails b)').count(), 0, 'a name is text');
    await lines[2].close();
    await page.waitForSelector('.away:has-text("Linus")');
    lines[0].update({ state: 'passed', failed: [], hand: true });
    await page.waitForSelector('.passed:has-text("Ada") .hand');
    await page.waitForFunction(() => !document.querySelector('.fails'));
    lines[5].update({ state: 'failed', stood: 3 });
    await page.waitForSelector('.failed:has-text("Zoë") .word:text("stood 3 blows")');
    lines[5].update({ state: 'passed', stood: 6 });
    await page.waitForSelector('.passed:has-text("Zoë") .word:text("stands")');
    assert.equal(await page.locator('#counts').innerText(), '5 here, 1 away');
    lines[3].update({ state: 'failed', failed: ['one-port'] });
    await page.waitForSelector('.fails');
    await look('full');

    const summary = page.locator('#seats summary');
    assert.equal(await summary.innerText(), 'Free a seat (6 of 120 are taken)');
    await summary.press('Enter');
    const ofGrace = page.getByRole('button', { name: /ree Grace/ });
    await ofGrace.press('Enter');
    assert.equal(await page.locator('#freed').innerText(), 'Press again to free Grace.');
    await look('one is about to be freed');
    await page.waitForSelector('#class >> text=Grace');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#freed').innerText(), '', 'Escape takes it back');
    await ofGrace.press('Enter');
    lines[0].update({ hand: false });
    await page.waitForSelector('#hands li >> text=Ada', { state: 'detached' });
    await page.keyboard.press('Enter'); // the button has kept the focus
    await page.waitForFunction(
      () => document.querySelector('#freed').textContent === 'Freed: Grace.',
    );
    await page.waitForSelector('#class >> text=Grace', { state: 'detached' });
    await page.getByRole('button', { name: 'Free all 5' }).click();
    await page.getByRole('button', { name: 'Really free all 5' }).click();
    await page.waitForFunction(() => document.querySelector('#counts').textContent === '0 here');
    assert.deepEqual(faults, []);
  });
});
