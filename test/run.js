// Runs the tests, each file in a separate process: `node test/run.js [WHAT] [OF IT] [ANSWER]`, or `npm test -- WHAT`.
//
//   (nothing)     lint, formatting, types, doctor, unit tests, the solution and the starter of every lesson
//   lesson-5      while you work on a lesson: the doctor, its solution and starter, an answer for each promise
//   lib/verdict   while you work on a room: its unit tests
//   all           everything below but field, and coverage
//   coverage      the unit tests, and which lines of lib/ they run: only CI counts them, since it takes longer
//   unit          test/*.test.js
//   proofs        test/proofs/lessons.test.js: for every lesson what `lesson-5` does for one; `answers`: without solutions and
//                 starters; `all` judges every answer whole, `3/10` the third tenth of them, `lesson-5` those of a lesson,
//                 `lesson-5 no-back-off` one
//   slow          the unit tests that start many programs: whole servers of xray, the end of every parent
//   experiments   `npm run try`; browser, crashes, hostile, kills, without-proc, peers, field: the folder or
//                 file of that name; `field planted 1/3` is one file, and the first third of it
//   longer        what CI proves besides `npm test`, side by side; `longer 7/30` with the seventh thirtieth of all answers
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findLesson, listLessons } from '../lib/lessons/catalog.js';
import { findTool } from '../lib/tools/tools.js';
import { lastSeconds, report, runJobs } from './jobs.js';
import { measureStartMs } from './limits.js';
import { environmentApart, namespace } from './namespace.js';

/** @typedef {import('./jobs.js').Job} Job */

/** These measure, or keep the machine busy: nothing runs beside them. */
const ALONE = ['acting', 'conditions', 'flood', 'vegeta'];

/** These signal many processes, so they run in a namespace, one at a time, or skip their tests. */
const APART = ['belonging', 'hostile', 'kills'];

/** All answers, judged whole, take half an hour; a browser's tests ten minutes; a file of unit tests two. */
const LIMIT_MS = 60 * 60_000;

const ROOMS = [
  ...['unit', 'slow', 'proofs', 'experiments', 'without-proc', 'browser', 'hostile', 'crashes'],
  ...['kills', 'peers', 'field'],
];
const VERSIONS = ['22', '24', '26']; // of Node, see matrix.js

const root = fileURLToPath(new URL('..', import.meta.url));
const [what, part, answer] = process.argv.slice(2);
const isAll = what === 'all';
const isCounted = what === 'coverage' || isAll || (what === undefined && Boolean(process.env.CI));
const sinceMs = performance.now();
process.env.FORKSHOP_START_MS ??= String(Math.round(measureStartMs()));
delete process.env.NODE_EXTRA_CA_CERTS; // read at each of thousands of starts, see environment.js

const [together, alone] = jobsFor(what);
if (together.length + alone.length === 0) {
  console.error(`Say what to test: ${ROOMS.join(', ')}, longer, all, lesson-5, lib/verdict.`);
  process.exit(2);
}
if (isCounted) rmSync(join(root, 'coverage'), { recursive: true, force: true });
const outcomes = await runJobs(together, availableParallelism() + 1); // a job that waits leaves its core to another
outcomes.push(...(await runJobs(alone, 1)));
if (isCounted) outcomes.push(...(await runJobs(coverage(), 1)));
report(outcomes, (performance.now() - sinceMs) / 1000);
process.exit(outcomes.every(({ isGood }) => isGood) ? 0 : 1);

/**
 * The jobs that run beside others, longest first, and the jobs that run alone.
 * @param {string} [wanted]
 * @returns {[Job[], Job[]]}
 */
function jobsFor(wanted) {
  const [quick, unitsAlone] = filesIn('unit');
  const [slow] = filesIn('slow');
  const units = isCounted ? [...quick, ...slow] : quick;
  const lessons = listLessons(root);
  if (wanted === undefined) {
    const proofs = lessons.map((lesson) => proofOf(lesson, 'ends', '1')); // something else has the other core
    return [longestFirst([...scripts(), ...units, ...proofs]), unitsAlone];
  }
  if (wanted === 'coverage') return [longestFirst(units), unitsAlone];
  if (wanted === 'longer') return longerJobs(['answers', ...(part ? [part] : [])]);
  if (wanted === 'all') {
    const [others, measured] = longerJobs(['all']);
    const beside = [...longestFirst([...scripts(), ...units]), ...others, ...allIn('crashes')];
    return [beside, [...unitsAlone, ...measured]];
  }
  if (/^(lesson-)?\d+/.test(wanted)) {
    const lesson = findLesson(lessons, wanted);
    return [[...scripts('doctor'), proofOf(lesson, 'quick')], []];
  }
  if (wanted.includes('/')) {
    const covers = (/** @type {any} */ { file }) => isAbout(file, wanted);
    return [longestFirst([...quick, ...slow].filter(covers)), unitsAlone.filter(covers)];
  }
  return ROOMS.includes(wanted) ? filesIn(wanted, part) : [[], []];
}

/**
 * What CI proves besides `npm test`. Experiments have the machine to themselves, since they measure; hostile programs, since they
 * burn it; the answers and `xray` without /proc, since on a busy machine nobody can tell what is missing from what is late.
 * @param {string[]} amounts  which answers, see test/proofs/lessons.test.js
 * @returns {[Job[], Job[]]}
 */
function longerJobs(amounts) {
  const proofs = amounts.map((amount) => {
    const alone = `npm run test:proofs -- ${amount}`;
    const job = jobOf('proofs/lessons.test.js', { FORKSHOP_PROOFS: amount });
    return { ...job, name: `proofs: ${amount}`, alone };
  });
  const versions = VERSIONS.map((version) => ({
    name: `Node ${version}`,
    command: [process.execPath, 'test/matrix.js', version],
    alone: `npm run test:matrix -- ${version}`,
  }));
  const [peers, measured] = findTool('vegeta') ? filesIn('peers') : [[], []];
  const files = ['browser', 'kills'].flatMap(allIn);
  return [
    [...files, ...versions, ...peers],
    [...['experiments', 'without-proc', 'hostile'].flatMap(allIn), ...proofs, ...measured],
  ];
}

/** By last time's seconds; the first time proofs take the longest, and a long file longer than a short one. @param {Job[]} jobs */
function longestFirst(jobs) {
  const last = lastSeconds();
  const guess = ({ name, file = '' }) =>
    name.startsWith('proofs') ? 60 : file ? statSync(join(root, 'test', file)).size / 2000 : 15;
  const weight = (/** @type {any} */ job) => last[job.name] ?? guess(job);
  return jobs.sort((a, b) => weight(b) - weight(a));
}

/** These read files, and start nothing. */
function scripts(...names) {
  const wanted = names.length > 0 ? names : ['lint', 'format:check', 'types', 'doctor'];
  return wanted.map((name) => {
    const alone = `npm run ${name}`;
    return { name, command: ['npm', 'run', '--silent', name], alone };
  });
}

/** Fails below a share of the lines of lib/ (.c8rc.json), and below 85 % of any file. */
function coverage() {
  return ['c8 report --check-coverage', 'c8 check-coverage --per-file --lines 85'].map((name) => ({
    name,
    command: ['npx', '--no-install', ...name.split(' ')],
    alone: 'npm run test:coverage',
  }));
}

/**
 * @param {import('../lib/lessons/catalog.js').Lesson} lesson
 * @param {'ends' | 'quick'} amount  see test/proofs/lessons.test.js
 * @param {string} [slots]  how many are judged at once
 */
function proofOf({ key, number }, amount, slots = '2') {
  const env = { FORKSHOP_PROOFS: amount, FORKSHOP_LESSON: key, FORKSHOP_SLOTS: slots };
  const alone = `npm test -- lesson-${number}`;
  const name = `proofs of lesson ${number}`;
  return { ...jobOf('proofs/lessons.test.js', env), name, alone, isUnsure: true };
}

/**
 * A job for each test file of a room.
 * @param {string} room
 * @param {string} [which]  of its tests
 * @returns {[Job[], Job[]]}  what may run beside others, and what may not
 */
function filesIn(room, which) {
  const isUnit = ['unit', 'slow'].includes(room);
  const counted = isCounted && isUnit && { NODE_V8_COVERAGE: join(root, 'coverage/tmp') };
  const env = { ...environmentOf(room, which), ...counted };
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && !/^fixtures[/\\]/.test(file))
    .filter((file) => roomOf(file) === room)
    .filter((file) => room !== 'field' || !which || nameOf(file) === which)
    .sort();
  const isBeside = (/** @type {string} */ file) =>
    (isUnit || ['browser', 'peers'].includes(room)) && ![...ALONE, ...APART].includes(nameOf(file));
  const jobs = (/** @type {string[]} */ some) => some.map((file) => jobOf(file, env));
  return [jobs(files.filter(isBeside)), jobs(files.filter((file) => !isBeside(file)))];
}

function allIn(/** @type {string} */ room) {
  return filesIn(room).flat();
}

function nameOf(/** @type {string} */ file) {
  return basename(file, '.test.js');
}

function roomOf(/** @type {string} */ file) {
  if (file === join('proofs', 'experiments.test.js')) return 'experiments';
  const [folder, rest] = file.split(/[/\\]/);
  return rest ? folder : nameOf(file) === 'hostile' ? 'hostile' : 'unit';
}

function environmentOf(
  /** @type {string} */ room,
  /** @type {string | undefined} */ which = 'quick',
) {
  if (room === 'field') return { FORKSHOP_PART: answer };
  const isAmount = /^(quick|answers|all|\d+\/\d+)$/.test(which);
  const some = isAmount
    ? { FORKSHOP_PROOFS: which }
    : { FORKSHOP_PROOFS: 'all', FORKSHOP_LESSON: which };
  return answer ? { ...some, FORKSHOP_ANSWER: answer } : some;
}

/** @param {string} file  below test/ @param {NodeJS.ProcessEnv} env @returns {Job & { file: string }} */
function jobOf(file, env) {
  const isBrowser = file.startsWith('browser'); // handles that a page leaves open keep no process alive
  const options = ['--test', '--test-reporter=spec', ...(isBrowser ? ['--test-force-exit'] : [])];
  const name = join('test', file);
  const command = [process.execPath, ...options, name];
  const job = { file, name, command, env, limitMs: LIMIT_MS, alone: `node --test ${name}` };
  return APART.includes(nameOf(file)) ? apart(job) : job;
}

/** In a separate namespace. @template {Job} T @param {T} job @returns {T} */
function apart(job) {
  const { prefix, missing } = namespace();
  if (missing) return job; // its tests are skipped, and say so
  const command = [...prefix, ...job.command];
  const alone = `npm run test:${nameOf(job.name)}`;
  return { ...job, command, alone, env: { ...job.env, ...environmentApart() } };
}

/**
 * Is a test file about this place: does it import it, and no room of lib/ more often?
 * @param {string} file
 * @param {string} place  a room, or a file in it
 */
function isAbout(file, place) {
  const text = readFileSync(join(root, 'test', file), 'utf8');
  const count = (/** @type {string} */ start) => text.split(`../${start}`).length - 1;
  const most = Math.max(...readdirSync(join(root, 'lib')).map((room) => count(`lib/${room}/`)));
  const room = place.split('/').slice(0, 2).join('/');
  return count(place) > 0 && count(`${room}/`) === most;
}
