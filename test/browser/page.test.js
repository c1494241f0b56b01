// Verifies the learner's page in a real Chromium: a verdict as it arrives, without disturbing the learner; each state, light
// and dark, wide and narrow; without JavaScript; a broken connection; and that each mark for a wrong answer matches its
// timeline.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { spawnOurs } from '../../lib/common/child.js';
import { wrongAnswer } from '../../lib/lessons/answer-programs.js';
import { checkFile, loadCheck } from '../../lib/check/definitions.js';
import { listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { UsageError } from '../../lib/common/usage-error.js';
import { serveLearner } from '../../lib/learner/serve.js';
import { COLOURS, accessibilityFaults, openBrowser, skip, watchFaults } from './browser.js';
import { limitMs } from '../limits.js';
import { until } from '../nothing-left.js';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {Awaited<ReturnType<typeof serveLearner>>} Server */

/** @type {[number, number, 'text' | 'verdict'][]} width, height, and the visible tab if there are two */
const SIZES = [
  [1280, 800, 'text'],
  [960, 800, 'verdict'],
  [390, 800, 'verdict'],
  [320, 256, 'text'], // 1280x1024 at 400 %
];
const ZERO_MS = 5_000;
/** @type {['light' | 'dark', number, string[] | undefined][]} */
const LOOKS = [
  ['light', 1280, undefined],
  ['light', 320, undefined],
  ['dark', 1280, COLOURS],
];
const TRIES = 3;
const lessons = listLessons(rootFolder);
const [, lesson] = lessons;
const ids = ['forks-as-told', 'one-port', 'workers-answer'];

/** Four workers where two were asked for, and some requests. */
const events = [
  { t: 0, pid: 100, what: 'start', role: 'primary' },
  ...[1, 2, 3, 4].flatMap((worker) => [
    { t: 50 + worker, pid: 100, what: 'fork', worker, workerPid: 100 + worker },
    { t: 90 + worker, pid: 100 + worker, what: 'start', role: 'worker', worker, ppid: 100 },
    { t: 120 + worker, pid: 100 + worker, what: 'listening', port: 8080 },
    { t: 200 + worker, pid: 100 + worker, what: 'request', client: worker },
    { t: 215 + worker, pid: 100 + worker, what: 'response', client: worker },
  ]),
  { t: 1_900, pid: 104, what: 'exit', code: 1 },
].map((event) => ({ ...event, t: ZERO_MS + event.t }));

const measured = {
  measurements: [
    {
      ...{ name: 'blocking', label: 'blocking work, 4 workers', unit: 'times', isHeadline: true },
      ...{ value: 3.9, low: 3.7, high: 4.1, ceiling: 4 },
    },
    { name: 'cpu', label: 'CPU work', unit: 'times', value: 1.7, low: 1.5, high: 1.9, ceiling: 2 },
    { name: 'odd', label: 'odd work', unit: 'times', value: 1.7, roughness: 'unknown' },
  ],
  charts: [{ name: 'shares', label: 'shares', unit: 'requests', rows: [{ name: 'a', value: 3 }] }],
  ...{ prediction: 2, earlier: [{ value: 1.1, low: 1, high: 1.2 }] },
};

const story = {
  expected: 'two',
  got: 'It forked 4.',
  why: 'Because.',
  try: 'fork();',
  output: 'a',
};

const failedPromise = {
  promise: {
    ...{
      id: ids[0],
      task: 1,
      sentence: 'forks',
      verdict: /** @type {const} */ ('failed'),
      ...story,
    },
    shows: { program: 0, moments: [{ pid: 100, t: ZERO_MS + 54, says: 'one fork' }] },
  },
  programs: [0],
};

/** How to bring the page into each state. @type {Record<string, (server: Server) => Promise<void> | void>} */
const states = {
  'the first visit': () => {},
  'a check in progress': async (server) => {
    await server.begin(lesson, 'server.js');
    server.program({ name: 'NODE_CLUSTER_WORKERS=2 server.js', program: { events } });
    server.promise({ promise: { id: ids[1], sentence: 'one', verdict: 'passed' }, programs: [0] });
  },
  failed: async (server) => {
    await states['a check in progress'](server);
    server.promise(failedPromise);
    server.end({ verdict: 'failed', isWhole: true, seconds: 1.2 });
  },
  undecided: async (server) => {
    await states['a check in progress'](server);
    server.promise({
      promise: { id: ids[2], sentence: 'answer', verdict: 'inconclusive', ...story },
      programs: [0],
    });
    server.end({ verdict: 'inconclusive', isWhole: false, seconds: 1.2 });
  },
  building: async (server) => {
    await states['a check in progress'](server);
    const program = { events, stopped: new Promise(() => {}) };
    server.program({ name: 'nitropack build', doing: 'Nitro is building.', program });
  },
  measuring: async (server) => {
    await server.begin(lesson, 'server.js');
    const { promises } = await loadCheck(checkFile(rootFolder, lesson.key));
    for (const [id, sentence] of Object.entries(promises))
      server.promise({ promise: { id, sentence, verdict: 'passed' }, programs: [] });
  },
  passed: async (server) => {
    await states['a check in progress'](server);
    server.end({ verdict: 'passed', isWhole: true, seconds: 1.2, ...measured });
  },
};

const change = { file: 'server.js', hunks: [{ line: 3, lines: [' a();', '-b();', '+c();'] }] };

/** The page's actions, without the command that serves it; the experiments are real. @returns {import('../../lib/learner/page-actions.js').PageActions} */
function makeReach() {
  let asked = 0;
  return {
    runIfIdle: (_, act) => (void act(new AbortController().signal), true),
    compare: () =>
      (asked += 1) === 1
        ? { reason: 'Not passed yet.' }
        : { files: [{ file: 'server.js', patch: '--- a\n+++ b\n@@ -1 +1 @@\n-a();\n+b();' }] },
    changed: () => ['lessons/02-cluster-fork/server.js'],
    reset: () => ({ changed: [], backup: 'backups/1' }),
    spots: async () => ({
      changes: [[change]],
      promises: ids.map((id) => ({ id, sentence: `the promise ${id}` })),
      right: 'none',
    }),
    async judge(_, index, said, { onProgram, onPromise }) {
      onProgram(/** @type {any} */ ({ name: 'server.js', program: { events } }));
      onPromise(failedPromise);
      return { isSeen: said === ids[0], isRight: false, breaks: [ids[0]], why: 'So.', index };
    },
    measure: async () => ({ verdict: 'passed' }),
  };
}

/** @param {number} [port] @param {Partial<import('../../lib/learner/serve.js').Learner>} [more] */
function serve(port = 0, more = {}) {
  /** @type {string[]} */
  const checked = [];
  const hand = { isUp: false, isHeard: true, ballot: null };
  /** @type {import('../../lib/learner/serve.js').Learner} */
  const learner = {
    hand: {
      snapshot: () => hand,
      set: (/** @type {boolean} */ isUp) => void (hand.isUp = isUp),
      vote: async () => undefined,
    },
    progress: () => ({ current: lesson.key, passed: {}, predictions: {}, measured: [] }),
    check: (/** @type {{ key: string }} */ { key }) => void checked.push(key),
    predict: () => {},
    earlierVerdicts: () => ({}),
    lastVerdict: () => undefined,
    followVerdicts: () => ({ close() {} }),
    shownHints: () => ({ name: 'Task 1', shown: ['nudge'], of: 3 }),
    showHint: () => ({ name: 'Task 1', shown: ['nudge', 'look it up'], of: 3 }),
    ...makeReach(),
    ...more,
  };
  return serveLearner({ root: rootFolder, port, lessons, learner }).then((server) => ({
    ...server,
    checked,
  }));
}

describe("the learner's page in Chromium", { skip }, () => {
  /** @type {import('playwright-core').Browser} */
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  /**
   * @param {import('node:test').TestContext} t
   * @param {string} url
   * @param {import('playwright-core').BrowserContextOptions} [options]
   */
  async function open(t, url, options) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    });
    t.after(() => context.close());
    context.setDefaultTimeout(limitMs(10));
    const page = await context.newPage();
    const faults = watchFaults(page, url);
    await page.goto(url);
    return { page, faults };
  }

  /** Waits until the page has handled everything that the server has sent. */
  const hasHeard = async (/** @type {Server} */ server, /** @type {Page} */ page) => {
    await until('the page listens', () => server.watching() > 0);
    await page.waitForSelector('#hints:not([hidden])', { state: 'attached' });
  };

  test('every state is accessible and fits, light and dark, wide and narrow', async (t) => {
    const found = [];
    for (const [name, bring] of Object.entries(states)) {
      const server = await serve();
      t.after(server.close);
      const { page, faults } = await open(t, server.url);
      await hasHeard(server, page);
      await bring(server);
      if (name !== 'the first visit') await page.waitForSelector('#promises [data-verdict=passed]');
      if (['failed', 'undecided', 'passed'].includes(name))
        await page.waitForSelector('#evidence svg.xray');
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        await page.emulateMedia({ colorScheme });
        for (const [width, height, view] of SIZES) {
          await page.setViewportSize({ width, height });
          if (width < 1100) await page.locator(`#status a[href="#${view}"]`).click();
          const isFirst = colorScheme === 'light';
          const bad = await accessibilityFaults(page, { runOnly: isFirst ? undefined : COLOURS });
          bad.push(...(await tooWide(page)));
          found.push(...bad.map((fault) => `${name}, ${colorScheme}, ${width}: ${fault}`));
        }
      }
      found.push(...faults.map((fault) => `${name}: ${fault}`));
      await page.close();
    }
    assert.deepEqual(found, []);
  });

  test("a check's progress appears without moving text, scroll position or focus", async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url);
    await hasHeard(server, page);
    await page.locator('#predicted').fill('3.5');
    await page.locator('details.answer summary').first().click();
    await page.locator('#predicted').focus();
    await page.evaluate(() => window.scrollTo(0, 700));
    const place = () =>
      page.evaluate(() => ({
        ...{ y: window.scrollY, id: document.activeElement?.id },
        typed: /** @type {HTMLInputElement} */ (document.querySelector('#predicted')).value,
        folds: document.querySelectorAll('details.answer[open]').length,
      }));
    const was = await place();
    assert.deepEqual([was.id, was.typed, was.folds, was.y > 600], ['predicted', '3.5', 1, true]);
    await states.failed(server);
    await page.waitForSelector('#verdict[data-verdict=failed]');
    assert.match(
      await page.locator('#summary').innerText(),
      /^Not yet\. 1 holds, 1 fails, 6 to come\./,
    );
    assert.match(await page.locator('#story').innerText(), /It forked 4\./);
    await page.waitForSelector('.marks li');
    assert.deepEqual(await place(), was);

    const second = page.locator(`#promises [data-id=${ids[1]}] .promise`);
    await second.focus();
    await second.press('Enter');
    const drawnOf = page.locator('#evidence h3');
    assert.equal(await drawnOf.innerText(), 'What happened in this check');
    await server.begin(lesson, 'server.js');
    await page.waitForSelector('#verdict[aria-busy=true]');
    const earlier = 'What happened in the check before this one';
    assert.equal(await drawnOf.innerText(), earlier);
    const read = page.waitForResponse(/\/evidence\/.*\.json$/);
    await page.locator('#evidence select').dispatchEvent('change');
    await (await read).finished();
    assert.equal(await drawnOf.innerText(), earlier, 'another program of that check');
    await states.passed(server);
    await page.waitForSelector('#verdict[data-verdict=passed]');
    await page.waitForSelector('#evidence h3:text-is("What happened in this check")');
    assert.equal(await second.evaluate((one) => one === document.activeElement), true);
    assert.equal(await second.getAttribute('aria-expanded'), 'true', 'it stays chosen');
    assert.match(await page.locator('#numbers').innerText(), /odd work: too rough to tell/);
    const picture = await page.locator('.picture svg').getAttribute('aria-label');
    assert.match(
      String(picture),
      /^you predicted 2\.00; 1 before 1\.10, .*; measured now 3\.90, 95 % interval 3\.70 to 4\.10; ceiling 4\.00$/,
    );
    assert.deepEqual(faults, []);
  });

  test('the first failure opens with each verdict; other failures and later tasks take a line each', async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url);
    await hasHeard(server, page);
    const rowOf = (/** @type {string} */ id) => page.locator(`#promises [data-id=${id}]`);
    const isOpen = (/** @type {string} */ id) =>
      rowOf(id).locator('.promise').getAttribute('aria-expanded');
    const fail = async () => {
      await server.begin(lesson, 'server.js');
      server.program({ name: 'NODE_CLUSTER_WORKERS=2 server.js', program: { events } });
      server.promise(failedPromise);
      const other = {
        ...failedPromise.promise,
        id: ids[2],
        got: 'Nothing arrived.',
        shows: undefined,
      };
      server.promise({ promise: other, programs: [0] });
      server.end({ verdict: 'failed', isWhole: false, seconds: 1.2 });
      await page.waitForSelector('#verdict[data-verdict=failed]');
    };
    await fail();
    await page.waitForSelector('#evidence svg.xray');
    assert.deepEqual(await Promise.all([ids[0], ids[2]].map(isOpen)), ['true', 'false']);
    assert.equal(await rowOf(ids[2]).locator('.brief').innerText(), 'Nothing arrived.');
    const [heading, later] = await page.locator('#promises summary:not(#story *)').allInnerTexts();
    assert.match(heading, /^Task 1: /);
    assert.match(later, /^Task 2: \S.* · not yet$/);
    assert.equal(await rowOf('own-memory').isVisible(), false);
    const groups = await page
      .locator('#evidence optgroup')
      .evaluateAll((all) => all.map((one) => /** @type {HTMLOptGroupElement} */ (one).label));
    assert.deepEqual(groups, ['forks'], 'programs are named by what they were started for');
    const [tries, printed] = await page.locator('#story summary').allInnerTexts();
    assert.equal(tries, 'What to try');
    assert.match(printed, /NODE_CLUSTER_WORKERS=2 server\.js$/);

    await rowOf(ids[2]).locator('.promise').click();
    assert.equal(await rowOf(ids[2]).locator('#story').isVisible(), true);
    await fail();
    await page.waitForSelector(`#verdict[data-check="2"][data-verdict=failed]`);
    assert.deepEqual(await Promise.all([ids[0], ids[2]].map(isOpen)), ['true', 'false']);
    assert.deepEqual(faults, []);
  });

  test('the page follows the checked lesson and says so, unless the learner is typing', async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url);
    await hasHeard(server, page);
    await page.locator('#predicted').fill('3.5');
    const [, , third] = lessons;
    await server.begin(third, 'server.js');
    await page.getByText('Lesson 3 is checked now.').waitFor();
    assert.equal(await page.locator('#predicted').inputValue(), '3.5');
    assert.match(await page.locator('#verdict-title').innerText(), /^Lesson 2:/);
    assert.equal(await page.locator('#verdict').getAttribute('data-check'), null);

    await page.getByRole('link', { name: 'Show lesson 3' }).click();
    await page.waitForURL(`**/lessons/${third.key}/`);
    await page.waitForSelector('#verdict[aria-busy=true]');
    await server.begin(lesson, 'server.js');
    await page.waitForURL(`**/lessons/${lesson.key}/`);
    await page.getByText('Lesson 2 was checked, so the page has come here.').waitFor();
    await page.waitForSelector('#verdict[aria-busy=true]');
    const sentences = await page.locator('#promises .sentence').allTextContents();
    const { promises } = await loadCheck(checkFile(rootFolder, lesson.key));
    assert.deepEqual(sentences, Object.values(promises));
    await page.getByRole('link', { name: 'Back to lesson 3' }).click();
    await page.waitForURL(`**/lessons/${third.key}/`);
    await hasHeard(server, page);
    assert.equal(await page.locator('#followed').isHidden(), true);
    assert.deepEqual(faults, []);
  });

  test('beside an editor, text and verdict are two tabs; a verdict comes to the front, and the text keeps its position', async (t) => {
    const server = await serve();
    t.after(server.close);
    for (const [index, width] of [860, 960, 1280].entries()) {
      const { page, faults } = await open(t, server.url, { viewport: { width, height: 800 } });
      await hasHeard(server, page);
      await page.evaluate(() => window.scrollTo(0, 900));
      await states.failed(server);
      await page.waitForSelector(`#verdict[data-check="${index + 1}"][data-verdict=failed]`);
      const top = await page.evaluate(
        () => document.querySelector('#story')?.getBoundingClientRect().top ?? NaN,
      );
      assert.ok(top > 0 && top < 800, `at ${width} px the story begins at ${top}`);
      const text = page.locator('#text h2').first();
      assert.equal(await text.isVisible(), width >= 1100);
      if (width < 1100) await page.getByRole('link', { name: 'Text', exact: true }).click();
      assert.equal(await page.evaluate(() => window.scrollY), 900);
      assert.deepEqual(faults, []);
      await page.close();
    }
  });

  test('everything is reachable by keyboard and accessible: experiments, faults, the diff, the starter', async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url);
    await hasHeard(server, page);
    /** @type {string[]} */
    const found = [];
    const look = async (/** @type {string} */ what) => {
      for (const [colorScheme, width, runOnly] of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        for (const view of width < 1100 ? ['text', 'verdict'] : ['beside']) {
          if (view !== 'beside') await page.locator(`#status a[href="#${view}"]`).click();
          const bad = await accessibilityFaults(page, { runOnly });
          bad.push(...(await tooWide(page)));
          found.push(...bad.map((fault) => `${what}, ${colorScheme}, ${width}, ${view}: ${fault}`));
        }
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    };
    const press = async (/** @type {string} */ name) => {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await button.press('Enter');
    };
    const desk = page.locator('.desk');

    await press('Compare with the solution');
    await desk.getByText('Not passed yet.').waitFor();
    await press('Show it anyway');
    await desk.locator('.diff .added').waitFor();
    await look('the diff');

    await press('Back to the starter');
    await desk.getByText('lessons/02-cluster-fork/server.js').waitFor();
    await look('the starter');
    await press('Put them back');
    await desk.getByText('Your versions were kept in backups/1.').waitFor();

    await press('Spot the fault');
    await press('That is my answer');
    await desk.getByText('Choose one first.').waitFor();
    await page.getByLabel(`the promise ${ids[0]}`).focus();
    await page.keyboard.press('Space');
    await look('a fault to spot');
    await press('That is my answer');
    await desk.getByText('You saw it.').waitFor();
    await desk.locator('.marks li').waitFor();
    const { pid, t: at } = failedPromise.promise.shows.moments[0];
    const marked = desk.locator(`.marks li[data-pid="${pid}"][data-t="${at}"]`);
    assert.equal(await marked.count(), 1);
    await look('what was judged');
    const time = desk.getByLabel('The moment up to which it is shown');
    await time.focus();
    await page.keyboard.press('Home');
    await desk.locator('rect.curtain').waitFor();
    await page.keyboard.press('End');
    await desk.locator('rect.curtain').waitFor({ state: 'detached' });
    const told = desk.locator('.span');
    const whole = await told.innerText();
    await desk.locator('.drawing').focus();
    await page.keyboard.press('+');
    assert.notEqual(await told.innerText(), whole, 'closer');

    const tries = page.locator('#text .try').first();
    await tries.focus();
    await tries.press('Enter');
    await press('Which processes answer eight requests');
    await page.keyboard.type('two each');
    await press('Look');
    await page
      .locator('.bench .seen dt')
      .first()
      .waitFor({ timeout: limitMs(60) });
    assert.match(
      await page.locator('.bench .seen').innerText(),
      /two each[^]*the primary, process/,
    );
    await page.locator('.bench svg.xray').waitFor();
    await look('what was seen');
    assert.deepEqual([...found, ...faults], []);
  });

  test('at 400 % zoom the keyboard reaches everything, and nothing covers the focus', async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url, { viewport: { width: 320, height: 256 } });
    await hasHeard(server, page);
    await states.failed(server);
    await page.waitForSelector('#evidence svg.xray');
    const reached = new Set();
    /** @type {string[]} */
    const hidden = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(whatHasFocus);
      if (!at) break;
      assert.ok(!reached.has(at.place), `The focus is caught at ${at.place}.`);
      reached.add(at.place);
      if (!at.isSeen) hidden.push(at.place);
    }
    assert.deepEqual(hidden, []);
    const wanted = await page.locator('button:visible:enabled, a:visible, summary:visible').count();
    assert.ok(reached.size >= wanted, `${reached.size} of ${wanted}`);
    await page.locator('#check').press('Enter');
    await until('it is to be checked', () => server.checked.length > 0);
    assert.deepEqual(faults, []);
  });

  test('a hand is raised and taken down by the keyboard, and every page shows it', async (t) => {
    const server = await serve();
    t.after(server.close);
    const one = await open(t, server.url);
    const two = await open(t, server.url);
    for (const { page } of [one, two]) await page.waitForSelector('#hints:not([hidden])');
    await one.page.getByRole('button', { name: 'Raise your hand' }).press('Enter');
    for (const { page } of [one, two]) {
      await page.getByText('Your hand is up: it is seen on the board.').waitFor();
      assert.deepEqual(await accessibilityFaults(page, {}), []);
      await page.emulateMedia({ colorScheme: 'dark' });
      assert.deepEqual(await accessibilityFaults(page, { runOnly: COLOURS }), []);
    }
    await two.page.getByRole('button', { name: 'Take your hand down' }).press('Space');
    await one.page.getByRole('button', { name: 'Raise your hand' }).waitFor();
    await one.page.locator('#hand-note').waitFor({ state: 'hidden' });
    assert.deepEqual([...one.faults, ...two.faults], []);
  });

  test('an action that is unavailable or gone is explained on the page, not on the console', async (t) => {
    const server = await serve(0, {
      runIfIdle: () => false,
      compare: () => {
        throw new UsageError('That cannot be compared.', 'Save it first.');
      },
    });
    t.after(server.close);
    const { page, faults } = await open(t, server.url);
    await hasHeard(server, page);
    await page.getByRole('button', { name: 'Compare with the solution' }).click();
    await page.locator('.desk').getByText('That cannot be compared. Save it first.').waitFor();
    await page.getByRole('button', { name: 'Spot the fault' }).click();
    await page.getByLabel(`the promise ${ids[0]}`).check();
    await page.getByRole('button', { name: 'That is my answer' }).click();
    await page
      .locator('.desk')
      .getByText(/Something else is running/)
      .waitFor();

    let isGone = false;
    await page.route('**/evidence/**', (route) =>
      isGone ? route.fulfill({ status: 204 }) : route.continue(),
    );
    await states.failed(server);
    await page.waitForSelector('#evidence svg.xray');
    isGone = true;
    await page.locator(`#promises [data-id=${ids[1]}] .promise`).click();
    await page.getByText(/This run's evidence is gone/).waitFor();
    assert.equal(await page.locator('#evidence svg.xray:visible').count(), 0);
    assert.deepEqual(faults, []);
  });

  test('a broken connection is reopened, and the page works as before', async (t) => {
    const first = await serve();
    const { page } = await open(t, first.url);
    await hasHeard(first, page);
    await first.close();
    await page.waitForSelector('#verdict.cut');
    const { port } = new URL(first.url);
    const second = await until('the port is free again', () =>
      serve(Number(port)).catch(() => undefined),
    );
    assert.ok(second);
    t.after(second.close);
    await page.waitForSelector('#verdict:not(.cut)');
    await states.failed(second);
    await page.waitForSelector('#verdict[data-verdict=failed]');
    await page.click('#check');
    await until('it is to be checked', () => second.checked.length > 0);
    assert.deepEqual(second.checked, [lesson.key]);
  });

  test('without JavaScript the text is readable, and controls that would not work are hidden', async (t) => {
    const server = await serve();
    t.after(server.close);
    const { page, faults } = await open(t, server.url, { javaScriptEnabled: false });
    assert.match(await page.locator('#text').innerText(), /What fork\(\) does/);
    assert.equal(await page.locator('#promises li').count(), 8);
    assert.match(await page.locator('noscript').innerText(), /The terminal tells the verdict/);
    assert.equal(await page.locator('button:visible').count(), 0);
    await page.locator('details.answer summary').first().click();
    assert.equal(await page.locator('details.answer[open]').count(), 1);
    assert.deepEqual(faults, []);
  });

  test('two npm start at once: the second says what to do, and neither loses typed input', async (t) => {
    const { copy, url, save, start } = await startCopy(t);
    const { port } = new URL(url);
    const refused = await start(port);
    assert.match(refused.said(), /^npm start is running already, .* its page is /m);
    assert.equal(refused.url, '');
    await refused.stop();
    const keys = lessons.slice(0, 2).map((one) => one.key);
    const urls = [url, (await start()).url];
    assert.notEqual(urls[0], urls[1]);
    const tabs = await Promise.all(
      urls.map((address, index) => open(t, `${address}lessons/${keys[index]}/`)),
    );
    for (const [index, { page }] of tabs.entries()) {
      await page.waitForSelector('#hints:not([hidden])');
      await page.locator('#predicted').pressSequentially(`${index + 2}.5`);
    }
    save('01-blocking-server', 'short-report');
    const timeout = limitMs(60);
    await tabs[0].page.waitForSelector('#verdict[data-check][aria-busy=false]', { timeout });
    await tabs[1].page.getByText('Lesson 1 is checked now.').waitFor({ timeout });
    for (const [index, { page }] of tabs.entries()) {
      assert.equal(await page.locator('#predicted').inputValue(), `${index + 2}.5`);
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'predicted');
    }
    for (const [index, { page }] of tabs.entries()) {
      await page.locator('#predicted').press('Enter');
      await page
        .getByText(`You predicted ${index + 2}.5 ${index === 0 ? 's' : 'times as fast'}.`)
        .waitFor();
    }
    await tabs[0].page.click('#hint');
    await tabs[0].page.waitForSelector('#hints li');
    const kept = JSON.parse(readFileSync(join(copy, '.forkshop/progress.json'), 'utf8'));
    assert.deepEqual(kept.predictions, { [keys[0]]: 2.5, [keys[1]]: 3.5 });
    assert.deepEqual(kept.hints, { [`${keys[0]}/2`]: 1 }, 'of the task that is open');
    assert.deepEqual(
      tabs.flatMap(({ faults }) => faults),
      [],
    );
  });

  test("each mark for a wrong answer matches the answer's timeline", async (t) => {
    const { url, save } = await startCopy(t);
    const { page, faults } = await open(t, url);
    await page.waitForSelector('#hints:not([hidden])');
    const judge = (/** @type {[string, string]} */ answer, /** @type {string} */ id) =>
      marked(page, () => save(...answer), id);

    const five = await judge(['02-cluster-fork', 'one-too-many'], 'forks-as-told');
    const forks = five.events.filter(({ what }) => what === 'fork');
    assert.deepEqual(five.moments[0], { pid: forks[4].pid, t: forks[4].t });

    const own = await judge(['02-cluster-fork', 'idle-workers'], 'workers-answer');
    const [{ pid: primary }] = own.events.filter(({ what }) => what === 'fork');
    for (const { pid, t: at } of own.moments) {
      assert.equal(pid, primary);
      assert.ok(
        own.events.some((one) => one.what === 'request' && one.pid === pid && one.t === at),
      );
    }

    const quick = await judge(['01-blocking-server', 'short-report'], 'report-waits');
    const { moments, events: seen } = quick;
    const of = (/** @type {string} */ kind, /** @type {any} */ { pid, client }) =>
      seen.filter((event) => event.what === kind && event.pid === pid && event.client === client);
    const short = seen.find(({ what, t: began }) => what === 'request' && began === moments[0].t);
    assert.ok(short, 'a request began then');
    const answered = of('response', short).find(({ t: at }) => at > short.t);
    assert.ok(answered.t - short.t < 98, 'which took less than the database does');
    assert.deepEqual(faults, []);
  });
});

/** Elements that would need sideways scrolling: the page, its columns, an X-ray. */
const tooWide = (/** @type {Page} */ page) =>
  page.evaluate(() =>
    ['html', '#text', '#verdict', '.drawing'].flatMap((selector) =>
      [...document.querySelectorAll(selector)].flatMap((one) => {
        const over = one.scrollWidth - one.clientWidth;
        const cut = [...one.querySelectorAll('svg.xray text')].filter((words) => {
          const [box, all] = [words, words.closest('svg')].map((each) =>
            /** @type {Element} */ (each).getBoundingClientRect(),
          );
          return box.right > all.right + 1 || box.left < all.left - 1;
        });
        return [
          ...(over > 0 ? [`${selector} is ${over} px too wide`] : []),
          ...cut.map(({ textContent }) => `"${textContent}" is cut`),
        ];
      }),
    ),
  );

/** In the page: the focused element, by its index among all elements, and whether it is visible. */
function whatHasFocus() {
  const { activeElement: one } = document;
  if (!one || one === document.body) return undefined;
  const place = `${[...document.querySelectorAll('*')].indexOf(one)} ${one.tagName} ${one.textContent?.trim().slice(0, 30)}`;
  const isSeen = [...one.getClientRects()].some(({ left, right, top, bottom }) => {
    const [x, y] = [
      (Math.max(0, left) + Math.min(window.innerWidth, right)) / 2,
      (Math.max(0, top) + Math.min(window.innerHeight, bottom)) / 2,
    ];
    const there = document.elementFromPoint(x, y);
    return there && (one.contains(there) || there.contains(one));
  });
  return { place, isSeen };
}

/**
 * The page's marks for a broken promise, and the timeline that it shows. If the machine is too busy to judge,
 * the check runs again.
 * @param {Page} page
 * @param {() => void} save
 * @param {string} id
 */
async function marked(page, save, id) {
  const timeout = limitMs(60);
  const promise = `#promises [data-id=${id}][data-verdict=failed]`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const last = await page.locator('#verdict').getAttribute('data-check');
    save();
    const isOver = `#verdict[aria-busy=false]${last ? `:not([data-check="${last}"])` : '[data-check]'}`;
    await page.waitForSelector(isOver, { timeout });
    if ((await page.locator(promise).count()) > 0) break;
  }
  await page.waitForSelector(`${promise} .promise[aria-expanded=true]`);
  const check = await page.locator('#verdict').getAttribute('data-check');
  await page.waitForSelector(`#evidence[data-from^="/evidence/${check}/"] .marks li`);
  await page.waitForSelector('#evidence rect.mark');
  const moments = await page.locator('.marks li').evaluateAll((items) =>
    items.map((item) => {
      const { pid, t } = /** @type {HTMLElement} */ (item).dataset;
      return { pid: Number(pid), t: round(Number(t)) };
      function round(/** @type {number} */ ms) {
        return Math.round(ms * 10) / 10;
      }
    }),
  );
  const shown = await page.locator('#evidence').getAttribute('data-from');
  /** @type {{ events: any[] }} */
  const { events } = await page.evaluate(async (from) => (await fetch(String(from))).json(), shown);
  assert.ok(moments.length > 0);
  return { moments, events };
}

/** `npm start` on a copy of the workshop, and again there. @param {import('node:test').TestContext} t */
async function startCopy(t) {
  const copy = mkdtempSync(join(tmpdir(), 'forkshop-page-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  t.after(async () => {
    await Promise.all(stops.map((stop) => stop()));
    rmSync(copy, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const part of ['lessons', 'checks', 'solutions', 'lib', 'package.json'])
    cpSync(join(rootFolder, part), join(copy, part), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(rootFolder, 'node_modules'), join(copy, 'node_modules'));
  const start = async (port = '0') => {
    const started = startIn(copy, port);
    stops.push(started.stop);
    await until('it watches', () => /Whenever you save/.test(started.said()), limitMs(15));
    const [, url = ''] = /^The page: (\S+)$/m.exec(started.said()) ?? [];
    return { ...started, url };
  };
  const { url, said } = await start();
  assert.ok(url, said());
  const save = (/** @type {string} */ key, /** @type {string} */ name) =>
    copyFileSync(wrongAnswer(key, name), join(copy, 'lessons', key, 'server.js'));
  return { copy, url, save, start };
}

/** `npm start` in a folder. @param {string} folder @param {string} port */
function startIn(folder, port) {
  const argv = ['lib/cli/main.cjs', 'start', '--port', port];
  const child = spawnOurs(argv, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (said += part));
  return {
    said: () => said,
    async stop() {
      const ended = child.exitCode === null && once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
}
