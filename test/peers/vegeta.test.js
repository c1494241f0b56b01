// Proves that our open loop reports what vegeta reports, on the same server at the same rate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWith, differencesOf } from '../../bench/peer.js';
import { findTool } from '../../lib/tools/tools.js';

const TRIES = 3; // a machine may be busy with other things
const LATE_MS = 10;

const vegeta = findTool('vegeta');
const skip = !vegeta && !process.env.CI && 'vegeta is not installed';

test('throughput, p50 and p90 equal those of vegeta', { skip }, async (t) => {
  assert.ok(vegeta, 'vegeta is not installed.');
  for (let tries = 1; ; tries += 1) {
    const both = await compareWith(vegeta, { rounds: 1, durationMs: 4_000 });
    const differences = differencesOf(both);
    const lateMs = Math.max(...both.ours.map((figures) => figures.lateMs ?? 0));
    const words = differences
      .map(({ name, ours, theirs }) => `${name} ${ours.toFixed(2)}, vegeta ${theirs.toFixed(2)}`)
      .join('; ');
    t.diagnostic(`${words}; sent late by up to ${lateMs.toFixed(1)} ms`);
    if (differences.every(({ isNear }) => isNear) && lateMs < LATE_MS) return;
    assert.ok(tries < TRIES, words);
  }
});
