// Verifies the building blocks of checks, on the solution of lesson 5: episodes, rest, faults, which workers serve, a stop at
// work.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mapConcurrently } from '../lib/check/map-concurrently.js';
import {
  aliveIn,
  exitMoment,
  fewestServing,
  forkMoment,
  hasExited,
  hasListened,
  howItEnded,
  primaryExitMoment,
  servingIn,
} from '../lib/check/cluster.js';
import { episode, repeatUntil, stopUnderLoad } from '../lib/check/episode.js';
import { kill, whileFrozen } from '../lib/check/nemesis.js';
import { untilAtRest } from '../lib/check/at-rest.js';
import { findEntry } from '../lib/lessons/program-entry.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { createPrograms } from '../lib/check/programs.js';
import { createRunner } from '../lib/observe/runner.js';
import { Broken, Undecided } from '../lib/verdict/outcome.js';

test('a worker is killed, replaced, frozen; the program rests, and is asked to stop', async (t) => {
  const runner = createRunner();
  t.after(() => runner.close());
  const entry = join(rootFolder, 'solutions/05-crash-restart/server.js');
  const program = await runner.start({ entry, env: { NODE_CLUSTER_WORKERS: '2' } });
  assert.ok(await program.ready(2));
  await program.until((events) => servingIn(events).length === 2);
  const [victim] = servingIn(program.events);
  const isBack = (_, [pid]) =>
    hasExited(program.events, pid) && servingIn(program.events).length === 2;
  const round = await episode(program, 'SIGKILL', () => kill(program, [victim]), isBack);
  assert.deepEqual([round.isDone, round.exits.length, round.forks.length], [true, 1, 1]);
  assert.match(round.printed, /exited on SIGKILL, a crash/);
  assert.equal(howItEnded(round.exits[0]), 'SIGKILL');
  assert.equal(exitMoment(round.exits[0]).pid, victim);
  assert.match(forkMoment(round.forks[0], 'forked')?.says ?? '', /forked \(process \d+\)/);
  assert.equal(fewestServing(program.events, round.first), 1);
  assert.ok(hasListened(program.events, round.forks[0].workerPid));
  assert.equal(aliveIn(program.events).length, 3);
  assert.equal(await untilAtRest(program), false, 'nothing is done, and nothing more follows');
  const [frozen] = servingIn(program.events);
  assert.deepEqual(await whileFrozen(program, [frozen], async (pids) => pids), [frozen]);
  const stop = await stopUnderLoad(program, 'SIGTERM', { path: '/report', times: 2 });
  assert.deepEqual([stop.fate?.code, stop.lost, stop.left, stop.forksAfter], [0, [], [], []]);
  assert.match(primaryExitMoment(program)?.says ?? '', /exit code 0/);
});

test('an act is repeated until it shows something, up to its limit', async () => {
  const seen = /** @type {number[]} */ ([]);
  const act = async (/** @type {number} */ attempt) => (seen.push(attempt), attempt);
  assert.equal(await repeatUntil(5, act, (attempt) => attempt === 2), 2);
  assert.equal(await repeatUntil(3, act, () => false), 3);
  assert.deepEqual(seen, [1, 2, 1, 2, 3]);
});

test('as many run at once as there are cores, and results keep their order', async () => {
  assert.deepEqual(await mapConcurrently([3, 1, 2], async (one) => 2 * one), [6, 2, 4]);
});

test('a folder without its program says so', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forkshop-subject-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.throws(() => findEntry(folder), Broken);
  writeFileSync(join(folder, 'my-server.js'), 'listen();');
  assert.throws(() => findEntry(folder), Broken);
  assert.throws(() => findEntry(join(folder, 'none')), Broken);
  writeFileSync(join(folder, 'server.js'), '');
  assert.throws(() => findEntry(folder), Broken);
});

test("a deployed version that crashes is described by the learner's path; a starter that crashes is not the learner's fault", async (t) => {
  const runner = createRunner();
  t.after(() => runner.close());
  const root = mkdtempSync(join(tmpdir(), 'forkshop-programs-'));
  t.after(() => rmSync(root, { recursive: true }));
  const starter = join(root, 'checks/01-a/starter');
  const place = join(root, 'lessons/01-a');
  for (const folder of [starter, place]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(place, 'server.js'), 'setInterval(() => {}, 1e6);');
  writeFileSync(join(starter, 'server.js'), "throw new Error('no starter');");
  const programs = createPrograms({ root, key: '01-a', place, runner });
  const own = await programs.launch();
  const { entry } = programs.copy();
  writeFileSync(entry, "throw new Error('a bad version');");
  const deployed = await programs.launch({ entry });
  const { story } = await programs.ready(deployed).catch((error) => error);
  assert.match(JSON.stringify(story), /a bad version/);
  assert.ok(story.output.includes('lessons/01-a/server.js') && !story.output.includes(entry));
  const reference = await programs.launch({ isReference: true });
  await assert.rejects(programs.ready(reference), Undecided);
  assert.deepEqual(programs.ofLearner([0, 1, 2]), [own, deployed]);
  assert.equal(own.survivors().length, 1);
  await programs.stopAll([0]);
  assert.deepEqual(own.survivors(), []);
});
