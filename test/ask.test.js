// Verifies how a check treats an unanswered request: a connection that the server had closed before is no failure, and a
// program without CPU time is not judged.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { askAtOnce, askOnce, requestOf } from '../lib/observe/ask.js';
import { nowMs } from '../lib/observe/clock.js';
import { Starved } from '../lib/observe/cpu-time.js';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/**
 * A server that answers the first request of each connection, and resets the connection at the second.
 * @param {import('node:test').TestContext} t
 * @param {{ events?: any[], see?: (client?: number) => void, starvedIn?: () => any, silent?: boolean }} [options]
 * @returns {Promise<any>}  as askOnce sees a program
 */
async function serve(t, options = {}) {
  const { events = [], see = () => {}, starvedIn = () => undefined, silent = false } = options;
  const server = createServer((socket) => {
    let count = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      count += 1;
      if (silent) return;
      if (count === 1) socket.write(ANSWER);
      else {
        see(socket.remotePort);
        socket.resetAndDestroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, events, cpuTime: { starvedSince: () => 0, starvedIn } };
}

/** An agent that keeps its one connection. @param {import('node:test').TestContext} t */
function keeping(t) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return agent;
}

test('a request on a connection that the server had closed is retried on a new one', async (t) => {
  const program = await serve(t);
  const agent = keeping(t);
  const first = await askOnce(program, '/', { agent });
  const second = await askOnce(program, '/', { agent });
  assert.deepEqual([first.status, first.isRepeated], [200, false]);
  assert.deepEqual([second.status, second.isRepeated, second.isReused], [200, true, false]);
});

test('a request that a process has begun, or that used a new connection, is not retried', async (t) => {
  const events = /** @type {any[]} */ ([]);
  const see = (/** @type {number | undefined} */ client) =>
    events.push({ t: nowMs(), pid: 1, what: 'request', client, url: '/' });
  const program = await serve(t, { events, see });
  const agent = keeping(t);
  await askOnce(program, '/', { agent });
  const { error, isRepeated } = await askOnce(program, '/', { agent });
  assert.deepEqual([error, isRepeated], ['ECONNRESET', false]);
  const closed = { ...program, url: 'http://127.0.0.1:1' };
  assert.equal((await askOnce(closed, '/', { agent })).isRepeated, false);
});

test('a missing answer proves nothing if the program got no CPU time', async (t) => {
  let isStarved = false;
  const starvedIn = () => (isStarved ? new Starved(100, 0) : undefined);
  const program = await serve(t, { silent: true, starvedIn });
  const ask = () => askOnce(program, '/', { timeoutMs: 20 });
  const { error, limitMs } = await ask();
  assert.match(String(error), /^no answer within /);
  assert.equal(limitMs, 20);
  isStarved = true;
  await assert.rejects(ask(), Starved);
  await assert.rejects(askAtOnce(program, '/', 2), Starved);
});

test('two clients on the same reused port are distinguished by their times', () => {
  const answers = [101, 102].map((pid, index) => ({
    status: 200,
    body: JSON.stringify({ pid }),
    client: 5000,
    sentMs: 100 * index,
    doneMs: 100 * index + 11,
  }));
  const requests = answers.map(({ sentMs, doneMs }, index) => ({
    pid: 101 + index,
    client: 5000,
    url: '/',
    startMs: sentMs + 1,
    endMs: doneMs - 1,
  }));
  assert.deepEqual(
    answers.map((answer) => requestOf(requests, answer)?.pid),
    [101, 102],
  );
  assert.equal(requestOf(requests, { client: 5001, doneMs: 200 }), undefined);
});
