// What the checks cost: node bench/cost.js [TIMES] [LESSON] [again]. For each lesson how long a learner waits for the first ✖
// after saving the starter, and for the verdict on the solution, with its CPU time and process starts; with `again`, how long
// until the fault of each wrong answer is reported when it also failed last time. As under `npm start`, the check is loaded
// and the keeper waits. Each figure is also given in units of C: the time that lesson 2's solution takes on this machine
// until its four workers listen. It wants an idle machine: CPU time and starts are the whole machine's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAnswer } from '../lib/lessons/answer-programs.js';
import { answersOf } from '../lib/lessons/answers.js';
import { findLesson, listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { runCheck } from '../lib/check/run-check.js';
import { quantile } from '../lib/measure/stats.js';
import { createRunner } from '../lib/observe/runner.js';

const TICK_S = 0.01; // sysconf(_SC_CLK_TCK) is 100 on every current Linux
const args = process.argv.slice(2);
const isAgain = args.includes('again');
const [times = '3', name] = args.filter((one) => one !== 'again');
const all = listLessons(rootFolder);
const lessons = name && name !== 'all' ? [findLesson(all, name)] : all;
const median = (/** @type {number[]} */ values) => quantile(values, 0.5);
const runner = createRunner();
const unit = await measureUnit();
const inUnits = (/** @type {number} */ seconds) =>
  `${seconds.toFixed(2)} s = ${(seconds / unit).toFixed(1)} C`.padStart(17);
console.log(`C = ${unit.toFixed(2)} s on Node ${process.versions.node}`);
await (isAgain ? tellFaultsAgain() : tellCosts());
await runner.close();
process.exit();

/** C, in seconds: the median of five starts, with the user's extra certificates, which Node reads at each start. */
async function measureUnit() {
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const env = { NODE_CLUSTER_WORKERS: '4', ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }) };
  const entry = join(rootFolder, 'solutions/02-cluster-fork/server.js');
  const seconds = [];
  for (let count = 0; count < 6; count += 1) {
    const since = performance.now();
    const program = await runner.start({ entry, env });
    await program.ready(4);
    if (count > 0) seconds.push((performance.now() - since) / 1000);
    await program.stop();
  }
  await runner.clear();
  return median(seconds);
}

async function tellCosts() {
  console.log(`medians of ${times}`);
  console.log(
    'lesson   first ✖, starter   passing check      its CPU            started  half interval',
  );
  const sums = { firstS: /** @type {number[]} */ ([]), wholeS: 0, cpuS: 0 };
  for (const { key, number } of lessons) {
    await costOf(key, join(rootFolder, 'checks', key, 'starter')); // loads the check
    const starter = await repeat(key, join(rootFolder, 'checks', key, 'starter'));
    const solution = await repeat(key, join(rootFolder, 'solutions', key));
    const odd = solution.verdicts.filter((verdict) => verdict !== 'passed');
    sums.firstS.push(starter.firstS);
    sums.wholeS += solution.wholeS;
    sums.cpuS += solution.cpuS;
    const cells = [starter.firstS, solution.wholeS, solution.cpuS].map(inUnits).join('  ');
    const started = String(solution.started).padStart(6);
    console.log(
      `${String(number).padStart(6)}  ${cells}  ${started}  ${solution.exact} ${odd.join(' ')}`,
    );
  }
  const cells = [median(sums.firstS), sums.wholeS, sums.cpuS].map(inUnits).join('  ');
  console.log(`   all  ${cells}  (median, sum, sum)`);
}

/** For every wrong answer: how long until its fault is reported again. */
async function tellFaultsAgain() {
  const waits = /** @type {number[]} */ ([]);
  for (const { key, number } of lessons) {
    const mine = /** @type {{ seconds: number, name: string, first: string[] }[]} */ ([]);
    for (const answer of answersOf(rootFolder, key).filter(({ isRight }) => !isRight)) {
      const { name, breaks: first } = answer;
      const place = makeAnswer(rootFolder, key, answer);
      const { firstS, verdict } = await costOf(key, place, first);
      if (verdict !== 'failed') console.log(`  ${key}/${name}: ${verdict}`);
      else mine.push({ seconds: firstS, name, first });
    }
    mine.sort((a, b) => b.seconds - a.seconds);
    const seconds = mine.map((one) => one.seconds);
    waits.push(...seconds);
    const slowest = mine
      .slice(0, 3)
      .map((one) => `${one.name} ${one.first} ${one.seconds.toFixed(1)} s`);
    console.log(
      `${String(number).padStart(6)}  ${mine.length} wrong answers: median ${inUnits(median(seconds))}, ` +
        `90 % ${inUnits(quantile(seconds, 0.9))}; ${slowest.join(', ')}`,
    );
  }
  console.log(
    `   all  ${waits.length}: median ${inUnits(median(waits))}, 90 % ${inUnits(quantile(waits, 0.9))}`,
  );
}

async function repeat(key, subject) {
  const costs = [];
  for (let count = 0; count < Number(times); count += 1) costs.push(await costOf(key, subject));
  const of = (/** @type {'firstS' | 'wholeS' | 'cpuS' | 'started'} */ field) =>
    median(costs.map((one) => one[field]));
  return {
    firstS: of('firstS'),
    wholeS: of('wholeS'),
    cpuS: of('cpuS'),
    started: of('started'),
    exact: costs[0].exact,
    verdicts: costs.map(({ verdict }) => verdict),
  };
}

/** One check: the times of its first ✖ and its verdict, and its cost. */
async function costOf(key, subject, first = /** @type {string[]} */ ([])) {
  const before = readCosts();
  const since = performance.now();
  let firstS = NaN;
  const { verdict, measurements } = await runCheck({
    ...{ root: rootFolder, key, subject, runner, first },
    onPromise({ promise }) {
      if (promise.verdict === 'failed' && Number.isNaN(firstS))
        firstS = (performance.now() - since) / 1000;
    },
  });
  const after = readCosts();
  return {
    verdict,
    firstS,
    wholeS: (performance.now() - since) / 1000,
    cpuS: after.cpuS - before.cpuS,
    started: after.started - before.started,
    exact: measurements.flatMap((one) => halfOf(one)).join(' '),
  };
}

/** @param {import('../lib/verdict/terminal.js').Measurement} measurement */
function halfOf({ name: what, value, low, high }) {
  if (low === undefined || high === undefined) return [];
  return [`${what} ${((100 * (high - low)) / 2 / value).toFixed(0)} %`];
}

/** CPU seconds, and processes and threads started, of the whole machine since it was booted: see proc(5). */
function readCosts() {
  const text = readFileSync('/proc/stat', 'utf8');
  const [user, nice, system, , , irq, softirq] = text
    .split('\n', 1)[0]
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return {
    cpuS: (user + nice + system + irq + softirq) * TICK_S,
    started: Number(/^processes (\d+)/m.exec(text)?.[1]),
  };
}
