// Proves every lesson's solution on other Node versions: `npm run test:matrix` (or `node test/matrix.js 22 26`). The versions
// are installed from the npm package `node` into a temporary folder. The check judges, we only ask for its verdict.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limitMs } from './limits.js';
import { createSlots } from './slots.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26'];
const AT_ONCE = 2;
const slots = createSlots(AT_ONCE);

/**
 * @typedef {{ code: number | string | null, stdout: string, stderr: string }} Ended
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, timeoutMs: number }} options
 * @returns {Promise<Ended>}
 */
function run(file, args, { env = process.env, timeoutMs }) {
  return new Promise((resolve) => {
    const limits = { timeout: timeoutMs, killSignal: /** @type {const} */ ('SIGKILL') };
    const options = { cwd: root, env, ...limits, maxBuffer: 64 * 2 ** 20 };
    const child = execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal ?? 1) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Hides addresses, which show where this machine installs from. @param {string} text */
const withoutAddresses = (text) => text.replace(/\bhttps?:\/\/\S+/g, '<address>');

/** @param {number} since */
const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);

/** @param {string} version @param {string} home @returns {Promise<string>} the path of its binary */
async function install(version, home) {
  const folder = join(home, `node-${version}`);
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['install', '--prefix', folder, ...quiet, `node@${version}`];
  const { code, stdout, stderr } = await run('npm', args, { timeoutMs: limitMs(180) });
  const binary = join(folder, 'node_modules/node/bin/node');
  const says = await run(binary, ['--version'], { timeoutMs: limitMs(5) });
  if (code === 0 && says.stdout.startsWith(`v${version}.`)) return binary;
  throw new Error(
    `Node ${version} could not be installed (npm: ${code}). npm must be allowed to run the install ` +
      `script of the package "node".\n${withoutAddresses(stdout + stderr)}`,
  );
}

/**
 * @param {string} binary
 * @param {string} lesson
 * @param {string} home
 * @returns {Promise<{ verdict: string, detail: string }>}
 */
async function judge(binary, lesson, home) {
  const env = {
    ...process.env,
    FORKSHOP_HOME: join(home, 'state'),
    PATH: `${dirname(binary)}${delimiter}${process.env.PATH}`,
  };
  const args = ['lib/cli/main.cjs', 'check', lesson, '--solution', '--json', '--quick'];
  const { code, stdout, stderr } = await run(binary, args, { env, timeoutMs: limitMs(60) });
  try {
    const { verdict, promises, fault, output } = JSON.parse(stdout);
    const wrong = promises.filter((/** @type {any} */ promise) => promise.verdict !== 'passed');
    const stories = wrong.map((/** @type {any} */ { id, got }) => `${id}: ${got}`);
    return { verdict, detail: [fault ?? '', ...stories, output].join('\n').trim() };
  } catch {
    return { verdict: `no verdict (exit ${code})`, detail: `${stdout}\n${stderr}` };
  }
}

/**
 * Runs again, with the machine to itself, if the machine was too busy to judge; in CI, on a shared machine, also once
 * after any other unexpected verdict.
 * @param {string} version @param {string} binary @param {string} lesson @param {string} home
 */
async function prove(version, binary, lesson, home) {
  const once = () => judge(binary, lesson, home);
  const isUnsure = (/** @type {{ verdict: string }} */ { verdict }) => verdict === 'inconclusive';
  const told = await slots.takeUntilSure(1, once, isUnsure);
  if (told.verdict === 'passed' || !process.env.CI) return told;
  console.log(`Node ${version}, ${lesson} failed at first: ${withoutAddresses(told.detail)}`);
  return slots.take(AT_ONCE, once);
}

/** @param {string} home @returns {Promise<number>} how many proofs failed */
async function matrix(home) {
  const lessons = readdirSync(join(root, 'lessons'))
    .filter((name) => /^\d\d-/.test(name))
    .map((key) => `lesson-${Number(key.slice(0, 2))}`);
  if (lessons.length === 0) throw new Error('There is no lesson to prove.');
  let failed = 0;
  for (const version of versions) {
    const installing = performance.now();
    const binary = await install(version, home);
    console.log(`Node ${version} installed in ${seconds(installing)} s`);
    const since = performance.now();
    const proveOne = async (/** @type {string} */ lesson) => {
      const { verdict, detail } = await prove(version, binary, lesson, home);
      console.log(`Node ${version}, ${lesson}: ${verdict}`);
      if (verdict === 'passed') return;
      failed += 1;
      console.log(withoutAddresses(detail));
    };
    await Promise.all(lessons.map(proveOne));
    console.log(`Node ${version}: all lessons in ${seconds(since)} s`);
  }
  return failed;
}

const home = mkdtempSync(join(tmpdir(), 'forkshop-matrix-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
try {
  const failed = await matrix(home);
  if (failed > 0) console.error(`${failed} proofs failed.`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
