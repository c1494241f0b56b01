// Verifies that `xray` counts lost requests as an independent client does, vegeta, on the same server at the same time.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { get } from '../../lib/observe/client.js';
import { reservePort } from '../../lib/observe/ports.js';
import { findTool } from '../../lib/tools/tools.js';
import { forkshop } from '../fixture-root.js';
import { until } from '../nothing-left.js';

const run = promisify(execFile);
const vegeta = findTool('vegeta');
const skip = !vegeta && !process.env.CI && 'vegeta is not installed';
const servers = join(rootFolder, 'test/fixtures/xray');

/** Counts by `xray` and by vegeta, which both lose some requests. */
const cases = {
  'every fourth request of each client is lost': {
    file: 'loses-every-fourth.js',
    finds: 'lost',
    seconds: 8,
  },
  'half of the clients never get an answer': {
    file: 'answers-every-second.js',
    finds: 'unanswered',
    seconds: 4,
  },
};

for (const [name, { file, finds, seconds }] of Object.entries(cases))
  test(`${name}: both count the same number`, { skip }, async (t) => {
    const port = await reservePort();
    const url = `http://127.0.0.1:${port}/`;
    const argv = ['xray', join(servers, file), '--rate', '25', '--seconds', `${seconds}`, '--json'];
    const looking = forkshop(rootFolder, argv, { PORT: String(port) });
    const headers = { 'user-agent': 'is it up?' };
    await until('it answers', async () => (await get(url, { headers })).status === 200);
    const flags = `-rate=25 -duration=${seconds}s -timeout=10s -keepalive=false`;
    const attack = `echo "GET ${url}" | "${vegeta}" attack ${flags}`;
    const { stdout } = await run('sh', ['-c', `${attack} | "${vegeta}" report -type=json`]);
    const theirs = JSON.parse(stdout);
    const { facts, findings } = JSON.parse((await looking).stdout);
    const lost = Object.values(facts.report.errors).reduce((sum, count) => sum + count, 0);
    const lostByVegeta = theirs.requests - theirs.status_codes[200];
    t.diagnostic(`of ${theirs.requests} each: lost ${lost}, by vegeta ${lostByVegeta}`);
    assert.equal(facts.report.requests, theirs.requests);
    assert.ok(lost > 0);
    assert.ok(Math.abs(lost - lostByVegeta) <= 1, `ours ${lost}, vegeta ${lostByVegeta}`);
    assert.equal(findings[0]?.id, finds);
  });
