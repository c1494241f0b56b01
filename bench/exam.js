// Lesson 12's scene with our solution, and with its untouched shop under PM2 and throng, with the same seeds: `npm run bench:exam
// [SEEDS]`, 20 by default. It installs its packages by itself, takes about a minute a seed, and replaces the last section of
// EVIDENCE.md when all twenty are played. It wants an idle machine.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attemptsIn, isGood, playScene } from '../checks/12-everything-at-once/looks.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { meanInterval } from '../lib/measure/stats.js';
import { conditionsNow } from '../lib/measure/conditions.js';
import { copyProgram } from '../lib/observe/program-copy.js';
import { createRunner } from '../lib/observe/runner.js';
import { format } from '../lib/verdict/terminal.js';
import { countGiven } from './argument.js';
import { EXAM_TITLE, examSectionOf } from './peers/evidence.js';
import { install } from './peers/install.js';

const WHOLE = 20;
const KEY = '12-everything-at-once';
const EVIDENCE = join(rootFolder, 'EVIDENCE.md');
const launcher = fileURLToPath(new URL('peers/servers/shop.js', import.meta.url));

/** @type {{ name: string, folder: string, tool?: 'pm2' | 'throng' }[]} */
const peers = [
  { name: 'our solution', folder: `solutions/${KEY}` },
  { name: 'the shop under PM2', folder: `checks/${KEY}/starter`, tool: 'pm2' },
  { name: 'the shop under throng', folder: `checks/${KEY}/starter`, tool: 'throng' },
];

const seeds = countGiven(1, WHOLE, 'seeds');
if (!install()) process.exit(3);
const played = peers.map((peer) => ({ ...peer, results: /** @type {any[]} */ ([]) }));
for (let seed = 1; seed <= seeds; seed += 1)
  for (const peer of played) {
    peer.results.push(await play(peer, seed));
    console.log(`seed ${seed}, ${peer.name}: ${JSON.stringify(peer.results.at(-1))}`);
  }
const section = sectionOf(played);
console.log(section);
if (seeds >= WHOLE) {
  const page = readFileSync(EVIDENCE, 'utf8');
  const others = page.slice(0, page.length - examSectionOf(page).length);
  writeFileSync(EVIDENCE, `${others.trimEnd()}\n\n${section}`);
}

/** The scene of one seed, which goes on after a blow that the shop doesn't recover from. */
async function play(
  /** @type {typeof peers[number]} */ { folder, tool },
  /** @type {number} */ seed,
) {
  const runner = createRunner();
  try {
    const scene = await playScene(lessonOf(runner, { folder, tool, seed }), { goesOn: true });
    return resultOf(scene);
  } finally {
    await runner.close();
  }
}

/** What the scene needs of a lesson. */
function lessonOf(runner, /** @type {any} */ { folder, tool, seed }) {
  const place = join(rootFolder, folder);
  return {
    copy: () => copyProgram({ place, entry: join(place, 'server.js') }, runner.home),
    launch({ entry, env }) {
      if (!tool) return runner.start({ entry, env });
      const args = [tool, entry, env.NODE_CLUSTER_WORKERS];
      return runner.start({ entry: launcher, args, env, followsChildren: true });
    },
    ready: (program, workers) => program.ready(workers),
    seed: () => seed,
    pictured: () => {},
  };
}

/** @returns {{ asked: number, failed: number, orders: number, ordersLost: number, notBack: number, backSeconds: number[] }} */
function resultOf(scene) {
  const { blows, placed, stats = [] } = scene;
  const attempts = attemptsIn(scene);
  const acknowledged = placed.filter((one) => one.isAcknowledged).length;
  const known = Math.max(0, ...stats.filter(Boolean).map(({ orders }) => orders)); // of the worker that knows most
  const struck = blows.slice(0, -1); // the last is the calm at the end
  const back = struck.filter(({ isDone }) => isDone);
  return {
    asked: attempts.length,
    failed: attempts.filter(({ attempt }) => !isGood(attempt)).length,
    orders: acknowledged,
    ordersLost: Math.max(0, acknowledged - known),
    notBack: struck.length - back.length,
    backSeconds: back.map(({ fromMs, toMs }) => (toMs - fromMs) / 1_000),
  };
}

function sectionOf(peers) {
  const { cpu, cores, platform, node } = conditionsNow();
  const date = new Date().toISOString().slice(0, 10);
  const rows = peers.map(({ name, results }) => {
    const share = (/** @type {string} */ part, /** @type {string} */ of) =>
      results.map((one) => (1_000 * one[part]) / one[of]);
    const cells = [
      share('failed', 'asked'),
      share('ordersLost', 'orders'),
      results.flatMap(({ backSeconds }) => backSeconds),
      results.map(({ notBack }) => notBack),
    ];
    return `| ${[name, ...cells.map(cellOf)].join(' | ')} |`;
  });
  return [
    EXAM_TITLE,
    '',
    `Measured by \`npm run bench:exam\` on ${date}: ${cpu}, ${cores} cores, ${platform}, Node.js ${node}. The scene of lesson 12, with seeds 1`,
    `to ${seeds}: our solution, and the untouched shop under PM2 (reload by \`pm2 reload\`) and throng (no reload: a new start). The shop keeps its`,
    'orders in each process, and knows no drain: that is what a process manager finds. Square brackets hold the 95 % interval.',
    '',
    '|  | requests failed, of 1,000 | acknowledged orders missing at the end, of 1,000 | full capacity back after, s | blows without |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function cellOf(/** @type {number[]} */ values) {
  if (values.length < 2) return values.length === 0 ? 'never' : format(values[0]);
  const { value, low, high } = meanInterval(values);
  return low === high ? format(value) : `${format(value)} [${format(low)} to ${format(high)}]`;
}
