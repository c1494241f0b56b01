// Verifies that a system without /proc is good enough: with it hidden, and the system called macOS, the solutions pass, the
// starters break the promises in lesson.yml, and xray finds the same as on Linux, or says what it can't.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { findTool } from '../../lib/tools/tools.js';
import { limitMs } from '../limits.js';
import { Watched, until } from '../nothing-left.js';

const main = join(rootFolder, 'lib/cli/main.cjs');
const preload = fileURLToPath(new URL('hide-proc.cjs', import.meta.url));
const TRIES = 3; // a verdict may be undecided on a busy machine

/** @param {string[]} argv */
async function run(...argv) {
  const watched = new Watched([process.execPath, main, ...argv], {
    NODE_OPTIONS: `--require=${preload}`,
  });
  try {
    const end = await until(`an end of ${argv.join(' ')}`, () => watched.ended, limitMs(90));
    const nothing = async () => (await watched.left()).length === 0;
    await until('nothing is left', nothing).catch(() => {});
    assert.deepEqual(await watched.left(), [], 'This is left behind.');
    return /** @type {import('../nothing-left.js').Ended} */ (end);
  } finally {
    watched.cleanUp();
  }
}

/** @param {string} key @param {string[]} which */
async function check(key, ...which) {
  for (let tries = 1; ; tries += 1) {
    const { stdout, stderr } = await run('check', key, ...which, '--json', '--quick');
    assert.match(stdout, /^\{[^]*\}\n$/, stderr);
    const result = JSON.parse(stdout);
    assert.equal(result.fault, null);
    if (result.verdict !== 'inconclusive' || tries === TRIES) return result;
  }
}

/** @param {import('../../lib/check/run-check.js').CheckResult} result @param {string} verdict */
const idsOf = (result, verdict) =>
  result.promises.filter((one) => one.verdict === verdict).map(({ id }) => id);

const skip = process.platform !== 'linux' && 'It has no /proc to hide.';

describe('without /proc, and with the name of macOS,', { skip, concurrency: 2 }, () => {
  for (const { key, needs, starterFails } of listLessons(rootFolder)) {
    const missing = needs.filter((name) => !findTool(name)).join(', ');
    const options = { skip: missing !== '' && !process.env.CI && `${missing} is not installed` };
    test(`the solution of ${key} passes`, options, async () => {
      const result = await check(key, '--solution');
      assert.match(result.conditions.platform, /^darwin /);
      assert.deepEqual([result.verdict, idsOf(result, 'failed')], ['passed', []]);
    });
    test(`the starter of ${key} breaks ${starterFails.join(', ')}`, options, async () => {
      const result = await check(key, '--in', join(rootFolder, 'checks', key, 'starter'), '--all');
      const undecided = idsOf(result, 'inconclusive'); // on a busy machine, but not all
      const due = starterFails.filter((id) => !undecided.includes(id));
      assert.deepEqual([result.verdict, idsOf(result, 'failed').sort()], ['failed', due.sort()]);
    });
  }

  test('xray observes the solution of lesson 8', async () => {
    const server = join(rootFolder, 'solutions/08-graceful-reload/server.js');
    const { code, stdout, stderr } = await run('xray', '--reload', 'SIGHUP', '--stop', server);
    assert.equal(code, 0, stdout + stderr);
  });
});
