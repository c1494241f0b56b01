// Runs every test step, each also when one before it has failed, and tells in the end which failed: `npm test`, and
// `npm run test:all`, which judges every answer of every lesson whole, runs every experiment, and counts coverage. So does
// CI: the unit tests take longer then.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { measureStartMs } from './limits.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const isAll = process.argv[2] === 'all';

/** These read files, and measure nothing: they run beside each other, and each is shown as it ends. */
const beside = ['lint', 'format:check', 'types', 'doctor'];

const units = isAll || process.env.CI ? 'test:coverage' : 'test:unit';

/** These start programs, and some measure them: one after the other. */
const alone = isAll
  ? [units, 'test:proofs -- all', 'test:experiments', 'test:hostile', 'test:crashes', 'test:kills']
  : [units, 'test:proofs'];

/** In CI, whose machine others may use, unit tests have a second try, as each proof has by itself. */
const hasSecondTry = (/** @type {string} */ name) => name === units && process.env.CI;

/** @typedef {{ name: string, isGood: boolean, seconds: number }} Outcome */

/** @type {Outcome[]} */
const outcomes = [];
const times = isAll ? { FORKSHOP_TIMES: '4' } : {}; // what chance decides is tried so often
const env = { ...process.env, ...times, FORKSHOP_START_MS: String(Math.round(measureStartMs())) };

const waiting = [...beside];
const takeTurns = async () => {
  for (let name = waiting.shift(); name; name = waiting.shift()) await step(name, false);
};
await Promise.all(Array.from({ length: availableParallelism() }, takeTurns));
for (const name of alone) await step(name, true);
summarise();

/**
 * @param {string} name  of the script, with its arguments
 * @param {boolean} isShown  while it runs
 */
async function step(name, isShown) {
  const sinceMs = performance.now();
  if (isShown) console.log(`== npm run ${name}`);
  let { isGood, output } = await run(name.split(' '), isShown);
  if (!isGood && hasSecondTry(name)) {
    console.log(`== npm run ${name} failed at first`);
    ({ isGood, output } = await run(name.split(' '), isShown));
  }
  const seconds = (performance.now() - sinceMs) / 1000;
  outcomes.push({ name, isGood, seconds });
  const told = `== npm run ${name} ${isGood ? 'passed' : 'failed'}, in ${seconds.toFixed(1)} s`;
  console.log(isShown ? told : `${told}\n${output}`.trimEnd());
}

/**
 * @param {string[]} script
 * @param {boolean} isShown
 * @returns {Promise<{ isGood: boolean, output: string }>}
 */
function run(script, isShown) {
  return new Promise((resolve) => {
    /** @type {import('node:child_process').SpawnOptions} */
    const options = {
      cwd: root,
      env,
      stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32', // npm is a script there
    };
    const child = spawn('npm', ['run', '--silent', ...script], options);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ isGood: false, output: String(error) }));
    child.on('close', (code) => resolve({ isGood: code === 0, output }));
  });
}

function summarise() {
  const failed = outcomes.filter(({ isGood }) => !isGood);
  console.log('');
  for (const { name, isGood, seconds } of outcomes)
    console.log(`${isGood ? '✔ passed' : '✖ failed'}  ${name}  ${seconds.toFixed(1)} s`);
  console.log(`\n${outcomes.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
