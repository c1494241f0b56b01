// The same application under every way to use several processes: `npm run bench:peers`. It installs its packages by itself
// (bench/peers/package.json), takes about nine minutes, and writes EVIDENCE.md. It wants an idle machine.
//   --only pm2,articles  measures only these, and prints them       --out FILE  writes it there
//   --quick              short windows, to see that everything works
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runAndClose } from '../../lib/common/run-and-close.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { conditionsNow, disturbanceOf, watchMachine } from '../../lib/measure/conditions.js';
import { createRunner } from '../../lib/observe/runner.js';
import { measureArticles } from './articles.js';
import { evidencePage, examSectionOf } from './evidence.js';
import { field } from './field.js';
import { install } from './install.js';
import { measurePeer } from './measure.js';

const WORKERS = Math.max(2, os.availableParallelism());
const PEERS_WITHIN_MS = 8 * 60_000; // then the articles, for a minute and a half
const IDLE_LOAD = 0.5; // of each core
const GIGABYTE = 2 ** 30;
const FULL = { trials: 3, reloads: 20, reloadRequests: 5_000, blockingMs: 2_000, cpuMs: 5_000 };
const QUICK = { trials: 1, reloads: 2, reloadRequests: 0, blockingMs: 500, cpuMs: 500 };
const ARTICLES = 'articles';
const names = [...field.map(({ name }) => name), ARTICLES];

const options = /** @type {const} */ ({
  only: { type: 'string' },
  out: { type: 'string' },
  quick: { type: 'boolean' },
});
const values = readArgs();
const wanted = values.only?.split(',') ?? names;
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`There is no "${unknown}". There are: ${names.join(', ')}.`);
  process.exit(2);
}
if (values.out !== undefined && !existsSync(dirname(resolve(values.out)))) {
  console.error(`There is no folder ${dirname(resolve(values.out))}.`);
  process.exit(2);
}
const isWhole = !values.only && !values.quick;
const out = values.out ?? (isWhole ? join(rootFolder, 'EVIDENCE.md') : undefined);
if (!install()) process.exit(3);

const sinceMs = performance.now();
const runner = createRunner();
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort());
const interrupted = new Promise((_, reject) =>
  interrupt.signal.addEventListener('abort', () => reject(interrupt.signal.reason)),
);
try {
  await runAndClose(() => Promise.race([measure(), interrupted]));
} catch (error) {
  if (!interrupt.signal.aborted) throw error;
  process.exitCode = 130;
} finally {
  await runner.close();
}
process.exit();

/** @returns {{ only?: string, out?: string, quick?: boolean }} */
function readArgs() {
  try {
    return /** @type {any} */ (parseArgs({ options }).values);
  } catch (/** @type {any} */ error) {
    console.error(`${error.message}\nThere are --only, --quick and --out.`);
    return process.exit(2);
  }
}

async function measure() {
  const conditions = conditionsNow();
  const machine = watchMachine();
  const untilMs = sinceMs + PEERS_WITHIN_MS;
  const amounts = { workers: WORKERS, untilMs, ...(values.quick ? QUICK : FULL) };
  const results = [];
  for (const peer of field.filter(({ name }) => wanted.includes(name)))
    results.push(await measurePeer(runner, peer, amounts, (what) => say(`${peer.name}: ${what}`)));
  const times = values.quick
    ? { closedMs: 4_000, openMs: 2_000 }
    : { closedMs: 12_000, openMs: 20_000 };
  const articles = wanted.includes(ARTICLES)
    ? await measureArticles(runner, { ...times, say: (what) => say(`articles: ${what}`) })
    : undefined;
  const page = evidencePage({
    command: ['npm run bench:peers', process.argv.slice(2).join(' ')].filter(Boolean).join(' -- '),
    date: new Date().toISOString().slice(0, 10),
    minutes: (performance.now() - sinceMs) / 60_000,
    memoryGb: Math.round(os.totalmem() / GIGABYTE),
    ...{
      conditions,
      disturbance: whatDisturbed(conditions, machine()),
      amounts,
      results,
      articles,
    },
  });
  if (out === undefined) console.log(page);
  else {
    const before = existsSync(out) ? readFileSync(out, 'utf8') : '';
    writeFileSync(resolve(out), page + examSectionOf(before));
  }
  say(out === undefined ? 'done' : `written to ${out}`);
}

/** We keep the cores busy ourselves: only the load before reveals other users. */
function whatDisturbed(conditions, { stealPercent, throttledMs }) {
  const { load, cores } = conditions;
  if (load > IDLE_LOAD * cores)
    return `the machine had a load of ${load} on ${cores} cores before we began`;
  return disturbanceOf({ ...conditions, stealPercent, throttledMs, busyCores: 0 });
}

function say(/** @type {string} */ what) {
  const seconds = ((performance.now() - sinceMs) / 1000).toFixed(0);
  console.error(`${seconds.padStart(4)} s  ${what}`);
}
