// Verifies that check, keeper, or both, may be killed at any moment: after the next start no process of theirs is left, and no
// file. Each time what is killed lives on until a moment that is chosen at random; the moment decides nothing.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signal } from '../../lib/observe/processes.js';
import { limitMs } from '../limits.js';
import { onlyApart } from '../namespace.js';
import { Watched, until } from '../nothing-left.js';

const TIMES = Number(process.env.FORKSHOP_TIMES ?? 4);
const LATEST_MS = 3_000;
const lessons = ['lesson-2', 'lesson-5', 'lesson-6', 'lesson-9', 'lesson-10'];

/** Which processes of a check are killed. @type {Record<string, (watched: Watched) => number[]>} */
const victims = {
  check: ({ pid }) => [pid],
  keeper: (watched) => watched.running('keeper.js').map(({ pid }) => pid),
  both: (watched) => [watched.pid, ...victims.keeper(watched)],
};

describe('killed at a random moment, the next start leaves nothing of it:', onlyApart, () => {
  for (const lesson of lessons)
    for (const [who, choose] of Object.entries(victims))
      for (let time = 1; time <= TIMES; time += 1)
        test(`${who}, ${lesson} (${time})`, async (t) => {
          const command = ['lib/cli/main.cjs', 'check', lesson, '--solution', '--json', '--quick'];
          const watched = new Watched([process.execPath, ...command]);
          t.after(() => watched.cleanUp());
          const atMs = Math.random() * LATEST_MS;
          t.diagnostic(`after ${Math.round(atMs)} ms`);
          await sleep(atMs);
          const all = watched.look();
          const pids = choose(watched);
          for (const one of all) if (pids.includes(one.pid)) signal(one, 'SIGKILL');
          await until('the check is over', () => watched.ended, limitMs(120));
          await watched.startNext();
          /** @type {string[]} */
          let left = [];
          const look = async () => (left = await watched.left()).length === 0;
          await until('nothing is left', look).catch(() => assert.deepEqual(left, []));
        });
});
