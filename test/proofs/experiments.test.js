// Proves the explanations of `npm run try`: every experiment of every lesson is run, and its result is as explained.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { lessonPaths } from '../../lib/lessons/lesson-paths.js';
import { createLab } from '../../lib/check/lab.js';
import { Starved } from '../../lib/observe/cpu-time.js';
import { findTool } from '../../lib/tools/tools.js';
import { createSlots } from '../slots.js';

const AT_ONCE = 2;
const slots = createSlots(AT_ONCE);
const TRIES = 4; // an experiment may meet a machine that is too busy to show it
const wanted = process.env.FORKSHOP_LESSON;

for (const { key } of listLessons(rootFolder).filter((one) => !wanted || one.key === wanted)) {
  test(key, { concurrency: true }, async (t) => {
    const file = join(rootFolder, lessonPaths(key).experiments);
    assert.ok(existsSync(file), 'The lesson has no experiments.');
    /** @type {import('../../lib/check/lab.js').Experiment[]} */
    const experiments = (await import(pathToFileURL(file).href)).default;
    assert.ok(experiments.length > 0, 'The lesson has no experiments.');
    const names = experiments.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length, 'Two experiments have the same name.');
    await Promise.all(
      experiments.map((experiment) =>
        t.test(experiment.name, skipWithout(experiment), (one) => prove(experiment, one)),
      ),
    );
  });
}

const isInstalled = (/** @type {import('../../lib/tools/tools.js').Tool | undefined} */ needs) =>
  needs === undefined || findTool(needs) !== undefined;

/** An experiment whose tool is not installed is skipped, but never in CI. @param {import('../../lib/check/lab.js').Experiment} experiment */
const skipWithout = ({ needs }) => ({
  skip: !isInstalled(needs) && !process.env.CI && `${needs} is not installed`,
});

/**
 * Runs it once beside others, then alone.
 * @param {import('../../lib/check/lab.js').Experiment} experiment
 * @param {import('node:test').TestContext} t
 */
async function prove(experiment, t) {
  const { name, title, question, needs } = experiment;
  assert.ok(isInstalled(needs), `${needs} is not installed.`);
  assert.match(name, /^[a-z]+(-[a-z\d]+)*$/);
  assert.ok(title && question.endsWith('?'), 'It asks nothing before it shows something.');
  for (let tries = 1; ; tries += 1) {
    const { observed, because, asExpected } = await slots.take(tries === 1 ? 1 : AT_ONCE, () =>
      runOnce(experiment),
    );
    assert.ok(observed.length > 0 && because.length > 0, 'It explains nothing.');
    if (asExpected) return;
    const seen = [observed].flat().join('\n');
    if (tries === TRIES) assert.fail(`Seen:\n${seen}\nExplained: ${because}`);
    t.diagnostic(`not as expected: ${seen}`);
  }
}

/** @param {import('../../lib/check/lab.js').Experiment} experiment */
async function runOnce({ run }) {
  const lab = createLab(rootFolder, { isBrief: true });
  return run(lab)
    .catch(starved)
    .finally(async () => {
      assert.deepEqual(await lab.close(), [], 'These processes could not be killed.');
    });
}

/** An experiment that got no CPU time on a busy machine has shown nothing, and is tried again. */
function starved(/** @type {unknown} */ error) {
  if (!(error instanceof Starved)) throw error;
  return { observed: error.message, because: 'The machine was too busy.', asExpected: false };
}
