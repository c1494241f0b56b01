// Verifies the findings of `xray` on whole servers with one fault each, in test/fixtures/xray/, and on healthy ones, which
// have none; and the trials that start a server again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { reservePort } from '../../lib/observe/ports.js';
import { createRunner } from '../../lib/observe/runner.js';
import { tryCost } from '../../lib/xray/cost.js';
import { trialFindings } from '../../lib/xray/report/findings-trials.js';
import { launch } from '../../lib/xray/launch.js';
import { tryScale } from '../../lib/xray/scale.js';
import { costSection } from '../../lib/xray/report/tell-trials.js';
import { tryReload } from '../../lib/xray/reload.js';
import { forkshop } from '../fixture-root.js';

const fixtures = join(rootFolder, 'test/fixtures/xray');
const MOST_PER_SECOND = 200; // requests of a trial, by trials.js

/** @param {string} file @param {string[]} [flags] */
async function xray(file, flags = []) {
  const port = await reservePort();
  const env = { INIT_CWD: fixtures, PORT: String(port), NODE_CLUSTER_WORKERS: '2' };
  const argv = ['xray', file, '--seconds', '1', '--json', ...flags];
  const { code, stdout, stderr } = await forkshop(rootFolder, argv, env);
  assert.equal(stderr, '');
  return { code, ...JSON.parse(stdout) };
}

const idsOf = (/** @type {{ findings: { id: string }[] }} */ { findings }) =>
  findings.map(({ id }) => id);

/** The first finding, the server, and the flags that find it. @type {Record<string, [string, ...string[]]>} */
const planted = {
  blocks: ['blocks.js', '--rate', '6'],
  deaf: ['deaf.js'],
  crash: ['crashes.js'],
  'not-replaced': ['never-restarts.js', '--kill'],
  'stop-loses': ['dies-at-work.js', '--stop'],
  'left-behind': ['leaves-a-child.js', '--stop'],
  'reload-ends': ['plain.js', '--reload', 'SIGHUP'],
  uneven: ['deals-to-one.js', '--rate', '150'],
};

describe('servers', { concurrency: 2 }, () => {
  describe('a planted fault is found, and comes first', { concurrency: 3 }, () => {
    for (const [id, [file, ...flags]] of Object.entries(planted)) {
      test(`${file}: ${id}`, async () => {
        const seen = await xray(file, flags);
        assert.equal(idsOf(seen)[0], id, JSON.stringify(seen.findings));
        assert.equal(seen.code, 1);
      });
    }
  });

  describe('a healthy server has no findings', { concurrency: 3 }, () => {
    const healthy = [
      ['plain.js'],
      ['speaks-two-protocols.js'],
      ['single-express.js', '--connections', '5'],
      [join(rootFolder, 'solutions/05-crash-restart/server.js')],
      [join(rootFolder, 'solutions/08-graceful-reload/server.js'), '--reload', 'SIGHUP', '--stop'],
    ];
    for (const [file, ...flags] of healthy) {
      test(file.replace(rootFolder, ''), async () => {
        const { code, findings, facts, trials } = await xray(file, flags);
        assert.deepEqual(findings, []);
        assert.equal(code, 0);
        assert.deepEqual(facts.report.statuses, { 200: facts.report.requests });
        const { isOpen } = facts.load;
        const least = facts.report.requests;
        const told = `${facts.seen} of ${least} began`;
        assert.ok(isOpen ? facts.seen === least : facts.seen >= least, told);
        assert.ok(trials.every((/** @type {any} */ { left }) => left.length === 0));
      });
    }
  });
});

describe('trials that start the server again', { concurrency: 3 }, () => {
  const lesson8 = 'solutions/08-graceful-reload/server.js';
  const brief = { warmMs: 50, windowMs: 150, rounds: 1, budgetMs: 0 };
  const plan = { path: '/', method: 'GET', headers: {}, seconds: 1 };
  /** @param {string} entry @param {import('node:test').TestContext} t */
  async function orderOf(entry, t) {
    const runner = createRunner();
    t.after(() => runner.close());
    const env = { PORT: String(await reservePort()), NODE_CLUSTER_WORKERS: '2' };
    return { runner, order: { entry, args: [], isCommand: false, cwd: fixtures, env } };
  }

  test('each number of workers in turn is obeyed, or reported as not obeyed', async (t) => {
    const counts = { counts: [1, 2], variable: 'NODE_CLUSTER_WORKERS' };
    const cluster = join(rootFolder, 'solutions/02-cluster-fork/server.js');
    const { runner, order } = await orderOf(cluster, t);
    const { isObeyed, steps } = await tryScale(runner, order, plan, counts, brief);
    assert.equal(isObeyed, true);
    assert.deepEqual(
      steps.map(({ asked, serve, errors }) => [asked, serve, errors]),
      [
        [1, 1, 0],
        [2, 2, 0],
      ],
    );
    assert.ok(steps.every(({ perSecond, ceiling }) => perSecond > 0 && ceiling > 0));
    const other = await orderOf(join(fixtures, 'plain.js'), t);
    const not = await tryScale(other.runner, other.order, plan, counts, brief);
    assert.deepEqual(
      { isObeyed: not.isObeyed, choice: not.choice },
      { isObeyed: false, choice: undefined },
    );
  });

  test('the cost of the probe is a share, or a reason why it cannot be measured', async (t) => {
    const { runner, order } = await orderOf(join(fixtures, 'never-restarts.js'), t);
    const { share } = await tryCost(runner, order, plan, brief);
    assert.ok(share && share.value < 1);
    const head = 'cost';
    const sure = { value: 0.06, low: 0.05, high: 0.07 };
    assert.match(
      String(costSection({ kind: 'cost', share: sure }, head).says),
      /6\.0 % .* more than the 3 %/,
    );
    const rough = { value: 0.06, low: -0.4, high: 0.5 };
    assert.match(String(costSection({ kind: 'cost', share: rough }, head).says), /differ too much/);
    assert.deepEqual(costSection({ kind: 'cost', obstacle: 'x' }, head), { head, says: ['x'] });
  });

  test('a reload command that works, and a command that fails', async (t) => {
    const { runner, order } = await orderOf(join(rootFolder, lesson8), t);
    const up = await launch(runner, order, plan);
    const how = { cwd: fixtures, env: process.env };
    const command = `kill -HUP ${up.program.pid}`;
    const { tookMs, replaced, failed } = await tryReload(up, plan, { ...how, command });
    assert.ok(tookMs);
    assert.deepEqual({ replaced, failed }, { replaced: 2, failed: undefined });
    const not = await tryReload(up, plan, { ...how, command: 'echo no such process; exit 7' });
    assert.deepEqual(not.failed, { code: 7, printed: 'no such process\n' });
    assert.equal(not.replaced, 0);
  });

  test('several reloads in a row are counted one by one, until there are enough requests', async (t) => {
    const { runner, order } = await orderOf(join(rootFolder, lesson8), t);
    const up = await launch(runner, order, plan);
    const how = { signal: /** @type {const} */ ('SIGHUP') };
    const amount = { times: 2, requests: 2 * MOST_PER_SECOND };
    const { each = [], ...trial } = await tryReload(up, plan, how, amount);
    assert.deepEqual(trial.lost, { fresh: 0, kept: 0 });
    assert.ok(each.length >= 2 && each.every(({ tookMs }) => tookMs !== undefined));
    const sum = (/** @type {'fresh' | 'kept'} */ kind) =>
      each.reduce((total, { sent }) => total + sent[kind], 0);
    assert.deepEqual({ fresh: sum('fresh'), kept: sum('kept') }, trial.sent);
    assert.ok(sum('fresh') + sum('kept') >= amount.requests);
    const forks = up.program.events.filter(({ what }) => what === 'fork').length;
    assert.equal(forks, 2 * (each.length + 1), 'each reload has replaced both workers');
  });

  test('the losses of several reloads are listed for each; an incomplete one is the last', async (t) => {
    const { runner, order } = await orderOf(join(fixtures, 'reloads-once-well.js'), t);
    const up = await launch(runner, order, plan);
    const how = { signal: /** @type {const} */ ('SIGHUP') };
    const { each = [], ...trial } = await tryReload(up, plan, how, { times: 4 });
    const lost = each.map((one) => one.lost.fresh + one.lost.kept);
    assert.deepEqual(
      each.map(({ tookMs }) => tookMs !== undefined),
      [true, true, false],
    );
    assert.equal(lost[0], 0, 'the first waits for requests in flight');
    assert.ok(lost[1] > 0, 'the second kills');
    assert.equal(trial.lost.fresh + trial.lost.kept, lost[0] + lost[1] + lost[2]);
    const [finding] = trialFindings({ ...trial, each });
    assert.match(finding.says, /^3 reloads lost \d+ of \d+ requests\.$/);
    assert.match(finding.evidence[2], /^\d+ in number 2/);
  });
});
