// Teaches a whole day with the keys of a clicker: the wall and the speaker's window in a real Chromium, every step, every demo
// run. Reports elements that don't fit or overlap, demos that could not be shown, and differences between the windows.
//   npm run test:rehearsal -- [--plan full] [--from 05-crash-restart-1] [--minutes 20] [--pictures FOLDER]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { serveDeck } from '../../lib/deck/serve.js';
import {
  cockpitFaults,
  goTo,
  layoutFaults,
  openBrowser,
  textsOnTexts,
  watchFaults,
} from './browser.js';

const LIMIT_MS = 120_000; // of a demo, beside others
const CALM_MS = 1_200; // until the speaker's window has copied the last frame

const { values } = parseArgs({
  options: {
    plan: { type: 'string', default: 'full' },
    from: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    pictures: { type: 'string' },
  },
});
const { plan, from, pictures } = values;
const deadlineMs = performance.now() + Number(values.minutes) * 60_000;
if (pictures) mkdirSync(pictures, { recursive: true });

const slides = readDeck(rootFolder, plan).flatMap((chapter) => chapter.slides);
const first = from === undefined ? 0 : slides.findIndex(({ id }) => id === from);
if (first < 0) throw new Error(`The plan ${plan} has no slide ${from}.`);

const deck = await serveDeck({ root: rootFolder, plan });
const browser = await openBrowser();
const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
context.setDefaultTimeout(LIMIT_MS);
const [wall, speaker] = [await context.newPage(), await context.newPage()];
const watched = [wall, speaker].map((page) => watchFaults(page, deck.url)); // the lists grow during the rehearsal
/** @type {string[]} */
const faults = [];
await wall.goto(deck.url);
await wall.waitForSelector('.reveal.ready');
await speaker.goto(`${deck.url}speaker?plan=${plan}`);
await speaker.waitForSelector('#alone', { state: 'hidden' });
await goTo(wall, slides[first].id);
await speaker.bringToFront();

let [steps, demos, at] = [0, 0, first];
for (; at < slides.length && performance.now() < deadlineMs; at += 1) {
  const slide = slides[at];
  for (let step = 0; ; step += 1) {
    await shows(slide, step);
    await look(`${slide.id}, step ${step}`);
    if (!(await wall.locator('section.present .fragment:not(.visible)').count())) break;
    await speaker.keyboard.press('PageDown');
  }
  if (slide.demos.length > 0) await perform(slide);
  if (at < slides.length - 1) await speaker.keyboard.press('PageDown');
}
await speaker.keyboard.press('PageUp');
await speaker.waitForTimeout(CALM_MS);
const back = await wall.locator('section.present').getAttribute('id');
if (at === slides.length && back !== slides[at - 1].id && back !== slides[at - 2].id)
  tell(`PageUp has led to ${back}`);
await browser.close();
await deck.close();
for (const fault of watched.flat()) tell(fault);
console.log(
  `${at - first} of ${slides.length} slides, ${steps} steps, ${demos} demos: ${faults.length} faults`,
);
process.exitCode = faults.length > 0 || at < slides.length ? 1 : 0;

function tell(/** @type {string} */ fault) {
  console.log(fault);
  faults.push(fault);
}

/** Both windows are there. @param {{ id: string }} slide @param {number} step */
async function shows({ id }, step) {
  await speaker.waitForFunction(
    (shown) => document.getElementById('now')?.dataset.shows === shown,
    `${id} ${step}`,
  );
  await wall.waitForFunction((one) => document.querySelector('section.present')?.id === one, id);
}

async function look(/** @type {string} */ where) {
  steps += 1;
  await wall.waitForTimeout(400); // a fade
  const found = [
    ...(await layoutFaults(wall)),
    ...(await textsOnTexts(wall)),
    ...(await cockpitFaults(speaker)),
  ];
  for (const fault of found) tell(`${where}: ${fault}`);
  const isCut = await speaker.evaluate(() => {
    const talk = document.getElementById('talk');
    return Boolean(talk && talk.scrollHeight > talk.clientHeight + 1);
  });
  if (isCut) tell(`${where}: the notes are cut off`);
  if (!pictures) return;
  const name = `${String(at + 1).padStart(3, '0')}-${where.replaceAll(/[^\w-]+/g, '-')}`;
  await wall.screenshot({ path: join(pictures, `${name}-wall.png`) });
  await speaker.screenshot({ path: join(pictures, `${name}-speaker.png`) });
}

/** Presses the key again, so that the demo runs; the speaker's copy shows the same. @param {{ id: string }} slide */
async function perform({ id }) {
  const figure = wall.locator('section.present figure.demo');
  const before = await figure.locator('.status').innerText();
  await speaker.keyboard.press('PageDown');
  await figure.locator('.run', { hasText: 'Stop' }).waitFor();
  await figure.locator('.run', { hasNotText: 'Stop' }).waitFor();
  demos += 1;
  await speaker.waitForTimeout(CALM_MS);
  const says = await figure.locator('.status').innerText();
  const isOver = await figure.evaluate((one) => 'was' in /** @type {HTMLElement} */ (one).dataset);
  if (says === before || says === '') tell(`${id}: the demo says nothing`);
  if (!isOver) tell(`${id}: the demo could not be shown: ${says}`);
  const copy = speaker.locator('#now figure.demo');
  const same = [
    await copy.locator('.status').innerText(),
    await speaker.locator('#says').innerText(),
  ];
  for (const words of same) if (words !== says) tell(`${id}: the speaker reads "${words}"`);
  const isDrawn = await figure.locator('svg:visible').count();
  if (isDrawn && !(await copy.locator('svg').count())) tell(`${id}: the speaker sees no X-ray`);
  console.log(`${id}: ${says}`);
  await look(`${id}, demo`);
}
