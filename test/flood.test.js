// Verifies that of a flood of requests the probe reports some one by one and counts the others, and loses none.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLoad } from '../lib/measure/load.js';
import { createRunner } from '../lib/observe/run.js';
import { requestsOf } from '../lib/observe/timeline.js';
import { limitMs } from './limits.js';

const CONNECTIONS = 10;
const MOST_WINDOWS = 20; // a slow machine may need some until a beat has more requests than are reported one by one

test('a flood is counted to the last request', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flood-'));
  const entry = join(folder, 'server.mjs');
  writeFileSync(
    entry,
    "import { createServer } from 'node:http';\n" +
      'createServer((request, response) => response.end()).listen(process.env.PORT);\n',
  );
  const [runner, load] = [createRunner(), createLoad()];
  t.after(async () => {
    load.close();
    await runner.close();
    rmSync(folder, { recursive: true });
  });
  const program = await runner.start({ entry });
  assert.ok(await program.ready(1));
  const counted = () => program.events.reduce((sum, { more = 0 }) => sum + more, 0);
  const answers = [];
  let windows = 0;
  for (; counted() === 0 && windows < MOST_WINDOWS; windows += 1) {
    const options = { url: program.url, connections: CONNECTIONS, durationMs: 500 };
    answers.push(...(await load.fire(options)).answers);
    await program.drained();
  }
  const isWhole = () => requestsOf(program.events).length + counted() >= answers.length;
  await program.until(isWhole, limitMs(2));
  const reported = requestsOf(program.events);
  const surplus = reported.length + counted() - answers.length; // those under way when the load ended
  const underWay = windows * CONNECTIONS;
  assert.ok(surplus >= 0 && surplus <= underWay, `${surplus} more than were answered`);
  assert.ok(counted() > 0, `${answers.length} requests are no flood`);
  const unanswered = reported.filter(({ endMs }) => endMs === undefined);
  assert.ok(unanswered.length <= underWay, `${unanswered.length} of those reported have no answer`);
});
