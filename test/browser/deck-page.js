// The deck in Chromium, for its tests: pages that collect their faults, recordings, and what a demo's table should contain.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { serveDeck } from '../../lib/deck/serve.js';
import { createStory, rowsOf, tell } from '../../lib/web/client/xray-story.js';
import { limitMs } from '../limits.js';
import { openBrowser, watchFaults } from './browser.js';

export const SIZE = { width: 1280, height: 720 };
export const slides = readDeck(rootFolder).flatMap((chapter) => chapter.slides);
export const demoSlides = slides.filter(({ demos }) => demos.length > 0);

/** @typedef {import('playwright-core').Page} Page */

/** Serves the deck during the tests of a suite, and opens pages in one browser. */
export function useDeck() {
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

  /** @param {import('playwright-core').BrowserContextOptions} [options] */
  async function newContext(options) {
    const usual = { viewport: SIZE, reducedMotion: /** @type {const} */ ('reduce') };
    const context = await browser.newContext({ ...usual, ...options });
    context.setDefaultTimeout(limitMs(10));
    return context;
  }

  /** @param {string} [url]  the deck's @param {import('playwright-core').BrowserContextOptions} [options] @param {string} [ready] */
  async function open(url = deck.url, options, ready = '.reveal.ready, #talk') {
    const context = await newContext(options);
    const page = await context.newPage();
    const faults = watchFaults(page, url);
    await page.addInitScript(overhear);
    await page.goto(url);
    await page.waitForSelector(ready);
    return { page, faults, close: () => context.close() };
  }
  return { open, newContext, urlOf: (path = '') => `${deck.url}${path}` };
}

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

/** @param {any[]} messages */
export function storyOf(messages) {
  const story = createStory();
  for (const message of messages) tell(story, message);
  return story;
}

/** The data table of the demo that is shown. @param {Page} page */
export const tableOf = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('section.present details tr')]
      .slice(1)
      .map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );

/** The same from the events, counted here by other means than the page's. @param {any[]} messages */
export function drawnFrom(messages) {
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
export const recordingOf = (id, name) =>
  JSON.parse(
    readFileSync(join(rootFolder, 'slides', keyOf(id), 'recordings', `${name}.json`), 'utf8'),
  );

/** The lesson of a slide. */
export const keyOf = (/** @type {string} */ id) => id.replace(/-\d+$/, '');

/** Does this slide show another author's change, to be judged? Then it draws nothing. */
export const isSpot = (/** @type {{ demos: string[] }} */ { demos: [name] }) =>
  name.startsWith('spot-');
