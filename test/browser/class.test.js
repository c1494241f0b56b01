// Verifies in a real Chromium the traffic between a class and the wall: an open vote on the learner's own page, one tap, its
// count on the wall and in the speaker's window at once; what the speaker types; how many have a task.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { joinBoard } from '../../lib/board/join-board.js';
import { serveBoard } from '../../lib/board/serve.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { serveDeck } from '../../lib/deck/serve.js';
import { serveLearner } from '../../lib/learner/serve.js';
import { accessibilityFaults, goTo, openBrowser, skip, watchFaults } from './browser.js';
import { limitMs } from '../limits.js';

const lessons = listLessons(rootFolder);
const [, , third] = lessons;
const chapters = readDeck(rootFolder);
const { slides } = chapters[3]; // of lesson 3
const found = (/** @type {RegExp} */ html, all = slides) => {
  const slide = all.find((one) => html.test(one.html));
  assert.ok(slide, String(html));
  return slide;
};
const [vote, answer] = [found(/data-ballot="vote"/), found(/data-ballot="answer"/)];
const spot = found(
  /class="options"/,
  chapters.flatMap((chapter) => chapter.slides),
);
const turn = slides.find(({ heading }) => heading.includes('round one')) ?? slides[0];

/** @typedef {import('playwright-core').Page} Page */

/** A learner whose page is only shown. @returns {import('../../lib/learner/serve.js').Learner} */
function learnerWith(/** @type {import('../../lib/learner/serve.js').Learner['hand']} */ hand) {
  const shownHints = () => ({ name: 'Task 1', shown: [], of: 3 });
  return /** @type {any} */ ({
    ...{
      hand,
      shownHints,
      showHint: shownHints,
      check() {},
      predict() {},
      earlierVerdicts: () => ({}),
      lastVerdict() {},
    },
    progress: () => ({ current: third.key, passed: {}, predictions: {}, measured: [] }),
    followVerdicts: () => ({ close() {} }),
  });
}

describe('a class that votes, in Chromium', { skip }, () => {
  /** @type {import('playwright-core').Browser} */
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  /** A board, the deck, and a learner who has joined, each with its page, and more learners who have joined. @param {import('node:test').TestContext} t */
  async function open(t) {
    const board = await serveBoard({ root: rootFolder, lessons, awayMs: 1e9 });
    t.after(board.close);
    const deck = await serveDeck({ root: rootFolder, board });
    t.after(deck.close);
    const join = (/** @type {string} */ name, onChange = () => {}) =>
      joinBoard({
        ...{ url: board.url, code: board.code, name, onChange, say: () => {} },
        ...{ beatMs: 200, waitMs: limitMs(15) },
        report: { lesson: third.key, state: 'reading', failed: [], kept: [], hand: false },
      });
    const ada = join('Ada', () => own.refresh());
    const others = [join('Bob'), join('Eve')];
    const learner = await serveLearner({
      ...{ root: rootFolder, lessons },
      learner: learnerWith({
        snapshot: () => ({ isUp: false, isHeard: true, ballot: ada.ballot() }),
        ...{ set: () => {}, vote: (choice) => ada.vote(choice) },
      }),
    });
    const own = learner;
    t.after(() => Promise.all([...[ada, ...others].map((line) => line.close()), learner.close()]));
    const options = {
      viewport: { width: 1280, height: 720 },
      reducedMotion: /** @type {const} */ ('reduce'),
    };
    const context = await browser.newContext(options);
    t.after(() => context.close());
    context.setDefaultTimeout(limitMs(10));
    const pages = [await context.newPage(), await context.newPage(), await context.newPage()];
    const [wall, speaker, page] = pages;
    const faults = pages.flatMap((one, index) => [
      watchFaults(one, index < 2 ? deck.url : learner.url),
    ]);
    await wall.goto(deck.url);
    await wall.waitForSelector('.reveal.ready');
    await speaker.goto(`${deck.url}speaker`);
    await speaker.waitForSelector('#alone', { state: 'hidden' });
    await page.goto(learner.url);
    const isWell = () => assert.deepEqual(faults.flat(), []);
    return { board, ada, others, wall, speaker, page, isWell };
  }

  /** @param {Page} page @param {string} selector @param {string[]} texts */
  const shows = (page, selector, texts) =>
    page.waitForFunction(
      ([where, wanted]) =>
        [...document.querySelectorAll(where)].map((one) => one.textContent).join() === wanted,
      [selector, texts.join()],
    );

  test('a vote opens with its slide; a tap is counted at once, on the wall and in the speaker’s window', async (t) => {
    const { board, others, wall, speaker, page, isWell } = await open(t);
    const ballot = page.locator('#ballot');
    assert.equal(await ballot.isVisible(), false);
    await goTo(wall, vote.id);
    await shows(page, '#ballot h2', [`Vote: ${vote.heading}`]);
    assert.equal(
      await ballot.locator('fieldset').count(),
      1,
      'only the question that is on the wall',
    );
    await speaker.bringToFront();
    await speaker.keyboard.press('PageDown');
    await ballot.locator('fieldset').nth(1).waitFor();
    assert.match(
      await ballot.locator('legend').first().innerText(),
      /^none The busiest of four gets/,
    );
    assert.deepEqual(await accessibilityFaults(page), []);
    const button = (/** @type {number} */ question, /** @type {number} */ option) =>
      ballot.locator('fieldset').nth(question).locator('button').nth(option);
    const hands = 'section.present .hands';
    await button(0, 1).click();
    await shows(wall, hands, ['0', '1', '0']);
    await ballot.locator('[aria-pressed=true]').waitFor();
    await button(0, 2).click();
    await shows(wall, hands, ['0', '0', '1']);
    const name = vote.id.replace(/-\d+$/, '');
    for (const line of others)
      assert.equal(await line.vote({ name, question: 0, option: 0 }), undefined);
    await shows(wall, hands, ['2', '0', '1']);
    const field = speaker.locator('#boxes input');
    assert.equal(await field.nth(0).getAttribute('placeholder'), '2');
    await field.nth(0).fill('5');
    await shows(wall, hands, ['5', '0', '1']);
    await button(1, 0).click();
    await shows(wall, hands, ['5', '0', '1', '1', '0', '0']);
    await field.nth(0).fill('');
    await shows(wall, hands, ['2', '0', '1', '1', '0', '0']);
    await button(1, 0).click(); // takes it back
    await shows(wall, hands, ['2', '0', '1']);
    await goTo(wall, answer.id);
    await ballot.waitFor({ state: 'hidden' });
    await shows(wall, hands, ['2', '0', '1']);
    assert.equal(await others[0].vote({ name, question: 0, option: 1 }), 'This vote is over.');
    await speaker.reload();
    await speaker.waitForSelector('#alone', { state: 'hidden' });
    await shows(wall, hands, ['2', '0', '1']);
    assert.deepEqual(board.told().votes[name].slice(0, 3), [2, 0, 1]);
    isWell();
  });

  test('a spot slide keeps its vote and its fields until it is judged', async (t) => {
    const { wall, speaker, page, isWell } = await open(t);
    await goTo(wall, spot.id);
    const option = page.locator('#ballot button');
    await option.nth(1).click();
    await shows(wall, 'section.present .options .hands', ['0', '1', '0']);
    assert.equal(await speaker.locator('#boxes input').count(), await option.count());
    await speaker.locator('#boxes input').nth(2).fill('4');
    await shows(wall, 'section.present .options .hands', ['0', '1', '4']);
    assert.deepEqual(await accessibilityFaults(wall, { part: 'section.present' }), []);
    await wall.keyboard.press('r'); // its recording shows the answer
    await page.locator('#ballot').waitFor({ state: 'hidden' });
    await shows(wall, 'section.present .options .hands', ['0', '1', '4']);
    isWell();
  });

  test('an exercise shows how many learners have each task', async (t) => {
    const { ada, others, wall, isWell } = await open(t);
    await goTo(wall, turn.id);
    const words = 'section.present .have';
    await shows(wall, words, ['0 of 3 have task 1']);
    const { default: check } = await import(`../../checks/${third.key}/check.js`);
    const kept = Object.keys(check.taskOf).filter((id) => check.taskOf[id] === 1);
    ada.update({ state: 'failed', kept });
    others[0].update({ state: 'failed', kept: kept.slice(1), failed: kept.slice(0, 1) });
    await shows(wall, words, ['1 of 3 have task 1']);
    await others[1].close();
    await shows(wall, words, ['1 of 2 have task 1']);
    assert.deepEqual(await accessibilityFaults(wall, { part: 'section.present' }), []);
    isWell();
  });
});
