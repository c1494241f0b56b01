// Verifies what a check may choose for its client's request: the method, the address it connects from, and that a reused
// connection gets no listener for each request.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { get } from '../lib/observe/client.js';

/** A server that answers with the request it received. @param {import('node:test').TestContext} t */
async function listen(t) {
  const server = http.createServer((request, response) => {
    const { method, socket, headers } = request;
    const length = headers['content-length'];
    response.end(JSON.stringify({ method, from: socket.remoteAddress, length }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}

test('a request is a GET from 127.0.0.1, unless its options say otherwise', async (t) => {
  const url = await listen(t);
  const plain = JSON.parse((await get(url)).body);
  assert.deepEqual(plain, { method: 'GET', from: '127.0.0.1' });
  const post = JSON.parse((await get(url, { method: 'POST' })).body);
  assert.deepEqual(post, { method: 'POST', from: '127.0.0.1', length: '0' });
});

const onLinux = { skip: process.platform !== 'linux' && 'it has no 127.0.0.2' };

test('a client may connect from another address of this machine', onLinux, async (t) => {
  const url = await listen(t);
  const { from } = JSON.parse((await get(url, { localAddress: '127.0.0.2' })).body);
  assert.equal(from, '127.0.0.2');
  const { status, error } = await get(url, { localAddress: '192.0.2.1' });
  assert.deepEqual([status, error], [undefined, 'EADDRNOTAVAIL']);
});

test('twenty requests over one connection leave no listeners on it', async (t) => {
  const url = await listen(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set();
  for (let count = 0; count < 20; count += 1) ports.add((await get(url, { agent })).client);
  assert.equal(ports.size, 1);
  const [[socket]] = /** @type {import('node:net').Socket[][]} */ (
    Object.values(agent.freeSockets)
  );
  assert.ok(socket.listenerCount('connect') <= 1);
});
