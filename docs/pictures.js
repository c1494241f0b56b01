// Makes the pictures of the README from the real thing: `npm run pictures`. A copy of the workshop gets a wrong answer; its
// check is run in a terminal and beside the page; the slide plays what its demo recorded. It needs Chromium.
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { spawnOurs } from '../lib/common/child.js';
import { wrongAnswer } from '../lib/lessons/answer-programs.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { QUIETLY, findBrowser } from '../lib/deck/export.js';
import { serveDeck } from '../lib/deck/serve.js';
import { limitMs } from '../test/limits.js';
import { until } from '../test/nothing-left.js';
import { drawTerminal } from './terminal.js';

/** @typedef {import('playwright-core').Browser} Browser */
/** @typedef {import('playwright-core').Page} Page */

const FOLDER = fileURLToPath(new URL('pictures', import.meta.url));
const MOST_BYTES = 120_000;
const TRIES = 3;
const SCHEMES = /** @type {const} */ (['light', 'dark']);

const KEY = '02-cluster-fork';
const ANSWER = 'idle-workers';
const BROKEN = 'workers-answer';
const SLIDE = 'section:has(h1:text-is("See it: kill one"))';

const copy = mkdtempSync(join(tmpdir(), 'forkshop-pictures-'));
const save = () => copyFileSync(wrongAnswer(KEY, ANSWER), join(copy, 'lessons', KEY, 'server.js'));
const environment = { PATH: process.env.PATH, HOME: process.env.HOME };
mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({
  executablePath: findBrowser(process.env),
  args: QUIETLY.split(' '),
});
try {
  copyWorkshop();
  await drawVerdict();
  await shootPage(browser);
  await shootSlide(browser);
} finally {
  await browser.close();
  rmSync(copy, { recursive: true, force: true, maxRetries: 3 });
}

function copyWorkshop() {
  for (const part of ['lessons', 'checks', 'solutions', 'lib', 'package.json'])
    cpSync(join(rootFolder, part), join(copy, part), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(rootFolder, 'node_modules'), join(copy, 'node_modules'));
}

/** Asked again where this machine was too busy to tell. */
async function drawVerdict() {
  save();
  const argv = ['lib/cli/main.cjs', 'check', 'lesson-2'];
  const env = { ...environment, FORCE_COLOR: '1' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { code, text } = await output(argv, env);
    if (code !== 1 || text.includes('undecided:')) continue;
    const shown = `$ npm run check lesson-2\n\n${text}`;
    return write('verdict.svg', drawTerminal(shown, 'npm run check lesson-2, in a terminal'));
  }
  throw new Error('This machine is too busy: no verdict in three checks.');
}

/** @param {string[]} argv @param {NodeJS.ProcessEnv} env @returns {Promise<{ code: unknown, text: string }>} */
function output(argv, env) {
  const child = spawnOurs(argv, { cwd: copy, env });
  return Promise.all([once(child, 'close'), textOf(child.stdout)]).then(([[code], text]) => ({
    code,
    text,
  }));
}

async function shootPage(/** @type {Browser} */ from) {
  rmSync(join(copy, '.forkshop'), { recursive: true, force: true }); // else only what failed is judged again
  const argv = ['lib/cli/main.cjs', 'start', '--port', '0'];
  const child = spawnOurs(argv, { cwd: copy, env: environment });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (said += part));
  try {
    await until('npm start watches', () => /Whenever you save/.test(said), limitMs(15));
    const [, url = ''] = /^The page: (\S+)$/m.exec(said) ?? [];
    const page = await open(from, `${url}lessons/${KEY}/`);
    await page.waitForSelector('#hints:not([hidden])');
    save();
    await page.waitForSelector(`#promises [data-id=${BROKEN}][data-verdict=failed]`);
    await page.waitForSelector('.marks li');
    await page.waitForSelector('#verdict[aria-busy=false]');
    await shoot(page, 'page');
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  }
}

async function shootSlide(/** @type {Browser} */ from) {
  const { url, close } = await serveDeck({ root: rootFolder });
  try {
    const page = await open(from, `${url}print`);
    await page.waitForSelector(`${SLIDE} svg.xray`);
    await shoot(page, 'slide', SLIDE);
  } finally {
    await close();
  }
}

async function open(/** @type {Browser} */ from, /** @type {string} */ url) {
  const viewport = { width: 1440, height: 880 };
  const context = await from.newContext({ viewport, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(limitMs(30));
  await page.goto(url);
  return page;
}

async function shoot(/** @type {Page} */ page, /** @type {string} */ name, selector = '') {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const bytes = await (selector ? page.locator(selector) : page).screenshot();
    write(`${name}-${colorScheme}.webp`, await asWebp(page, bytes));
  }
}

/** Chromium writes it itself: no package is needed. */
async function asWebp(/** @type {Page} */ from, /** @type {Buffer} */ png) {
  const page = await from.context().newPage();
  const url = await page.evaluate(`(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.7);
  })()`);
  await page.close();
  return Buffer.from(String(url).split(',')[1], 'base64');
}

function write(/** @type {string} */ name, /** @type {string | Buffer} */ content) {
  const file = join(FOLDER, name);
  writeFileSync(file, content);
  const { size } = statSync(file);
  if (size > MOST_BYTES) throw new Error(`${name} has ${size} bytes; the most are ${MOST_BYTES}.`);
  console.log(`docs/pictures/${name}: ${Math.round(size / 1000)} kB`);
}
