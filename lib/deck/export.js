/** Exports the deck, as PDF or as a static folder. */
import { accessSync, constants, cpSync, existsSync, mkdirSync } from 'node:fs';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawnGuarded } from '../common/child.js';
import { markInEnvironment } from '../observe/mark.js';
import { endHome } from '../observe/sweep.js';
import { demandRoom, nameHome } from '../observe/temporary-folder.js';
import { UsageError } from '../common/usage-error.js';
import { readDeck } from './read-deck.js';
import { deckPage, speakerPage } from './pages.js';
import { readRecordings } from './recordings.js';
import { revealFolder, serveDeck } from './serve.js';
import { fonts } from '../web/fonts.js';
import { clientFolder } from '../web/server.js';
import { handoutSheets, scriptSheets } from './sheets.js';

const PDF_LIMIT_MS = 120_000;
const BROWSERS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];
/** Chromium's options: no window, no requests of its own. */
export const QUIETLY =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync';

/** @typedef {{ root: string, plan?: string, file: string, env: NodeJS.ProcessEnv }} Paper  plan: default the whole deck */

/**
 * Writes the deck as PDF, a page for each slide. This and the next two need an installed Chromium.
 * @param {Paper & { hasNotes: boolean }} options
 * @returns {Promise<number>}  the number of pages
 * @throws {UsageError}  if there is no Chromium, or no such plan
 */
export async function exportPdf({ hasNotes, ...options }) {
  const chapters = readDeck(options.root, options.plan);
  await printToPdf({ ...options, path: hasNotes ? 'print?notes' : 'print' });
  return chapters.reduce((sum, { slides }) => sum + slides.length, 0);
}

/** Writes the learners' handout: A4, three slides a page. @param {Paper} options @returns {Promise<number>}  its pages */
export async function exportHandout(options) {
  const pages = handoutSheets(readDeck(options.root, options.plan)).length;
  await printToPdf({ ...options, path: 'handout' });
  return pages;
}

/** Writes the trainer's script: A4, two slides a page. @param {Paper} options @returns {Promise<number>}  its pages */
export async function exportScript(options) {
  const pages = scriptSheets(readDeck(options.root, options.plan)).length;
  await printToPdf({ ...options, path: 'script' });
  return pages;
}

/** @param {Paper & { path: string }} options  path: on the deck's server */
async function printToPdf({ root, plan, file, path, env }) {
  const browser = findBrowser(env);
  const place = demandRoom(resolve(tmpdir()));
  const { url, close } = await serveDeck({ root, plan });
  const profile = join(place, nameHome());
  try {
    const paper = ['--no-pdf-header-footer', '--generate-pdf-document-outline'];
    const args = [...QUIETLY.split(' '), `--user-data-dir=${profile}`, ...paper];
    args.push(`--print-to-pdf=${file}`, `${url}${path}`);
    await run(browser, args, profile);
  } finally {
    await close();
  }
  if (!existsSync(file)) throw new Error(`${browser} wrote no PDF.`);
}

/** @param {string} browser @param {string[]} args @param {string} profile  removed by the guard, or by the next start */
async function run(browser, args, profile) {
  const env = { ...process.env, ...markInEnvironment(basename(profile)) };
  const { guard, ended, end } = spawnGuarded(browser, args, { env, removes: [profile] });
  mkdirSync(profile, { mode: 0o700 }); // only now: the guard removes it
  const timer = setTimeout(end, PDF_LIMIT_MS);
  const outputs = [guard.stdout, guard.stderr].map((stream) => stream && text(stream));
  const { code, error } = await ended;
  clearTimeout(timer);
  await endHome(profile); // a browser that outlives its guard holds the streams open
  if (code === 0) return;
  throw new Error(`${browser} failed: ${error ?? (await Promise.all(outputs)).join('')}`);
}

/**
 * The path of CHROME_PATH, else of the first usual name that is installed.
 * @param {NodeJS.ProcessEnv} env  @returns {string}  @throws {UsageError}  if there is none
 */
export function findBrowser({ CHROME_PATH, PATH = '' }) {
  const onMac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  const inPath = PATH.split(delimiter).flatMap((folder) =>
    BROWSERS.map((name) => join(folder, name)),
  );
  const found = (CHROME_PATH ? [CHROME_PATH] : [...inPath, onMac]).find(isProgram);
  if (found) return found;
  throw new UsageError(
    CHROME_PATH
      ? `CHROME_PATH names no program: ${CHROME_PATH}`
      : 'There is no Chromium or Chrome.',
    'Install one (on Debian: apt-get install chromium), or set CHROME_PATH to it.',
  );
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Writes the deck for any web server; its demos play their recordings.
 * @param {{ root: string, folder: string, plan?: string }} options  plan: default the whole deck
 * @throws {UsageError}  if the folder isn't empty
 */
export function exportHtml({ root, folder, plan }) {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty.`, 'Name a folder that is empty, or not there.');
  const chapters = readDeck(root, plan);
  const recordings = readRecordings(root, chapters);
  const setting = { isStatic: true, base: './', plan };
  const write = (name, text) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write('index.html', deckPage(chapters, setting));
  write('speaker.html', speakerPage(chapters, setting));
  for (const [name, messages] of Object.entries(recordings))
    write(`recordings/${name}.json`, JSON.stringify(messages));
  for (const room of ['deck', 'web'])
    cpSync(clientFolder(room), join(folder, room, 'client'), { recursive: true });
  for (const [name, file] of Object.entries(fonts)) cpSync(file, join(folder, 'fonts', name));
  for (const name of ['reveal.mjs', 'reveal.css', 'reset.css']) {
    mkdirSync(join(folder, 'reveal'), { recursive: true });
    cpSync(join(revealFolder, name), join(folder, 'reveal', name));
  }
}
