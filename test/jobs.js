// Runs commands side by side and reports: a line for each when it exits, the whole output of a failed one at once, and at the
// end the slowest, with their times from last time.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SLOWEST = 10;
const root = fileURLToPath(new URL('..', import.meta.url));
const kept = join(root, '.forkshop/test-seconds.json');

/**
 * @typedef {object} Job
 * @property {string} name  what it proves
 * @property {string[]} command
 * @property {string} alone  the command line that runs it by itself
 * @property {NodeJS.ProcessEnv} [env]
 * @property {number} [limitMs]  a hanging job would keep the tests and CI from finishing
 * @property {boolean} [isUnsure]  beside others it may be undecided
 *
 * @typedef {Job & { isGood: boolean, seconds: number }} Outcome
 */

/**
 * Runs the jobs in their order, that many at a time. A failed job that may be undecided beside others, and in CI,
 * whose machine others may use, any job, gets a second try when the others are done.
 * @param {Job[]} jobs
 * @param {number} atOnce
 * @returns {Promise<Outcome[]>}
 */
export async function runJobs(jobs, atOnce) {
  const isShown = jobs.length === 1;
  const waiting = [...jobs];
  /** @type {Outcome[]} */
  const outcomes = [];
  const takeTurns = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift())
      outcomes.push(await runJob(job, isShown));
  };
  await Promise.all(Array.from({ length: atOnce }, takeTurns));
  const isTriedAgain = (/** @type {Outcome} */ { isGood, isUnsure }) =>
    !isGood && (isUnsure || process.env.CI);
  for (const first of outcomes.filter(isTriedAgain)) {
    console.log(`${first.name} failed at first`);
    Object.assign(first, await runJob(first, isShown));
  }
  return outcomes;
}

/** @param {Job} job @param {boolean} isShown  while it runs @returns {Promise<Outcome>} */
async function runJob(job, isShown) {
  const sinceMs = performance.now();
  const { isGood, output } = await run(job, isShown);
  const seconds = (performance.now() - sinceMs) / 1000;
  const told = `${job.name}  ${seconds.toFixed(1)} s`;
  if (isGood) console.log(`✔ ${told}${skippedIn(output)}${secondTriesIn(output)}`);
  else console.log(`${output.trimEnd()}\n✖ failed: ${told}\n  alone: ${job.alone}`);
  return { ...job, isGood, seconds };
}

/** @param {Job} job @param {boolean} isShown @returns {Promise<{ isGood: boolean, output: string }>} */
function run({ command: [file, ...args], env, limitMs }, isShown) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: root,
      env: { ...process.env, ...env },
      timeout: limitMs,
      stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && file === 'npm', // a script there
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ isGood: false, output: String(error) }));
    child.on('close', (code, signal) => {
      if (signal) output += `\nIt was stopped: ${signal}.`;
      resolve({ isGood: code === 0, output });
    });
  });
}

/** The report of node:test on skipped tests. @param {string} output */
function skippedIn(output) {
  const skipped = [...output.matchAll(/^ *﹣ (.*?) \([\d.]+ms\) # ?(.*)$/gm)];
  const [reason] = skipped.map(([, , text]) => text);
  return skipped.length > 0 ? `  (${skipped.length} skipped: ${reason})` : '';
}

/** What passed at a second try within the job, and why it failed at first. @param {string} output */
const secondTriesIn = (output) =>
  (output.match(/^.*failed at first.*$/gm) ?? []).map((line) => `\n  ${line.trim()}`).join('');

/** The ten slowest, and the sum. @param {Outcome[]} outcomes @param {number} seconds  that all took */
export function report(outcomes, seconds) {
  const before = lastSeconds();
  const taken = Object.fromEntries(outcomes.map((one) => [one.name, one.seconds]));
  const sorted = [...outcomes].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  if (outcomes.length > SLOWEST) {
    console.log('\nThe slowest:');
    for (const { name, seconds: now } of sorted) {
      const last = before[name] === undefined ? '' : `  last time ${before[name].toFixed(1)} s`;
      console.log(`  ${now.toFixed(1).padStart(6)} s  ${name}${last}`);
    }
  }
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, JSON.stringify({ ...before, ...taken }));
  const failed = outcomes.filter(({ isGood }) => !isGood);
  for (const { name, alone } of failed) console.log(`✖ failed: ${name}  alone: ${alone}`);
  const passed = outcomes.length - failed.length;
  console.log(`\n${passed} passed, ${failed.length} failed, in ${seconds.toFixed(0)} s`);
}

/**
 * Seconds that each took last time; {} the first time.
 * @returns {Record<string, number>}
 */
export function lastSeconds() {
  try {
    return JSON.parse(readFileSync(kept, 'utf8'));
  } catch {
    return {};
  }
}
