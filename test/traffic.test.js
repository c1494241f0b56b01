// Verifies the traffic of single clients: the schedule, fresh and kept connections, retries as a real client makes them, and
// which requests count as lost.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lostOf, startTraffic } from '../lib/measure/traffic.js';

/** @param {import('node:test').TestContext} t @param {http.RequestListener} handle */
async function serve(t, handle) {
  const server = http.createServer(handle);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
}

/** @param {ReturnType<typeof startTraffic>} traffic @param {number} count */
async function enough(traffic, count) {
  while (traffic.count() < count) await sleep(10);
}

const KEPT = { path: '/kept', perSecond: 100, connections: 2 };

test('sends each kind on schedule; kept connections are few, fresh ones are new', async (t) => {
  const ports = { '/kept': new Set(), '/fresh': new Set() };
  const url = await serve(t, (request, response) => {
    ports[/** @type {string} */ (request.url)].add(request.socket.remotePort);
    response.end();
  });
  const traffic = startTraffic(url, [KEPT, { path: '/fresh', perSecond: 50 }]);
  await enough(traffic, 45);
  const sent = await traffic.stop();
  assert.equal(traffic.count(), sent.length);
  const of = (/** @type {string} */ path) => sent.filter((one) => one.path === path).length;
  assert.ok(of('/kept') > 2 && of('/fresh') > 5, `${of('/kept')}, ${of('/fresh')}`);
  assert.equal(ports['/kept'].size, 2);
  assert.equal(ports['/fresh'].size, of('/fresh'));
  assert.deepEqual(lostOf(sent, []), []);
  assert.ok(sent.every(({ isRepeated }) => !isRepeated));
});

test('retries only requests that were reset on a connection used before', async (t) => {
  const served = new Map();
  const url = await serve(t, ({ socket, url: path }, response) => {
    served.set(socket, (served.get(socket) ?? 0) + 1);
    if (path === '/fresh' || served.get(socket) === 2) socket.resetAndDestroy();
    else response.end();
  });
  const traffic = startTraffic(url, [KEPT, { path: '/fresh', perSecond: 20 }]);
  await enough(traffic, 40);
  const sent = await traffic.stop();
  const kept = sent.filter(({ path }) => path === '/kept');
  assert.ok(kept.some(({ isRepeated }) => isRepeated));
  assert.ok(kept.every(({ answer }) => answer.status === 200));
  const fresh = sent.filter(({ path }) => path === '/fresh');
  assert.ok(fresh.every(({ isRepeated, answer }) => !isRepeated && answer.error === 'ECONNRESET'));
  assert.deepEqual(lostOf(sent, []), fresh);
});

test('a request that was begun and then retried is lost, although it was answered in the end', () => {
  const answer = { headers: {}, body: '', isReused: true };
  const first = { ...answer, status: undefined, client: 7, sentMs: 10, doneMs: 20, error: 'EPIPE' };
  const again = { ...answer, status: 200, client: 8, sentMs: 20, doneMs: 30, error: undefined };
  const sent = [{ path: '/', first, answer: again, isRepeated: true }];
  const begun = { pid: 1, client: 7, url: '/', startMs: 12 };
  assert.equal(lostOf(sent, [begun]).length, 1);
  for (const other of [{ client: 9 }, { endMs: 15 }, { startMs: 5 }, { startMs: 25 }])
    assert.deepEqual(lostOf(sent, [{ ...begun, ...other }]), []);
});
