// Verifies the faults of lib/check/nemesis.js on our own shop: what each does to it, and when its capacity counts as back.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDraw } from '../lib/check/draw.js';
import { deploy, deployBad, freezeOne, killInDeploy, killOne } from '../lib/check/nemesis.js';
import { calm, deathsOf, strike } from '../lib/check/strike.js';
import { servingIn } from '../lib/check/cluster.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { copyProgram } from '../lib/observe/program-copy.js';
import { createRunner } from '../lib/observe/runner.js';

const KEY = '12-everything-at-once';
const WORKERS = 2;
const draw = createDraw(1);

/** @param {string} folder @param {(program: any, put: (text: string) => void) => Promise<void>} body */
async function withShop(folder, body) {
  const runner = createRunner();
  try {
    const place = join(rootFolder, folder);
    const copy = copyProgram({ place, entry: join(place, 'server.js') }, runner.home);
    const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
    const program = await runner.start({ entry: copy.entry, env });
    assert.ok(await program.ready(1), program.output());
    await body(program, (text) => copy.write('page.js', text));
  } finally {
    await runner.close();
  }
}

const page = "export const version = '2'; export const renderPage = () => '';";

test('each fault strikes, and our shop has its capacity back', async () => {
  await withShop(`solutions/${KEY}`, async (program, put) => {
    await program.until((/** @type {any} */ events) => servingIn(events).length === WORKERS);
    const good = () => put(page);
    const bad = () => put('throw new Error()');
    const blows = [];
    for (const create of [
      () => killOne(program, draw, WORKERS),
      () => freezeOne(program, draw, WORKERS, 100),
      () => deploy(program, WORKERS, good),
      () => killInDeploy(program, draw, WORKERS, good, 'old'),
      () => killInDeploy(program, draw, WORKERS, good, 'new'),
      () => deployBad(program, WORKERS, { bad, good }),
      () => calm(program, WORKERS),
    ]) {
      const blow = await strike(program, create());
      assert.ok(blow.isDone, `${blow.how}: ${program.output()}`);
      assert.equal(blow.serving.length, WORKERS, blow.how);
      blows.push(blow);
    }
    const [killed, frozen, deployed, oldKilled, newKilled, refused] = blows;
    assert.deepEqual(deathsOf(blows).map(({ pid }) => pid), [killed, oldKilled, newKilled].flatMap(({ acted }) => acted)); // prettier-ignore
    assert.equal(killed.exits[0].signal, 'SIGKILL');
    assert.deepEqual(frozen.serving, killed.serving);
    assert.ok(deployed.old.every((pid) => !deployed.serving.includes(pid)));
    assert.ok(oldKilled.old.includes(oldKilled.acted[0]));
    assert.ok(!newKilled.old.includes(newKilled.acted[0]));
    assert.deepEqual(refused.serving, newKilled.serving);
  });
});

test('a shop of one process is its own worker: killed, it has no capacity to come back', async () => {
  await withShop(`checks/${KEY}/starter`, async (program) => {
    const blow = await strike(program, killOne(program, draw, WORKERS));
    assert.equal(blow.isDone, false);
    assert.equal(blow.fate?.signal, 'SIGKILL');
  });
});
