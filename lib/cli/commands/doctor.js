import { availableParallelism, cpus, release } from 'node:os';
import { lessonKeys } from '../../lessons/catalog.js';
import { compareRooms } from '../../lessons/compare-rooms.js';
import { createStyle } from '../../verdict/style.js';
import { parse } from '../args.js';

/** @typedef {import('../../lessons/compare-rooms.js').Problem} Problem */

/**
 * `doctor [--json]`: compares the parts of all lessons; exit code 1 if they don't fit. JSON: { ok, lessons, problems, environment }.
 * @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const { values } = parse(argv, { json: { type: 'boolean' } }, io.env, 0);
  const problems = await compareRooms(io.root);
  const ok = problems.length === 0;
  const lessons = lessonKeys(io.root);
  const environment = describeEnvironment(io.env);
  if (values.json) {
    io.stdout.write(`${JSON.stringify({ ok, lessons, problems, environment }, null, 2)}\n`);
  } else {
    io.stdout.write(asText(problems, lessons.length, environment, createStyle(io.stdout, io.env)));
  }
  return ok ? 0 : 1;
}

function describeEnvironment(/** @type {Record<string, string | undefined>} */ env) {
  const npm = /\bnpm\/(\S+)/.exec(env.npm_config_user_agent ?? '')?.[1];
  return {
    node: process.versions.node,
    npm: npm ?? 'unknown, since npm did not start this command',
    usableCores: availableParallelism(),
    cores: cpus().length,
    system: `${process.platform} ${process.arch} ${release()}`,
  };
}

/**
 * @param {Problem[]} problems @param {number} lessons @param {ReturnType<typeof describeEnvironment>} environment
 * @param {import('../../verdict/style.js').Style} style
 */
function asText(problems, lessons, { node, npm, usableCores, cores, system }, style) {
  const found = problems.map(
    ({ where, problem, mend }) => `${style.red(where)}\n  ${problem}\n  To fix it: ${mend}\n\n`,
  );
  const verdict = problems.length
    ? style.red(`Compared ${lessons} lessons; problems found: ${problems.length}.`)
    : style.green(`Compared ${lessons} lessons; every part is there and fits.`);
  return (
    `${found.join('')}${verdict}\n` +
    `Node.js ${node}, npm ${npm}, ${usableCores} of ${cores} cores usable, ${system}\n`
  );
}
