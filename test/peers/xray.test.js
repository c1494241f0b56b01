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
const file = join(rootFolder, 'test/fixtures/xray/loses-every-fourth.js');

test('every fourth request of each client is lost: both count as many', { skip }, async () => {
  const port = await reservePort();
  const url = `http://127.0.0.1:${port}/`;
  const argv = ['xray', file, '--rate', '25', '--seconds', '8', '--json'];
  const looking = forkshop(rootFolder, argv, { PORT: String(port) });
  const headers = { 'user-agent': 'is it up?' };
  await until('it answers', async () => (await get(url, { headers })).status === 200);
  const attack = `echo "GET ${url}" | "${vegeta}" attack -rate=50 -duration=4s -keepalive=false`;
  const { stdout } = await run('sh', ['-c', `${attack} | "${vegeta}" report -type=json`]);
  const theirs = JSON.parse(stdout);
  const { facts, findings } = JSON.parse((await looking).stdout);
  const lost = Object.values(facts.report.errors).reduce((sum, count) => sum + count, 0);
  assert.equal(facts.report.requests, theirs.requests);
  assert.ok(lost > 0);
  const lostByVegeta = theirs.requests - theirs.status_codes[200];
  assert.ok(Math.abs(lost - lostByVegeta) <= 1, `ours ${lost}, vegeta ${lostByVegeta}`);
  assert.equal(findings[0].id, 'lost');
});
