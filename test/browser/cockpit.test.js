// Verifies the speaker's window in a real Chromium: one screen; the current and the next slide; the keys of a clicker,
// wherever the speaker has clicked; the plan, which survives a reload; the demo, the hands and the countdown on the wall.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { planDays } from '../../lib/deck/plans.js';
import {
  OFTEN,
  accessibilityFaults,
  cockpitFaults,
  currentSlide,
  goTo,
  showSteps,
  skip,
  watchFaults,
} from './browser.js';
import { useDeck } from './deck-page.js';

const SIZES = [
  { width: 1280, height: 720 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
];
const chapters = readDeck(rootFolder);
const slides = chapters.flatMap((chapter) => chapter.slides);
const isVote = (/** @type {{ html: string }} */ { html }) => html.includes('data-ballot="vote"');
const isAnswer = (/** @type {{ html: string }} */ { html }) =>
  html.includes('data-ballot="answer"');
const { slides: lesson } = chapters[5];
const vote = found(lesson.find(isVote));
const answer = found(lesson.find(isAnswer));
const turn = found(lesson.find(({ heading }) => heading.startsWith('Your turn')));
const demo = found(slides.find(({ demos }) => demos.length > 0));
const stepwise = found(slides.find(({ html }) => html.includes('class="fragment focus"')));

/** @typedef {import('playwright-core').Page} Page */

/** @template Value @param {Value | undefined} value @returns {Value} */
function found(value) {
  assert.ok(value, 'The deck has no such slide.');
  return value;
}

describe("the speaker's window in Chromium", { skip }, () => {
  const { newContext, urlOf } = useDeck();

  /** The wall and the speaker's window in one browser. @param {{ query?: string, time?: string }} [options] */
  async function open({ query = '', time } = {}) {
    const context = await newContext({ timezoneId: 'UTC' });
    const [wall, speaker] = [await context.newPage(), await context.newPage()];
    const faults = [wall, speaker].map((page) => watchFaults(page, urlOf()));
    const setTime = async (/** @type {string} */ text) => {
      for (const page of [wall, speaker]) await page.clock.setFixedTime(`2026-11-20T${text}Z`);
    };
    if (time) await setTime(time);
    await wall.goto(urlOf(query));
    await wall.waitForSelector('.reveal.ready');
    await speaker.goto(urlOf(`speaker${query}`));
    await speaker.waitForSelector('#alone', { state: 'hidden' });
    const close = async () => {
      assert.deepEqual(faults.flat(), []);
      await context.close();
    };
    return { wall, speaker, setTime, close };
  }

  /** The speaker's window shows what is on the wall. @param {Page} speaker @param {{ id: string }} slide */
  const hears = (speaker, { id }) =>
    speaker.waitForFunction(
      (wanted) => document.getElementById('now')?.dataset.shows?.split(' ')[0] === wanted,
      id,
    );

  test('is one screen in which only the notes scroll, and they begin at the top', async () => {
    const { wall, speaker, close } = await open({ query: '?plan=day-1' });
    const bad = [];
    for (const slide of [vote, demo, turn, stepwise]) {
      await goTo(wall, slide.id);
      await hears(speaker, slide);
      await speaker.click('#black'); // the longest words about a slide
      await speaker.locator('#place', { hasText: 'The wall is black.' }).waitFor();
      for (const size of SIZES) {
        await speaker.setViewportSize(size);
        const faults = await cockpitFaults(speaker);
        bad.push(...faults.map((fault) => `${slide.id}, ${size.width}: ${fault}`));
      }
      await speaker.setViewportSize({ width: 1280, height: 480 }); // too low: the notes must scroll
      await speaker.evaluate(() => document.getElementById('talk')?.scrollTo(0, 30));
      await speaker.click('#black');
    }
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      await speaker.setViewportSize(SIZES[0]);
      await speaker.emulateMedia({ colorScheme });
      bad.push(...(await accessibilityFaults(speaker)));
    }
    assert.deepEqual(bad, []);
    await close();
  });

  test("shows a demo's obstacles on the first slide and on the demo's own", async () => {
    const { wall, speaker, close } = await open();
    const preflight = {
      ...{ obstacles: { [demo.demos[0]]: 'nginx is not installed.' }, unprepared: {} },
      ...{ busy: 'This machine is busy.', lines: ['Demos: 16 of 17 can be performed here.'] },
    };
    await speaker.route('**/preflight', (route) => route.fulfill({ json: preflight }));
    await goTo(wall, demo.id);
    await hears(speaker, demo);
    const box = speaker.locator('#talk .preflight');
    await box.getByText('nginx is not installed.').waitFor();
    assert.match(await box.innerText(), /This machine is busy\./);
    assert.deepEqual(await accessibilityFaults(speaker), []);
    await goTo(wall, turn.id);
    await hears(speaker, turn);
    assert.equal(await box.count(), 0);
    await goTo(wall, slides[0].id);
    await box.getByText('Demos: 16 of 17 can be performed here.').waitFor();
    await close();
  });

  test('shows the slide with its step, the next step and the next slide; starts nothing by itself', async () => {
    const { wall, speaker, close } = await open();
    /** @type {string[]} */
    const started = [];
    for (const page of [wall, speaker])
      page.on('request', (request) => request.method() === 'POST' && started.push(request.url()));
    await goTo(wall, stepwise.id);
    await hears(speaker, stepwise);
    await speaker.bringToFront();
    await speaker.keyboard.press('PageDown');
    await speaker.locator('#place', { hasText: 'step 1 of' }).waitFor();
    const lines = (/** @type {string} */ view) =>
      speaker.locator(`${view} .line.here`).allInnerTexts();
    const onWall = await wall.locator('section.present .line.here').allInnerTexts();
    assert.ok(onWall.length > 0);
    assert.deepEqual(await lines('#now'), onWall);
    assert.notDeepEqual(await lines('#step'), onWall);
    const following = slides[slides.indexOf(stepwise) + 1];
    assert.equal(await speaker.locator('#next h1').innerText(), plain(following.heading));
    assert.equal(await speaker.locator('.view button').count(), 0);
    assert.ok((await speaker.locator('#talk').innerText()).length > 40);
    await speaker.click('#back');
    await speaker.locator('#place', { hasText: 'step 0 of' }).waitFor();
    await wall.close();
    await speaker.waitForSelector('#alone');
    assert.deepEqual(started, []);
    await close();
  });

  test('the keys of a clicker act on both windows after a click on Run, on Stop, on any button, in any field', async () => {
    const { wall, speaker, close } = await open();
    const at = slides.indexOf(demo);
    const [previous, next] = [slides[at - 1], slides[at + 1]];
    const shows = (/** @type {{ id: string }} */ { id }) =>
      wall.waitForFunction(
        (one) => document.querySelector('section.present')?.id === one,
        id,
        OFTEN,
      );
    const turns = async (/** @type {Page} */ where, /** @type {string} */ key, wanted) => {
      await where.keyboard.press(key);
      await shows(wanted);
    };
    for (const key of ['ArrowRight', 'PageDown', 'Space']) {
      await goTo(wall, demo.id);
      await wall.bringToFront();
      await wall.locator('section.present .run').click(); // Run
      if (key === 'PageDown') await wall.locator('section.present .run').click(); // Stop
      await turns(wall, key, next);
    }
    await goTo(wall, demo.id);
    await wall.locator('section.present .run').click();
    for (const where of [wall, speaker])
      for (const [key, back, has] of [
        ['b', 'b', '.reveal.paused'],
        ['.', '.', '.reveal.paused'],
        ['o', 'Escape', '.reveal.overview'],
      ]) {
        await where.bringToFront();
        await where.keyboard.press(key);
        await wall.waitForSelector(has, { state: 'attached' });
        await where.keyboard.press(back);
        await wall.waitForFunction((one) => !document.querySelector(one), has, OFTEN);
      }
    await speaker.bringToFront();
    const names = await speaker
      .locator('button:visible')
      .evaluateAll((all) =>
        all.map(({ id }) => id).filter((id) => id && !/^(find|black|overview)$/.test(id)),
      );
    assert.ok(names.includes('on-time') === false && names.includes('pause') && names.length > 7);
    for (const [index, name] of names.entries()) {
      await speaker.click(`#${name}`);
      await goTo(wall, previous.id);
      await showSteps(wall);
      await turns(speaker, ['ArrowRight', 'PageDown', 'Space'][index % 3], demo);
    }
    for (const field of ['#minutes', '#start', '#plan'])
      for (const key of ['ArrowLeft', 'PageUp']) {
        await goTo(wall, next.id);
        await hears(speaker, next);
        await speaker.focus(field);
        await turns(speaker, key, demo);
      }
    await speaker.click('#find');
    await turns(speaker, 'PageUp', previous);
    await speaker.keyboard.type(String(at + 2));
    await speaker.keyboard.press('Enter');
    await shows(next);
    assert.equal(await speaker.evaluate(() => document.documentElement.scrollTop), 0);
    await close();
  });

  test('keeps its plan, its clock and its pace through a reload', async () => {
    const query = '?plan=half&start=09:30';
    const { wall, speaker, setTime, close } = await open({ time: '10:00:00', query });
    const half = found(planDays(chapters).find(({ name }) => name === 'half'));
    const told = async () =>
      Promise.all(['#clock', '#pace', '#finish'].map((name) => speaker.locator(name).innerText()));
    const end = (/** @type {number} */ minutes) =>
      new RegExp(`, end ${clockAt(9 * 60 + 30 + minutes)}$`);
    const [first] = half.items;
    const late = 30 - first.minutes;
    let [elapsed, pace, finish] = await told();
    assert.deepEqual([elapsed, pace], ['30:00', `${late} min behind`]);
    assert.match(finish, end(half.minutes + late));
    await speaker.click('#on-time');
    await setTime('10:05:00');
    await speaker.reload();
    await speaker.locator('#clock', { hasText: '35:00' }).waitFor();
    [elapsed, pace, finish] = await told();
    assert.equal(pace, `${5 - first.minutes} min behind`);
    await speaker.click('#pause');
    await setTime('10:25:00');
    await speaker.reload();
    await speaker.locator('#pause', { hasText: 'Go on' }).waitFor();
    assert.equal((await told())[0], '35:00');
    await speaker.click('#reset');
    [elapsed, pace, finish] = await told();
    assert.deepEqual([elapsed, pace], ['0:00', 'on time']);
    assert.match(finish, new RegExp(`, end ${clockAt(10 * 60 + 25 + half.minutes)}$`));
    const last = found(chapters[2].slides.at(-1)); // of lesson 2; the next is lesson 5
    await goTo(wall, last.id);
    await showSteps(wall);
    await wall.bringToFront();
    await wall.keyboard.press('PageDown');
    await hears(speaker, chapters[5].slides[0]);
    await wall.keyboard.press('PageUp');
    await hears(speaker, last);
    await speaker.selectOption('#plan', 'full');
    for (const page of [wall, speaker]) await page.waitForSelector('body[data-plan=full]');
    await hears(speaker, last); // the slide stays
    await wall.locator('section.present .fragment').first().waitFor({ state: 'attached' });
    await showSteps(wall);
    await wall.bringToFront();
    await wall.keyboard.press('PageDown');
    await hears(speaker, chapters[3].slides[0]);
    await close();
  });

  test('marks the sentence of the step, sets answers apart, and times the slide', async () => {
    const { wall, speaker, setTime, close } = await open({ time: '10:00:00' });
    const told = found(slides.find(({ notes }) => /step" data-step="0"/.test(notes)));
    await goTo(wall, told.id);
    await hears(speaker, told);
    const said = speaker.locator('#talk .step.here');
    await speaker.bringToFront();
    for (const word of ['One: ', 'Two: ']) {
      await said.filter({ hasText: word }).waitFor();
      assert.equal(await said.count(), 1);
      await speaker.keyboard.press('PageDown');
    }
    await setTime('10:01:20');
    const planned = `${told.minutes}:00`;
    await speaker.locator('#slide-time', { hasText: `1:20 of ${planned}` }).waitFor();
    await speaker.reload();
    await speaker.locator('#slide-time', { hasText: `1:20 of ${planned}` }).waitFor();
    const asked = found(slides.find(({ notes }) => notes.includes('class="answer"')));
    await goTo(wall, asked.id);
    await speaker.locator('#talk .answer').first().waitFor();
    assert.match(await speaker.locator('#talk .answer').first().innerText(), /^\(.*\)$/s);
    await speaker.locator('#slide-time', { hasText: '0:00 of' }).waitFor();
    await close();
  });

  test('the notes of every slide can be read to their end, and no text is too small', async () => {
    const { wall, speaker, close } = await open();
    const bad = [];
    for (const slide of slides) {
      await goTo(wall, slide.id);
      await hears(speaker, slide);
      const [over, px] = await speaker.evaluate(() => {
        const { scrollHeight, clientHeight, style } = document.getElementById('talk');
        return [scrollHeight - clientHeight, parseInt(style.fontSize)];
      });
      if (over > 1 || px < 14) bad.push(`${slide.id}: ${over} px are cut off, at ${px} px`);
    }
    assert.deepEqual(bad, []);
    await close();
  });

  test('a clicker runs the demo before it turns its slide; the copy shows what is drawn', async () => {
    const { wall, speaker, close } = await open();
    await goTo(wall, demo.id);
    await hears(speaker, demo);
    assert.equal(await speaker.locator('#now svg.xray').count(), 0);
    await speaker.bringToFront();
    await speaker.keyboard.press('PageDown');
    await speaker
      .locator('#now figure.demo[data-seen] svg.xray rect:not(defs *)')
      .first()
      .waitFor();
    const status = wall.locator('section.present .status');
    await status.filter({ hasNotText: plain(demo.heading) }).waitFor();
    assert.equal(await currentSlide(wall), demo.id);
    assert.deepEqual(
      await speaker.evaluate(() => [...document.querySelectorAll('.view button')]),
      [],
    );
    await speaker.keyboard.press('PageDown');
    await hears(speaker, found(slides[slides.indexOf(demo) + 1]));
    await close();
  });

  test('starts and stops a demo, and reports what it says', async () => {
    const { wall, speaker, close } = await open();
    await goTo(wall, demo.id);
    await hears(speaker, demo);
    await speaker.bringToFront();
    const run = wall.locator('section.present .run');
    const first = await wall.locator('section.present .status').innerText();
    assert.equal(await speaker.locator('#says').innerText(), first);
    const pressed = (/** @type {RegExp} */ hasText) =>
      speaker.locator('#presses button', { hasText });
    await pressed(/^Run/).click();
    await pressed(/^Stop/).click();
    await pressed(/^Run/).waitFor();
    await speaker.keyboard.press('r');
    await pressed(/^Stop/).click();
    await pressed(/^Run/).waitFor();
    assert.match(await wall.locator('section.present .badge').innerText(), /^recorded: /);
    assert.match(await run.innerText(), /^Run/);
    await close();
  });

  test('counted hands appear with the answers, and a countdown while the class works', async () => {
    const { wall, speaker, setTime, close } = await open({ time: '10:00:00' });
    await goTo(wall, vote.id);
    await hears(speaker, vote);
    const fields = speaker.locator('#boxes input');
    const boxes = await fields.count();
    assert.equal(boxes, await wall.locator('section.present rect.box').count());
    await fields.nth(0).fill('7');
    await fields.nth(boxes - 1).fill('12');
    await speaker.reload();
    await goTo(wall, answer.id);
    await hears(speaker, answer);
    const hands = wall.locator('section.present .hands');
    await hands.nth(1).waitFor();
    assert.deepEqual(await hands.allTextContents(), ['7', '12']);
    assert.match(
      String(await wall.locator('section.present svg[data-ballot]').getAttribute('aria-label')),
      /Hands: .* 7, .* 12\.$/,
    );
    const voted = found(lesson.find(({ html }) => html.includes('data-vote="1"')));
    await goTo(wall, voted.id);
    await hears(speaker, voted);
    const said = wall.locator('section.present .said');
    assert.match(await said.innerText(), /^You said: about 30: 7$/);
    const asked = wall.waitForRequest('**/demos/*');
    await wall.locator('section.present .run').click();
    assert.deepEqual((await asked).postDataJSON(), { votes: [{ label: 'about 30', count: 7 }] });
    await wall.locator('section.present .recording').click();
    const time = wall.locator('section.present .time');
    await time.waitFor();
    await time.evaluate((/** @type {HTMLInputElement} */ one) => {
      one.value = one.max;
      one.dispatchEvent(new Event('input'));
    });
    assert.match(await said.innerText(), /^\d+ of 120\s+You said: about 30 \(7 of 7 hands\)$/);
    assert.match(await wall.locator('section.present .status').innerText(), /^Answered: /);
    await goTo(wall, turn.id);
    await hears(speaker, turn);
    assert.equal(await speaker.inputValue('#minutes'), String(turn.minutes));
    await speaker.click('#turn');
    const countdown = wall.locator('section.present .countdown');
    await countdown.getByText(`${turn.minutes}:00`).waitFor();
    await setTime('10:01:05');
    await countdown.getByText(`${turn.minutes - 2}:55`).waitFor();
    await goTo(wall, answer.id);
    await hears(speaker, answer);
    await countdown.getByText(`${turn.minutes - 2}:55`).waitFor();
    await setTime(`10:${turn.minutes + 1}:00`); // a countdown that has run out disappears with its slide
    await wall.waitForFunction(() => !document.querySelector('.countdown:not([hidden])'));
    await goTo(wall, turn.id);
    await countdown.getByText('0:00').waitFor();
    await hears(speaker, turn);
    await setTime('10:01:05');
    await speaker.fill('#minutes', '15');
    await speaker.click('#break');
    await countdown.getByText('We go on at 10:16').waitFor();
    await speaker.keyboard.press('PageDown'); // the next slide ends the break
    await wall.waitForFunction(() => !document.querySelector('.countdown:not([hidden])'));
    assert.notEqual(await currentSlide(wall), turn.id);
    await close();
  });

  test('the countdown of every exercise fills a quarter of its slide, below what the slide says', async () => {
    const { wall, speaker, close } = await open();
    const bad = [];
    for (const slide of slides.filter(({ heading }) => heading.startsWith('Your turn'))) {
      await goTo(wall, slide.id);
      await hears(speaker, slide);
      await speaker.click('#turn');
      await wall.locator('section.present .countdown').waitFor();
      const { share, room } = await wall.evaluate(placeOfCountdown);
      if (share < 0.22 || share > 0.28) bad.push(`${slide.id}: ${share} of the slide`);
      if (room < 10) bad.push(`${slide.id}: ${room} px above the countdown`);
      await speaker.click('#end');
    }
    assert.deepEqual(bad, []);
    await close();
  });
});

/** In the page: the countdown's share of the slide, and the room between it and the words above. */
function placeOfCountdown() {
  const [section, slide, countdown] = ['', ' > .slide', ' > .countdown'].map(
    (part) => /** @type {Element} */ (document.querySelector(`section.present${part}`)),
  );
  const [frame, band] = [section, countdown].map((one) => one.getBoundingClientRect());
  const words = [...slide.querySelectorAll('h1, li, pre, blockquote, p')];
  const lowest = Math.max(...words.map((one) => one.getBoundingClientRect().bottom));
  const share = (band.width * band.height) / (frame.width * frame.height);
  return { share, room: band.top - lowest };
}

const clockAt = (/** @type {number} */ minutes) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

const plain = (/** @type {string} */ text) => text.replaceAll('`', '');
