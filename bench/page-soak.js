// Many saves in a row, with the learner's page open: node bench/page-soak.js [SAVES]
// Prints what the server and the page hold at the beginning, after a tenth and a half of the saves, and at the end, and how
// much later than the terminal the page shows a save's first verdict. The bar: from the tenth on the same number of listeners
// and handles, and memory that does not grow with the saves; at most 0.2 s later; nothing left behind.
import { once } from 'node:events';
import { cpSync, copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { spawnOurs } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';
import { quantile } from '../lib/measure/stats.js';
import { QUIETLY, findBrowser } from '../lib/deck/export.js';
import { countGiven } from './argument.js';

const saves = countGiven(1, 300, 'saves');
const key = '01-blocking-server';
const LIMIT_MS = 120_000; // for one check, on a busy machine
const LOOK_MS = 20;
const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;

const copy = mkdtempSync(join(tmpdir(), 'forkshop-soak-'));
for (const part of ['lessons', 'solutions', 'checks', 'lib', 'package.json'])
  cpSync(join(rootFolder, part), join(copy, part), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
symlinkSync(join(rootFolder, 'node_modules'), join(copy, 'node_modules'));
const preload = join(rootFolder, 'bench', 'tell-memory.cjs');
const argv = ['--expose-gc', '--require', preload, 'lib/cli/main.cjs', 'start', '--port', '0'];
const child = spawnOurs(argv, { cwd: copy });
let said = '';
let firstSaidMs; // when the terminal had the first verdict of this save
for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
const browser = await chromium.launch({
  executablePath: findBrowser(process.env),
  args: QUIETLY.split(' '),
});
try {
  await soak();
} finally {
  await browser.close();
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
  rmSync(copy, { recursive: true, force: true, maxRetries: 3 });
}

async function soak() {
  await shows(/Whenever you save/);
  const [, url] = await shows(/^The page: (\S+)$/m);
  const page = await browser.newPage();
  await page.addInitScript(noteFirstVerdicts);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  await page.goto(`${url}lessons/${key}/`);
  await page.waitForSelector('#hints:not([hidden])');
  const mine = join(copy, 'lessons', key, 'server.js');
  const starter = join(copy, lessonPaths(key).starter, 'server.js');
  await tell('at the beginning', devtools);
  const sinceMs = performance.now();
  const laterMs = [];
  for (let count = 1; count <= saves; count += 1) {
    const last = await page.locator('#verdict').getAttribute('data-check');
    firstSaidMs = undefined;
    if (count % 2 === 1) writeFileSync(mine, 'const a = ;\n');
    else copyFileSync(starter, mine);
    const next = last ? `:not([data-check="${last}"])` : '[data-check]';
    await page.waitForSelector(`#verdict[aria-busy=false]${next}`, { timeout: LIMIT_MS });
    const shownMs = await page.evaluate(() => globalThis.firstVerdictMs);
    if (firstSaidMs && shownMs) laterMs.push(shownMs - firstSaidMs);
    if ([0.1, 0.5].some((share) => count === Math.ceil(share * saves)))
      await tell(`after ${count} saves`, devtools);
  }
  await tell(`after ${saves} saves`, devtools);
  const seconds = (performance.now() - sinceMs) / 1_000;
  console.log(`${saves} saves in ${seconds.toFixed(0)} s`);
  const [median, most] = [quantile(laterMs, 0.5), Math.max(...laterMs)];
  console.log(
    `${laterMs.length} first verdicts: on the page ${median} ms after the terminal in the median, at most ${most} ms`,
  );
}

function hear(text) {
  said += text;
  if (/^ *\[\d+\/\d+\] [✔✖?]/m.test(text)) firstSaidMs ??= Date.now();
}

/** In the page: the time when the visible check's first verdict appeared. */
function noteFirstVerdicts() {
  let last;
  new MutationObserver(() => {
    const { check } = document.getElementById('verdict')?.dataset ?? {};
    const isThere = document.querySelector(
      '#promises :is([data-verdict=passed], [data-verdict=failed])',
    );
    if (check !== last) globalThis.firstVerdictMs = undefined;
    last = check;
    if (isThere) globalThis.firstVerdictMs ??= Date.now();
  }).observe(document, { subtree: true, childList: true, attributes: true });
}

async function tell(when, devtools) {
  said = '';
  child.kill('SIGUSR2');
  const [, line] = await shows(/^holds (.*)$/m);
  const { heapUsed, rss, listeners, kinds } = JSON.parse(line);
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (wanted) => metrics.find(({ name }) => name === wanted).value;
  const resources = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`);
  console.log(`${when}:`);
  console.log(
    `  server: heap ${mb(heapUsed)}, resident ${mb(rss)}, ${listeners} listeners of its process, ${resources.join(', ')}`,
  );
  console.log(
    `  page: heap ${mb(of('JSHeapUsedSize'))}, ${of('JSEventListeners')} listeners, ${of('Nodes')} nodes`,
  );
}

async function shows(pattern) {
  for (;;) {
    const found = pattern.exec(said);
    if (found) return found;
    await sleep(LOOK_MS);
    if (child.exitCode !== null) throw new Error(`It exited:\n${said}`);
  }
}
