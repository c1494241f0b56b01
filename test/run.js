// Runs the tests: `node test/run.js unit`, `proofs` (test/proofs/), `experiments` (that of them which proves what
// `npm run try` tells), `browser` (test/browser/), `crashes` (test/crashes/: solutions that exit in the middle of a check), `hostile`, `kills`
// (test/kills/: of checks and npm start at random moments), `peers` (test/peers/: ours beside other tools) or `field` (test/field/:
// xray on other people's applications, and on many small ones with a fault). `field planted` runs one file of it, and
// `field planted 1/3` the first third of that. `proofs all` judges
// every right and wrong answer whole, `proofs 3/10` the third tenth of them, `proofs lesson-5` those of a lesson, and
// `proofs lesson-5 no-back-off` that one.
// A list of its own, because no glob or folder argument of `node --test` works on Node 20, 22 and 24 alike.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from '../lib/common/child.js';
import { measureStartMs } from './limits.js';
import { environmentApart, namespace } from './namespace.js';

/** These measure, or keep the machine busy: one file at a time, with nothing beside it. */
const ALONE = ['acting', 'conditions', 'flood'];

/** These signal many processes, or run what does: in a namespace of their own, one at a time, or else they skip their tests. */
const APART = ['belonging', 'hostile', 'kills'];

/**
 * What hangs would keep the tests from ending, and CI with them: a browser, whose tests take four to ten minutes in all, or
 * a unit test, whose file takes two at the most. What a browser's tests leave open when they are over does not
 * (--test-force-exit).
 */
const LIMIT_MS = 25 * 60_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = [
  ...['unit', 'proofs', 'experiments', 'browser', 'hostile', 'crashes', 'kills', 'peers', 'field'],
];
const [wanted, what = 'quick', answer] = process.argv.slice(2);
const isAmount = /^(quick|all|\d+\/\d+)$/.test(what);
if (!rooms.includes(wanted)) {
  console.error(`Say which tests to run: node test/run.js ${rooms.join(', ')}.`);
  process.exit(2);
}

const nameOf = (/** @type {string} */ file) => basename(file, '.test.js');
const roomOf = (/** @type {string} */ file) => {
  if (['experiments', 'hostile'].includes(nameOf(file))) return nameOf(file);
  return /^(proofs|browser|crashes|kills|peers|field)\b/.exec(file)?.[1] ?? 'unit';
};

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && !/^fixtures[/\\]/.test(file))
  .filter((file) => roomOf(file) === wanted)
  .filter((file) => wanted !== 'field' || !process.argv[3] || nameOf(file) === what)
  .sort();
if (files.length === 0) {
  console.error(`There are no ${wanted} in test/: a run that proves nothing is an error.`);
  process.exit(1);
}

const isAlone = (/** @type {string} */ file) => wanted !== 'unit' || ALONE.includes(nameOf(file));
const isApart = (/** @type {string} */ file) => APART.includes(nameOf(file));
const apart = files.filter(isApart);
const together = files.filter((file) => !isApart(file) && !isAlone(file));
const oneByOne = files.filter((file) => !isApart(file) && isAlone(file));
process.env.FORKSHOP_START_MS ??= String(Math.round(measureStartMs()));
/** @type {NodeJS.ProcessEnv} */
const env = { ...process.env };
delete env.NODE_EXTRA_CA_CERTS; // read at each of thousands of starts, see environment.js
if (wanted === 'field') env.FORKSHOP_PART = answer;
else if (isAmount) env.FORKSHOP_PROOFS = what;
else Object.assign(env, { FORKSHOP_PROOFS: 'all', FORKSHOP_LESSON: what });
if (answer && wanted !== 'field') env.FORKSHOP_ANSWER = answer;

/** Each part is run, also when one before it has failed. */
const areGood = [run(together, availableParallelism() + 1), run(oneByOne, 1), runApart(apart)];
process.exit(areGood.every(Boolean) ? 0 : 1);

function runApart(/** @type {string[]} */ some) {
  if (some.length === 0) return true;
  const { prefix, missing } = namespace();
  if (missing) console.error(`Skipped: ${some.join(', ')}. ${missing}`);
  else Object.assign(env, environmentApart());
  return run(some, 1, prefix);
}

/** @param {string[]} some @param {number} atOnce @param {string[]} [prefix] @returns {boolean} did all pass? */
function run(some, atOnce, prefix = []) {
  if (some.length === 0) return true;
  const paths = some.map((file) => join('test', file));
  const isBrowser = wanted === 'browser';
  const options = ['--test', `--test-concurrency=${atOnce}`, '--test-reporter=spec'];
  if (isBrowser) options.push('--test-force-exit');
  if (wanted === 'unit') options.push(`--test-timeout=${LIMIT_MS}`); // for each file
  const [command, ...args] = [...prefix, process.execPath, ...options, ...paths];
  const child = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env,
    timeout: isBrowser ? LIMIT_MS : undefined,
  });
  const end = child.error?.message ?? child.signal; // of its limit it makes an exit code
  if (end) console.error(`The tests were ended: ${end}.`);
  return child.status === 0;
}
