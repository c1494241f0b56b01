// Verifies that our closed loop counts each request, as the server itself does, and compares autocannon on the same server:
// when it stops it drops requests in flight, so it may count one less for each connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, test } from 'node:test';
import autocannon from 'autocannon';
import { createOpenLoop } from '../../lib/measure/open-loop.js';
import { reportOf } from '../../lib/measure/load-report.js';

const CONNECTIONS = 20;
const ANSWERS_AFTER_MS = 100;
const LASTS_MS = 3_000;

/** @param {import('node:test').TestContext} t @param {number} most  clients that it serves: others never get an answer */
async function listen(t, most) {
  const counts = { begun: 0, answered: 0 };
  const places = new Set();
  const server = http.createServer(({ socket }, response) => {
    counts.begun += 1;
    if (places.size < most) places.add(socket);
    if (!places.has(socket)) return;
    response.on('finish', () => (counts.answered += 1));
    setTimeout(() => response.end('x'), ANSWERS_AFTER_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, counts };
}

for (const [name, most] of Object.entries({ 'all clients': CONNECTIONS, 'half of them': 10 }))
  describe(`a server that serves ${name}`, () => {
    const never = CONNECTIONS - most;

    test('ours: each request is counted, and each client', async (t) => {
      const { url, counts } = await listen(t, most);
      const generator = createOpenLoop();
      t.after(() => generator.close());
      const how = { isClosed: true, isFresh: false, connections: CONNECTIONS };
      const limits = { durationMs: LASTS_MS, timeoutMs: LASTS_MS };
      const window = await generator.fire({ url, ...how, ...limits });
      t.diagnostic(
        `sent ${window.answers.length}, begun ${counts.begun}, answered ${counts.answered}`,
      );
      const { requests, statuses, errors } = reportOf(window);
      assert.equal(requests, counts.begun);
      assert.equal(statuses[200], counts.answered);
      assert.deepEqual(errors, never > 0 ? { timeout: never } : {});
      assert.equal(new Set(window.answers.map(({ visitor }) => visitor)).size, CONNECTIONS);
    });

    test('autocannon: the same number, but for one in flight on each connection', async (t) => {
      const { url, counts } = await listen(t, most);
      const timeout = 2 * (LASTS_MS / 1000); // no client gives up and reconnects
      const how = { connections: CONNECTIONS, duration: LASTS_MS / 1000, timeout };
      const { requests, ...theirs } = await autocannon({ url, ...how, sampleInt: 10 });
      const dropped = requests.sent - theirs['2xx'];
      t.diagnostic(`sent ${requests.sent}, answered ${theirs['2xx']}, begun ${counts.begun}`);
      const unseen = requests.sent - counts.begun;
      assert.ok(unseen >= 0 && unseen <= CONNECTIONS, `${unseen} of ${requests.sent}`);
      assert.ok(dropped >= never && dropped <= CONNECTIONS, `${dropped} of ${requests.sent}`);
      assert.equal(theirs.errors + theirs.timeouts, 0, 'clients never served are not reported');
    });
  });
