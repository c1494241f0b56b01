// Verifies `xray` on ten third-party applications, each started as its README says: it understands and stops them, its report
// is true, and it leaves nothing. `npm run test:field` installs their packages first.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { field, here } from '../../bench/peers/field.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { isLiving } from '../../lib/observe/processes.js';
import { reservePort } from '../../lib/observe/ports.js';
import { temporaryFolder } from '../../lib/observe/temporary-folder.js';
import { forkshop } from '../fixture-root.js';

const application = (/** @type {string} */ name) => join(here, 'applications', name);
const server = (/** @type {string} */ name) => join(here, 'servers', name);
const node24 = join(here, `node_modules/node-linux-${process.arch}/bin/node`);

/**
 * @typedef {object} Case
 * @property {string[]} argv  behind `xray`
 * @property {number} workers  of the cluster
 * @property {number} servers  processes that executed requests
 * @property {number} [threads]
 * @property {string} [policy]
 * @property {string} [path]
 * @property {string[]} [finds]  its true findings, every time
 * @property {string} [skip]
 */

/** @type {Record<string, Case>} */
const cases = {
  'Express 4': { argv: [application('express-4.js')], workers: 0, servers: 1 },
  'Express 5': { argv: [application('express-5.js')], workers: 0, servers: 1 },
  Fastify: { argv: [application('fastify.js')], workers: 0, servers: 1 },
  Koa: { argv: [application('koa.js')], workers: 0, servers: 1 },
  'node:http': { argv: [server('one.js')], workers: 0, servers: 1 },
  throng: { argv: [server('throng.js')], workers: 2, servers: 2, policy: 'round robin' },
  'worker threads': {
    ...{ argv: [server('threads.js')], workers: 0, servers: 1, threads: 2 },
  },
  'socket.io': {
    ...{ argv: [application('socket-io.js')], workers: 2, servers: 2 },
    path: '/socket.io/?EIO=4&transport=polling',
  },
  'TypeScript, Node.js 24': {
    ...{ argv: ['--', node24, application('typed.ts')], workers: 0, servers: 1 },
    skip: existsSync(node24) ? undefined : 'there is no Node.js 24 for this system',
  },
};

const isInstalled = existsSync(join(here, 'node_modules/fastify/package.json'));

test('its packages are installed', () => assert.ok(isInstalled, 'npm run test:field does it'));

for (const [name, one] of Object.entries(cases))
  test(name, { skip: one.skip ?? !isInstalled }, async () => {
    const { env } = await place();
    await judge(one, env);
  });

for (const name of ['pm2', 'nitro'])
  test(name, { skip: !isInstalled }, async (t) => {
    const { port, env } = await place();
    const folder = mkdtempSync(join(temporaryFolder(), 'forkshop-field-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const order = await field.find((one) => one.name === name)?.order({ port, workers: 2, folder });
    assert.ok(order);
    const argv = ['--', process.execPath, order.entry, ...order.args];
    const own = { ...env, ...order.env };
    // Nitro's primary waits 30 s for its workers without signalling them.
    const more = name === 'nitro' ? { finds: ['does-not-stop'] } : {};
    await judge({ argv, workers: 2, servers: 2, policy: 'round robin', ...more }, own);
  });

async function place() {
  const port = await reservePort();
  return { port, env: { PORT: String(port), NODE_CLUSTER_WORKERS: '2', INIT_CWD: here } };
}

/** @param {Case} one @param {Record<string, string>} env */
async function judge({ argv, workers, servers, threads = 0, policy, path, ...about }, env) {
  const { finds = [] } = about;
  const flags = ['--seconds', '2', '--json', '--stop', ...(path ? ['--path', path] : [])];
  const { stdout, stderr } = await forkshop(rootFolder, ['xray', ...flags, ...argv], env);
  assert.equal(stderr, '');
  const { facts, trials, findings, obstacle, output } = JSON.parse(stdout);
  assert.ok(facts, `${obstacle} ${output}`);
  const { processes, report, seen } = facts;
  const ids = findings.map((/** @type {any} */ { id }) => id);
  // Most exit at once on SIGTERM; whether a request was in flight at that moment varies.
  const { lost } = trials[0];
  const others = ids.filter((/** @type {string} */ id) => id !== 'stop-loses');
  assert.equal(ids.includes('stop-loses'), lost.fresh + lost.kept > 0, 'only losses are reported');
  assert.deepEqual(others, finds, JSON.stringify(findings));
  assert.deepEqual(report.statuses, { 200: report.requests });
  assert.equal(seen, report.requests, 'the beginning of each request was recorded');
  const count = (/** @type {(one: any) => boolean} */ is) => processes.filter(is).length;
  assert.equal(
    count(({ role }) => role === 'worker'),
    workers,
  );
  assert.equal(
    count(({ requests }) => requests > 0),
    servers,
  );
  assert.equal(Math.max(...processes.map((/** @type {any} */ seen) => seen.threads)), threads);
  assert.equal(facts.policy, policy);
  assert.deepEqual(trials[0].left, []);
  assert.deepEqual(
    processes.filter((/** @type {any} */ { pid }) => isLiving(pid)),
    [],
    'nothing is left',
  );
}
