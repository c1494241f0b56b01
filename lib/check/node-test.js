/** A check under `node --test`: the lesson is a test, each promise a subtest, each measurement a diagnostic. */
import { join } from 'node:path';
import { test } from 'node:test';
import { rootFolder } from '../lessons/catalog.js';
import { createRunner } from '../observe/runner.js';
import { runSession } from './session.js';
import { asText } from '../verdict/outcome.js';

const root = process.env.FORKSHOP_ROOT || rootFolder;
const PARENT_LOOK_MS = 200;

/** @param {import('./session.js').Definition} definition */
export function runUnderNodeTest(definition) {
  endWithParent();
  const { key } = definition;
  test(key, async (t) => {
    const runner = createRunner();
    const place = process.env.FORKSHOP_SUBJECT || join(root, 'lessons', key);
    try {
      const options = { root, place, runner, isThrough: true };
      await runSession(definition, options, (record) => report(t, record));
    } finally {
      await runner.close();
    }
  });
}

async function report(t, { promise, measurement, chart, conditions }) {
  if (promise) await t.test(promise.sentence, (subtest) => reportPromise(subtest, promise));
  if (measurement) t.diagnostic(asWords(measurement));
  if (chart) t.diagnostic(chartAsWords(chart));
  if (conditions)
    t.diagnostic(`on ${conditions.cores} cores, Node ${conditions.node}, ${conditions.platform}`);
}

function reportPromise(subtest, record) {
  if (record.verdict === 'skipped') subtest.skip('not reached');
  else if (record.verdict === 'inconclusive') subtest.skip(`inconclusive\n${asText(record)}`);
  else if (record.verdict === 'failed') throw new Error(asText(record));
}

function asWords({ label, value, low, high, ceiling, unit }) {
  const interval =
    low === undefined ? '' : ` (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)})`;
  const above = ceiling === undefined ? '' : `, ceiling ${ceiling.toFixed(2)}`;
  return `${label}: ${value.toFixed(2)} ${unit}${interval}${above}`;
}

function chartAsWords({ label, rows, unit }) {
  return `${label}: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')} ${unit}`;
}

/** Exits if the command that started this test is killed; the keeper kills the programs. */
function endWithParent() {
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(1), PARENT_LOOK_MS).unref();
}
