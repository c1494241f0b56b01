// Verifies that of a flood of requests the probe reports some one by one, counts the others, and loses none of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLoad } from '../lib/measure/load.js';
import { createRunner } from '../lib/observe/runner.js';
import { requestsOf } from '../lib/observe/timeline.js';
import { limitMs } from './limits.js';

const CONNECTIONS = 10;
const MOST_WINDOWS = 20; // a slow machine may need some until a beat has more requests than are reported one by one

test('every request of a flood is counted', async (t) => {
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
  const surplus = reported.length + counted() - answers.length; // requests in flight when the load ended
  const underWay = windows * CONNECTIONS;
  assert.ok(surplus >= 0 && surplus <= underWay, `${surplus} more than were answered`);
  assert.ok(counted() > 0, `${answers.length} requests are no flood`);
  const unanswered = reported.filter(({ endMs }) => endMs === undefined);
  assert.ok(unanswered.length <= underWay, `${unanswered.length} of those reported have no answer`);
});

const AT_ONCE = 500; // pipelined
const MOST_AT_ONCE = 400; // times: 200,000 requests
const OF_FLOOD = 5; // by probe.cjs

/** Sends that many requests on one connection, and waits until each is answered. */
async function pipeline(/** @type {net.Socket} */ socket, /** @type {number} */ count) {
  socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  let text = '';
  while (text.split('204 No Content').length - 1 < count) {
    const [data] = await once(socket, 'data');
    text += data;
  }
}

test('few requests of a flood are recorded, and all are counted, up to the exit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flood-'));
  const entry = join(folder, 'server.mjs');
  writeFileSync(
    entry,
    `import { createServer } from 'node:http';
    createServer((request, response) => {
      response.writeHead(204).end();
      if (request.url === '/exit') process.exit();
    }).listen(process.env.PORT);`,
  );
  const runner = createRunner();
  t.after(async () => {
    await runner.close();
    rmSync(folder, { recursive: true });
  });
  const program = await runner.start({ entry, followsChildren: true });
  assert.ok(await program.ready(1));
  const before = requestsOf(program.events).length;
  const socket = net.connect(program.port, '127.0.0.1');
  t.after(() => socket.destroy());
  /** Beats in which most requests were only counted. */
  const sparse = () => {
    let recorded = 0;
    return program.events.filter(({ what, more }) => {
      if (what === 'request') recorded += 1;
      if (what !== 'beat') return false;
      const isSparse = more > 0 && recorded <= OF_FLOOD;
      recorded = 0;
      return isSparse;
    });
  };
  let sent = 0;
  for (; sparse().length < 5 && sent < MOST_AT_ONCE * AT_ONCE; sent += AT_ONCE)
    await pipeline(socket, AT_ONCE);
  assert.ok(sparse().length >= 5, `${sent} requests are no flood that lasts`);
  socket.write(
    `${'GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(19)}GET /exit HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  socket.on('error', () => {}); // it may be reset
  assert.ok(await program.ended(limitMs(2)));
  await program.until((events) => events.some(({ what }) => what === 'exit'), limitMs(2));
  const counted = program.events.reduce((sum, { more = 0 }) => sum + more, 0);
  assert.equal(requestsOf(program.events).length - before + counted, sent + 20);
  const late = requestsOf(program.events).filter(({ url, endMs }) => url === '/x' && !endMs);
  assert.ok(late.length <= 19, 'recorded requests have their answer, except for the last ones');
});
