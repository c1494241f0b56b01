// Verifies how the deck looks in a real Chromium: every slide and step, light and dark, on paper; diagrams; recordings.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rowsOf } from '../../lib/web/client/xray-story.js';
import {
  COLOURS,
  accessibilityFaults,
  diagramTexts,
  goTo,
  layoutFaults,
  showSteps,
  skip,
  stepsLeft,
} from './browser.js';
import { SIZE, demoSlides, isSpot, recordingOf, slides, storyOf, useDeck } from './deck-page.js';

const WIDER = { width: 1920, height: 1080 };
const MOST_BYTES = 900_000; // of the first view
const LONGEST_WARNING = 'This machine is very busy: run it again, or play the recording.';
const diagramSlides = slides.filter(({ html }) => html.includes('<svg class="diagram"'));

/** @typedef {import('playwright-core').Page} Page */

describe('how the deck looks', { skip }, () => {
  const { open, urlOf } = useDeck();

  test('every slide and step is accessible and fits, on a small wall in light, on a large one in dark', async () => {
    const found = await Promise.all([lookAtAll('light'), lookAtAll('dark')]);
    assert.deepEqual(found.flat(), []);
  });

  test('the first view, with its fonts, is small', async () => {
    const { page, faults, close } = await open('about:blank', {}, 'html');
    /** @type {Promise<number>[]} */
    const bytes = [];
    const count = (/** @type {import('playwright-core').Response} */ response) => {
      const isStream = /event-stream/.test(response.headers()['content-type']); // it has no end
      if (!isStream) bytes.push(response.body().then(({ length }) => length));
    };
    page.on('response', count);
    await page.goto(urlOf());
    await page.waitForSelector('.reveal.ready');
    const code = slides.find(({ html }) => html.includes('<pre'));
    await goTo(page, code?.id ?? '');
    const families = await page.evaluate(async () => {
      const loaded = [...(await document.fonts.ready)].filter(({ status }) => status === 'loaded');
      return loaded.map(({ family }) => family.replaceAll('"', ''));
    });
    assert.deepEqual(families.sort(), ['Inter', 'JetBrains Mono']);
    page.off('response', count); // a body that is still to come is cut off with the page
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
    const { page, faults, close } = await open(urlOf(), {
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
        const bad = [...(await layoutFaults(page)), ...(await numberFaults(page))];
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
    const { page, faults, close } = await open(urlOf('print'), {}, 'svg.xray');
    const found = await page.evaluate(() =>
      [...document.querySelectorAll('section:has(> .slide)')].flatMap((section) => {
        const slide = section.querySelector('.slide');
        const heading = slide.querySelector('h1').textContent;
        const { top } = section.querySelector('footer').getBoundingClientRect();
        const { right } = section.getBoundingClientRect();
        return [...slide.querySelectorAll('h1, p, li, td, th, pre, blockquote, svg:not(.picture)')]
          .map((one) => ({ one, box: one.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.bottom > top + 1 || box.right > right + 1))
          .map(({ one }) => `${heading}: ${one.tagName} "${one.textContent.trim().slice(0, 40)}"`);
      }),
    );
    assert.deepEqual([...found, ...faults], []);
    await close();
  });

  for (const sheets of ['script', 'handout'])
    test(`on the ${sheets} no slide is cut off by its frame`, async () => {
      const { page, faults, close } = await open(urlOf(sheets), {}, '.frame');
      const found = await page.evaluate(() =>
        [...document.querySelectorAll('.frame')].flatMap((frame) => {
          const { bottom } = frame.getBoundingClientRect();
          const isCut = [...frame.querySelectorAll('.slide > *')].some(
            (part) => part.getBoundingClientRect().bottom > bottom,
          );
          return isCut ? [frame.querySelector('h1').textContent] : [];
        }),
      );
      assert.deepEqual([...found, ...faults], []);
      await close();
    });

  test('every text of every diagram is within the drawing, and in its box, and no two meet', async () => {
    const { page, faults, close } = await open();
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
    const { page, faults, close } = await open();
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
    const { page, faults, close } = await open();
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
});

/** A measured slide has one number, at 140 px whatever its diagram has come to, and its interval below. @param {Page} page */
const numberFaults = (page) =>
  page.evaluate(() => {
    const slide = document.querySelector('section.present .slide');
    const isMeasured = slide.classList.contains('measured');
    const numbers = [...slide.querySelectorAll('.headline > strong')];
    if (numbers.length !== (isMeasured ? 1 : 0)) return [`${numbers.length} large numbers`];
    return numbers.flatMap((number) => {
      const size = getComputedStyle(number).fontSize;
      const gap =
        number.nextElementSibling.getBoundingClientRect().top -
        number.getBoundingClientRect().bottom;
      const isBelow = gap >= 0 ? [] : ['the interval is not below its number'];
      return size === '140px' ? isBelow : [`the number has ${size}`, ...isBelow];
    });
  });

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
