// Verifies the deck in a real Chromium: every slide and step, light and dark; every demo, run to
// its end and left midway; the PDFs; the static export; what an author saves.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import express from 'express';
import { execFileSync } from '../../lib/common/child.js';
import { checkFile, loadCheck } from '../../lib/check/definitions.js';
import { answersOf } from '../../lib/lessons/answers.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { exportHandout, exportHtml, exportPdf, exportScript } from '../../lib/deck/export.js';
import { serveDeck } from '../../lib/deck/serve.js';
import { createStory, rowsOf, tell } from '../../lib/web/client/xray-story.js';
import {
  COLOURS,
  accessibilityFaults,
  currentSlide,
  diagramTexts,
  goTo,
  layoutFaults,
  openBrowser,
  showSteps,
  skip,
  stepsLeft,
  watchFaults,
} from './browser.js';
import { limitMs } from '../limits.js';
import { describe as describeProcess, isOpen, until } from '../nothing-left.js';
import { plainText } from '../plain-text.js';
import { createSlots } from '../slots.js';

const SIZE = { width: 1280, height: 720 };
const WIDER = { width: 1920, height: 1080 };
const MOST_BYTES = 900_000; // of the first view
const TIMES_LEFT = 20;
const LONG_MS = 3_600_000;
const LONG_PAUSE_MS = 5_000; // of each of four pauses, so that the demo is still running when the test acts
const LONGEST_WARNING = 'This machine is very busy: run it again, or play the recording.';
const DEMOS_AT_ONCE = 2;
const RECORDINGS_AT_ONCE = 4;
const slides = readDeck(rootFolder).flatMap((chapter) => chapter.slides);
const diagramSlides = slides.filter(({ html }) => html.includes('<svg class="diagram"'));
const demoSlides = slides.filter(({ demos }) => demos.length > 0);

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('../../lib/deck/read-deck.js').Slide} Slide */

describe('the deck in Chromium', { skip }, () => {
  /** @type {import('playwright-core').Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof serveDeck>>} */
  let deck;
  before(async () => {
    [browser, deck] = await Promise.all([openBrowser(), serveDeck({ root: rootFolder })]);
  });
  after(async () => {
    await browser?.close();
    await deck?.close();
  });

  /** @param {string} url @param {import('playwright-core').BrowserContextOptions} [options] @param {string} [ready] */
  async function open(url, options, ready = '.reveal.ready, #talk') {
    const context = await browser.newContext({
      viewport: SIZE,
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(limitMs(10));
    const page = await context.newPage();
    const faults = watchFaults(page, url);
    await page.addInitScript(overhear);
    await page.goto(url);
    await page.waitForSelector(ready);
    return { page, faults, close: () => context.close() };
  }

  test('every slide and step is accessible and fits, on a small wall in light, on a large one in dark', async () => {
    const found = await Promise.all([lookAtAll('light'), lookAtAll('dark')]);
    assert.deepEqual(found.flat(), []);
  });

  test('the first view, with its fonts, is small', async () => {
    const { page, faults, close } = await open('about:blank', {}, 'html');
    /** @type {Promise<number>[]} */
    const bytes = [];
    page.on('response', (response) => {
      const isStream = /event-stream/.test(response.headers()['content-type']); // it has no end
      if (!isStream) bytes.push(response.body().then(({ length }) => length));
    });
    await page.goto(deck.url);
    await page.waitForSelector('.reveal.ready');
    const code = slides.find(({ html }) => html.includes('<pre'));
    await goTo(page, code?.id ?? '');
    const families = await page.evaluate(async () => {
      const loaded = [...(await document.fonts.ready)].filter(({ status }) => status === 'loaded');
      return loaded.map(({ family }) => family.replaceAll('"', ''));
    });
    assert.deepEqual(families.sort(), ['Inter', 'JetBrains Mono']);
    const sum = (await Promise.all(bytes)).reduce((total, one) => total + one, 0);
    assert.ok(sum > 100_000 && sum <= MOST_BYTES, `${sum} bytes`);
    assert.deepEqual(
      faults.filter((fault) => !fault.startsWith('request')),
      [],
    );
    await close();
  });

  /**
   * The faults of all slides. Every step must fit. The last step shows everything, so it is checked for accessibility;
   * earlier steps are too if code changes its colours. In the dark, on the larger wall, all steps are shown at once, and
   * only colours are checked, because the rest is the same page.
   * @param {'light' | 'dark'} colorScheme
   */
  async function lookAtAll(colorScheme) {
    const { page, faults, close } = await open(deck.url, {
      colorScheme,
      viewport: colorScheme === 'dark' ? WIDER : SIZE,
    });
    const found = (await accessibilityFaults(page)).map((fault) => `the page: ${fault}`);
    if ((await page.locator('[role=application]').count()) > 0) found.push('role=application');
    const isDark = colorScheme === 'dark';
    const runOnly = isDark ? COLOURS : undefined;
    for (const { id } of slides) {
      await goTo(page, id);
      if ((await page.locator('section.present h1').count()) !== 1) found.push(`${id}: headings`);
      const moving = await page.evaluate(() => document.getAnimations().length); // we prefer reduced motion
      if (moving > 0) found.push(`${id}: ${moving} things move`);
      const hasFocus = (await page.locator('section.present .focus').count()) > 0;
      if (isDark && !hasFocus) await showSteps(page);
      for (let [step, isMore] = [0, true]; isMore; step += 1) {
        const bad = await layoutFaults(page);
        const isLast = (await stepsLeft(page)) === 0;
        if (isLast || hasFocus)
          bad.push(...(await accessibilityFaults(page, { part: 'section.present', runOnly })));
        found.push(...bad.map((fault) => `${colorScheme}, ${id}, step ${step}: ${fault}`));
        isMore = !isLast;
        if (isMore) await page.keyboard.press('ArrowRight');
      }
    }
    await close();
    return [...found, ...faults];
  }

  test('on paper, too, every slide ends above its footer', async () => {
    const { page, faults, close } = await open(`${deck.url}print`, {}, 'svg.xray');
    const found = await page.evaluate(() =>
      [...document.querySelectorAll('section:has(> .slide)')].flatMap((section) => {
        const slide = section.querySelector('.slide');
        const heading = slide.querySelector('h1').textContent;
        const { top } = section.querySelector('footer').getBoundingClientRect();
        const { right } = section.getBoundingClientRect();
        return [...slide.querySelectorAll('h1, p, li, td, th, pre, blockquote, svg')]
          .map((one) => ({ one, box: one.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.bottom > top + 1 || box.right > right + 1))
          .map(({ one }) => `${heading}: ${one.tagName} "${one.textContent.trim().slice(0, 40)}"`);
      }),
    );
    assert.deepEqual([...found, ...faults], []);
    await close();
  });

  test('every text of every diagram is within the drawing, and in its box, and no two meet', async () => {
    const { page, faults, close } = await open(deck.url);
    assert.ok(diagramSlides.length > 0);
    for (const { id } of diagramSlides) {
      await goTo(page, id);
      await showSteps(page);
      const found = await diagramTexts(page);
      assert.ok(found.texts > 0, id);
      faults.push(...found.faults.map((fault) => `${id}: ${fault}`));
    }
    assert.deepEqual(faults, []);
    await close();
  });

  test('every recording: its words find room, its bars are parts of the whole, exited processes are drawn as such', async () => {
    const { page, faults, close } = await open(deck.url);
    for (const slide of demoSlides.filter((one) => !isSpot(one))) {
      const { id, demos } = slide;
      await goTo(page, id);
      const messages = recordingOf(id, demos[0]);
      const found = await lastFrame(page, messages);
      assert.deepEqual([...found.faults, ...(await layoutFaults(page))], [], demos[0]);
      assert.ok(found.words > 3, demos[0]);
      const rows = rowsOf(storyOf(messages));
      assert.equal(found.lanes, rows.length, demos[0]);
      const names = rows.map(({ name }) => name);
      const drawn = found.named.filter((name) => names.includes(name));
      assert.deepEqual(drawn.sort(), names.sort(), `${demos[0]}: each lane has its name`);
      const originMs = messages.findLast(({ origin }) => origin !== undefined).origin;
      const ended = [...storyOf(messages).processes.values()].filter(
        ({ diedMs = 0 }) => diedMs >= originMs,
      );
      if (found.panels === 0) assert.equal(found.graves, ended.length, demos[0]);
      for (const { name, most, rows: bars } of lastCharts(messages))
        for (const { name: row, value } of bars) {
          const share = found.bars[`${name} ${row}`];
          assert.ok(Math.abs(share - value / most) < 0.02, `${demos[0]}, ${row}: ${share}`);
        }
    }
    assert.deepEqual(faults, []);
    await close();
  });

  test('the longest warning wraps below an X-ray, and lies over nothing', async () => {
    const { page, faults, close } = await open(deck.url);
    for (const slide of demoSlides.filter((one) => !isSpot(one))) {
      await goTo(page, slide.id);
      await lastFrame(page, [...recordingOf(slide.id, slide.demos[0]), { doubt: LONGEST_WARNING }]);
      const under = await page.evaluate(async () => {
        const [stage] = document.querySelectorAll('section.present .stage');
        for (const hidden of stage.querySelectorAll('.transport [hidden]'))
          hidden.removeAttribute('hidden'); // as after a run
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        const [drawing, ...below] = ['svg.xray', '.numbers', '.transport'].map((part) =>
          stage.querySelector(part).getBoundingClientRect(),
        );
        return below.map(({ top, height }) => (height > 0 ? drawing.bottom - top : 0));
      });
      assert.ok(Math.max(...under) <= 1, `${slide.id}: ${under}`);
      faults.push(...(await layoutFaults(page)).map((fault) => `${slide.id}: ${fault}`));
    }
    assert.deepEqual(faults, []);
    await close();
  });

  test('R plays the recording, which can be held and moved through; a demo that is stopped says so', async () => {
    const { page, faults, close } = await open(deck.url);
    const { id, demos } = demoSlides[0];
    const messages = recordingOf(id, demos[0]);
    const long = messages.with(-1, { ...messages.at(-1), at: LONG_MS }); // it doesn't end by itself during the test
    await page.route('**/recordings/*.json', (route) => route.fulfill({ json: long }));
    await page.route('**/demos/*', () => {}); // neither does the demo
    await goTo(page, id);
    const part = (/** @type {string} */ name) => page.locator(`section.present ${name}`);
    await part('svg.xray .empty').first().waitFor(); // the lanes are drawn
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
    const { page, faults, close } = await open(deck.url);
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
    if (isSpot({ demos })) assert.ok(told.startsWith(await verdictOf(id, demos[0])), told);
    else
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
      const slide = demoSlides[count % demoSlides.length];
      const { id } = slide;
      const before = familiesOf(process.pid).length;
      const { page, close } = await open(deck.url);
      await goTo(page, id);
      await page.locator('section.present .run').click();
      if (isSpot(slide))
        await until('it is judged', () => familiesOf(process.pid).length > before + 1);
      else
        await page.waitForFunction(
          () => document.querySelectorAll('section.present .xray .alive').length > 0,
        );
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
    await page.locator('section.present .run').click();
    await page.waitForFunction(
      () => document.querySelector('section.present .run')?.textContent === 'Run again',
      undefined,
      { timeout: limitMs(20) },
    );
    assert.match(
      await page.locator('section.present .badge').innerText(),
      /^recorded: \d+ cores .*, Node \d+.*, \d{4}-/,
    );
    assert.deepEqual(await tableOf(page), drawnFrom(recordingOf(id, demos[0])));
  }

  for (const hasNotes of [false, true])
    test(`the PDF ${hasNotes ? 'with' : 'without'} notes has a page for each slide, with its text and its demo`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'deck-pdf-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'deck.pdf');
      const pages = await exportPdf({ root: rootFolder, file, hasNotes, env: process.env });
      assert.equal(pages, slides.length);
      const texts = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8' })
        .split('\f')
        .slice(0, -1);
      assert.equal(texts.length, slides.length);
      for (const [index, { id, heading, html, notes, demos }] of slides.entries()) {
        const words = squeeze(texts[index]);
        assert.ok(
          words.includes(squeeze(plainText(heading).replaceAll('`', ''))),
          `${id}: its heading`,
        );
        for (const line of codeLines(html))
          assert.ok(words.includes(squeeze(line)), `${id}: ${line}`);
        if (demos.length > 0) assert.match(texts[index], /recorded: \d+ cores/, `${id}: its demo`);
        const said = squeeze(plainText(notes)).slice(0, 12);
        assert.equal(words.includes(said), hasNotes, `${id}: its notes`);
      }
    });

  for (const [name, write, perPage, isOnIt] of /** @type {const} */ ([
    ['script', exportScript, 2, () => true],
    [
      'handout',
      exportHandout,
      3,
      (/** @type {Slide} */ { isAnswer, isSolution }) => !isAnswer && !isSolution,
    ],
  ]))
    test(`the ${name} of a plan is on A4, ${perPage} slides a page, with a bookmark for each chapter`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'paper-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'paper.pdf');
      const pages = await write({ root: rootFolder, plan: 'half', file, env: process.env });
      const chapters = readDeck(rootFolder, 'half');
      const pairs = chapters.flatMap((chapter) =>
        chapter.pages
          .filter((slide) => !slide.isOpener && isOnIt(slide))
          .flatMap((slide, index, all) =>
            index % perPage ? [] : [all.slice(index, index + perPage)],
          ),
      );
      assert.equal(pages, pairs.length);
      const about = execFileSync('pdfinfo', [file], { encoding: 'utf8' });
      assert.match(about, /Tagged: +yes[^]*\(A4\)/);
      const texts = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8' }).split(
        '\f',
      );
      assert.equal(texts.length - 1, pages, 'no slide spills onto another page');
      for (const [index, pair] of pairs.entries())
        for (const { id, heading, notes } of pair) {
          const words = squeeze(texts[index]);
          assert.ok(words.includes(squeeze(plainText(heading).replaceAll('`', ''))), id);
          assert.equal(
            words.includes(squeeze(plainText(notes)).slice(0, 60)),
            name === 'script',
            `${id}: its notes`,
          );
        }
      const bookmarks = readFileSync(file, 'latin1');
      for (const { key, title } of chapters)
        assert.ok(bookmarks.includes(`/Title (${title})`), `${key} has no bookmark`);
    });
});

/** In the page: keeps everything that the server sends to a demo. */
function overhear() {
  const { fetch } = window;
  window.fetch = async (...args) => {
    const response = await fetch(...args);
    if (!String(args[0]).startsWith('/demos/')) return response;
    const [one, two] = response.body.tee();
    const told = new Response(two).text();
    told.catch(() => {}); // it was stopped
    Object.assign(window, { told });
    return new Response(one, response);
  };
}

/**
 * Draws a recording on the current slide, and examines the last frame.
 * @param {Page} page @param {any[]} messages
 */
const lastFrame = (page, messages) =>
  page.evaluate(async ([told, place]) => {
    const { createScene, furnish } = /** @type {any} */ (await import(place));
    const figure = /** @type {HTMLElement} */ (document.querySelector('section.present .demo'));
    figure.querySelector('.stage')?.replaceChildren();
    const scene = createScene(furnish(figure));
    for (const message of told) scene.take(message);
    scene.finish();
    const svg = /** @type {SVGSVGElement} */ (figure.querySelector('svg.xray'));
    const { width, height } = svg.viewBox.baseVal;
    const texts = [...svg.querySelectorAll('text')].map((text) => ({
      words: text.textContent,
      box: text.getBBox(),
      size: parseFloat(getComputedStyle(text).fontSize),
    }));
    const faults = [];
    for (const [index, { words, box, size }] of texts.entries()) {
      const isCut =
        box.x < 0 || box.y < -1 || box.x + box.width > width || box.y + box.height > height + 1;
      if (isCut) faults.push(`cut: ${words}`);
      if (size < 24) faults.push(`${size} px: ${words}`);
      for (const other of texts.slice(index + 1)) {
        const meet =
          Math.min(box.x + box.width, other.box.x + other.box.width) - Math.max(box.x, other.box.x);
        const high =
          Math.min(box.y + box.height, other.box.y + other.box.height) -
          Math.max(box.y, other.box.y);
        if (meet > 0.5 && high > 0.5) faults.push(`${words} on ${other.words}`);
      }
    }
    /** @type {Record<string, number>} */
    const bars = {};
    for (const chart of figure.querySelectorAll('.chart'))
      for (const row of chart.querySelectorAll('tr')) {
        const [bar, length] = [row.querySelector('.bar'), row.querySelector('.bar i')];
        bars[
          `${/** @type {HTMLElement} */ (chart).dataset.name} ${row.querySelector('th')?.textContent}`
        ] = /** @type {any} */ (length).offsetWidth / /** @type {any} */ (bar).clientWidth;
      }
    const count = (/** @type {string} */ selector) => svg.querySelectorAll(selector).length;
    const graves = count('.work .grave');
    const named = [...svg.querySelectorAll('text.lane')].map(
      ({ textContent }) => textContent ?? '',
    );
    const lanes = count('.lanes .alive');
    return { faults, words: texts.length, named, bars, graves, lanes, panels: count('.bracket') };
  }, /** @type {[any[], string]} */ ([messages, '/deck/client/scene.js']));

/** The last value of each bar that is part of a whole. @param {any[]} messages */
const lastCharts = (messages) => [
  ...new Map(
    messages.flatMap(({ chart }) =>
      chart?.most && chart.t === undefined ? [[chart.name, chart]] : [],
    ),
  ).values(),
];

/** @param {any[]} messages */
function storyOf(messages) {
  const story = createStory();
  for (const message of messages) tell(story, message);
  return story;
}

/** The data table of the demo that is shown. @param {Page} page */
const tableOf = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('section.present details tr')]
      .slice(1)
      .map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );

/** The same from the events, counted here by other means than the page's. @param {any[]} messages */
function drawnFrom(messages) {
  const story = storyOf(messages);
  const events = messages
    .flatMap((message) => message.events ?? [])
    .filter(({ tid }) => tid === undefined);
  return rowsOf(story).map(({ name, pid, end, answered }) => {
    const count = (/** @type {string} */ what) =>
      events.filter((event) => event.pid === pid && event.what === what).length;
    return [
      name,
      String(pid),
      String(count('connection')),
      String(count('request')),
      String(answered),
      end,
    ];
  });
}

/** @param {string} id  of a slide @param {string} name @returns {any[]} */
const recordingOf = (id, name) =>
  JSON.parse(
    readFileSync(join(rootFolder, 'slides', keyOf(id), 'recordings', `${name}.json`), 'utf8'),
  );

/** The lesson of a slide. */
const keyOf = (/** @type {string} */ id) => id.replace(/-\d+$/, '');

/** Does this slide show another author's change, to be judged? Then it draws nothing. */
const isSpot = (/** @type {{ demos: string[] }} */ { demos: [name] }) => name.startsWith('spot-');

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

const squeeze = (/** @type {string} */ text) => text.replace(/\s+/g, '');

/** @param {string} html */
const codeLines = (html) =>
  [...html.matchAll(/<span class="line">([^\n]*)<\/span>/g)]
    .map(([, line]) => plainText(line))
    .filter((line) => line.trim());
