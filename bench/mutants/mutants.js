// How many small changes of a solution its check finds: node bench/mutants/mutants.js [LESSON|all] [MOST] [--again FILE].
// Each mutant is judged until the first task that is not done. A survivor is either harmless, and listed in harmless.yml with
// the reason, or a hole in the check. It wants an idle machine, and takes some minutes a lesson; MOST takes a sample, and
// --again judges only the mutants that FILE lists, the output of an earlier run.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { runCheck } from '../../lib/check/run-check.js';
import { filesBelow, findLesson, listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { lessonPaths } from '../../lib/lessons/lesson-paths.js';
import { createRunner } from '../../lib/observe/runner.js';

const { mutantsOf } = await import('./operators.js').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('Install what it needs first: npm ci --prefix bench/mutants');
  process.exit(3);
});
const TRIES = 2;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'string' } },
});
const [name = 'all', most = 'Infinity'] = positionals;
const earlier = values.again && readFileSync(values.again, 'utf8');
const all = listLessons(rootFolder);
const harmless = parse(readFileSync(new URL('harmless.yml', import.meta.url), 'utf8')) ?? [];
const home = join(rootFolder, `.forkshop/mutants-${process.pid}`);
const runner = createRunner();

for (const { key, number } of name === 'all' ? all : [findLesson(all, name)]) {
  const listed = (await makeMutants(key)).filter((mutant) => isListed(key, mutant));
  const mutants = sample(listed, Number(most));
  const counts = { killed: 0, harmless: 0, survived: 0, undecided: 0 };
  for (const [at, mutant] of mutants.entries()) {
    process.stderr.write(`${at} of ${mutants.length}\r`);
    const change = changeOf(key, mutant);
    const fate = isHarmless(key, change) ? 'harmless' : await judge(key, mutant);
    counts[fate] += 1;
    if (['survived', 'undecided'].includes(fate))
      console.log(
        `${fate}: ${mutant.file}, line ${mutant.line}, ${mutant.operator}\n${show(change)}`,
      );
  }
  const told = mutants.length - counts.harmless;
  console.log(
    `lesson ${number}: ${mutants.length} mutants, ${counts.harmless} harmless; of the others ` +
      `${counts.killed} killed (${((100 * counts.killed) / told).toFixed(1)} %), ` +
      `${counts.survived} survived, ${counts.undecided} undecided`,
  );
}
await runner.close();
rmSync(home, { recursive: true, force: true });
process.exit();

/** Keeps the lines that a learner writes: lines that are in the starter as well are given. */
async function makeMutants(key) {
  const [folder, starter] = ['solution', 'starter'].map((room) =>
    join(rootFolder, lessonPaths(key)[room]),
  );
  const each = filesBelow(folder)
    .filter((file) => file.endsWith('.js'))
    .map((file) => mutantsOf(file, readFileSync(join(folder, file), 'utf8')));
  const given = new Set(filesBelow(starter).flatMap((file) => linesOf(join(starter, file))));
  const isGiven = (mutant) => changeOf(key, mutant).lines.every((line) => given.has(line));
  return (await Promise.all(each)).flat().filter((mutant) => !isGiven(mutant));
}

function linesOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => line.trim());
}

/** Has an earlier run listed it? */
function isListed(key, mutant) {
  return !earlier || earlier.includes(show(changeOf(key, mutant)));
}

/** Evenly spread over the files. */
function sample(mutants, count) {
  if (mutants.length <= count) return mutants;
  return Array.from(
    { length: count },
    (_, at) => mutants[Math.floor((at * mutants.length) / count)],
  );
}

/** @returns {Promise<'killed' | 'survived' | 'undecided'>} */
async function judge(key, { file, text }) {
  const folder = join(home, key);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  cpSync(join(rootFolder, lessonPaths(key).solution), folder, { recursive: true });
  writeFileSync(join(folder, file), text);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const options = { root: rootFolder, key, subject: folder, isQuick: true, runner };
    const { verdict } = await runCheck(options);
    if (verdict !== 'inconclusive') return verdict === 'failed' ? 'killed' : 'survived';
  }
  return 'undecided';
}

/** The lines that differ. */
function changeOf(key, { file, text }) {
  const before = readFileSync(join(rootFolder, lessonPaths(key).solution, file), 'utf8').split(
    '\n',
  );
  const after = text.split('\n');
  const same = before.findIndex((line, index) => line !== after[index]);
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - same &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end += 1;
  const cut = (lines) => lines.slice(same, lines.length - end).map((line) => line.trim());
  return { file, lines: cut(before), from: cut(before).join(' '), to: cut(after).join(' ') };
}

function isHarmless(key, { file, from, to }) {
  return harmless.some(
    (one) => one.lesson === key && one.file === file && one.from === from && one.to === to,
  );
}

function show({ from, to }) {
  return `  - ${from}\n  + ${to}`;
}
