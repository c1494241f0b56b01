// Verifies the findings of `xray` on the small servers of planted.js: each fault is named first, and the healthy ones have
// none. On a busy machine xray prefers silence to guessing, so a missed fault gets another try.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { isLiving } from '../../lib/observe/processes.js';
import { reservePort } from '../../lib/observe/ports.js';
import { temporaryFolder } from '../../lib/observe/temporary-folder.js';
import { forkshop } from '../fixture-root.js';
import { faults, healthy } from './planted.js';

const TRIES = 3;

/** `2/3`: the second third of them, so that each part stays short. */
const [part, parts] = (process.env.FORKSHOP_PART ?? '1/1').split('/').map(Number);
const isInPart = (/** @type {unknown} */ _, /** @type {number} */ index) =>
  index % parts === part - 1;
const folder = mkdtempSync(join(temporaryFolder(), 'forkshop-planted-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string} name @param {{ source: string, flags?: string[] }} one */
async function xray(name, { source, flags = [] }) {
  const file = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`);
  if (source.includes('\n')) writeFileSync(file, source);
  const entry = source.includes('\n') ? file : join(rootFolder, source);
  const env = { PORT: String(await reservePort()), NODE_CLUSTER_WORKERS: '2' };
  const seconds = flags.includes('--seconds') ? [] : ['--seconds', '1'];
  const argv = ['xray', entry, '--json', ...seconds, ...flags];
  const { code, stdout, stderr } = await forkshop(rootFolder, argv, env);
  assert.equal(stderr, '');
  const seen = JSON.parse(stdout);
  const pids = (seen.facts?.processes ?? []).map((/** @type {any} */ { pid }) => pid);
  assert.deepEqual(pids.filter(isLiving), [], 'nothing is left');
  return { code, findings: seen.findings, undecided: seen.undecided };
}

test('the requested part exists', () => {
  assert.ok(Number.isInteger(part) && part >= 1 && part <= parts, process.env.FORKSHOP_PART);
});

test('the promised numbers of cases exist', () => {
  assert.ok(Object.keys(faults).length >= 32);
  assert.ok(Object.keys(healthy).length >= 13);
});

describe('planted faults and healthy servers', { concurrency: 2 }, () => {
  for (const [name, one] of Object.entries(faults).filter(isInPart))
    test(`${name}: ${one.finds}`, async () => {
      for (let tries = 1; ; tries += 1) {
        const { code, findings } = await xray(name, one);
        if (findings[0]?.id === one.finds && (one.says ?? /./).test(findings[0].says))
          return assert.equal(code, 1);
        assert.ok(tries < TRIES, JSON.stringify(findings, null, 2));
      }
    });
  for (const [name, one] of Object.entries(healthy).filter(isInPart))
    test(`${name}: nothing`, async () => {
      const { code, findings, undecided } = await xray(name, one);
      assert.deepEqual(findings, []);
      assert.equal(code, undecided.length > 0 ? 3 : 0); // a busy machine may leave it undecided
    });
});
