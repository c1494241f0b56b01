// Verifies when lesson 6 says that nobody will answer: never while a server may not have heard yet that a child is dead, or
// what a child has sent it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { SILENT, TURNS, ask } from '../checks/06-child-process-fork/looks/jobs.js';
import { until } from './nothing-left.js';

const [SERVER, IDLE, STOPPED] = [100, 101, 102]; // pids
const job = { name: 'one', rows: 1 };

test('silence counts from when a child was last seen to die, and the server has its turns after those of the child', async (t) => {
  const held = http.createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => (held.close(), held.closeAllConnections()));
  await new Promise((resolve) => held.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (held.address());
  let now = 0;
  let looks = 0;
  const program = {
    pid: SERVER,
    url: `http://127.0.0.1:${port}`,
    events: /** @type {any[]} */ ([]),
    alive: [IDLE, STOPPED],
    survivors() {
      looks += 1;
      return this.alive;
    },
  };
  const add = (/** @type {any} */ event) => program.events.push({ t: (now += 1), ...event });
  const turn = () => {
    for (let count = 0; count < TURNS; count += 1)
      for (const pid of [SERVER, IDLE]) add({ what: 'beat', pid, elu: 0 });
  };
  const looksAgain = (/** @type {number} */ times) => {
    const before = looks;
    return until('it has looked', () => looks >= before + times);
  };
  for (const childPid of [IDLE, STOPPED]) add({ what: 'child', pid: SERVER, childPid });
  /** @type {string | undefined} */
  let told;
  ask(program, job).then(({ error }) => (told = error));
  add({ what: 'request', pid: SERVER, client: 1, url: '/report?name=one&rows=1' });
  turn();
  await looksAgain(2);
  program.alive = [IDLE]; // the other was killed: all that live have turned often
  await looksAgain(3);
  assert.equal(told, undefined);
  turn();
  await looksAgain(3);
  assert.equal(told, undefined); // the last of these turns was the child's: what it sent then nobody has heard
  turn();
  await until('it is told', () => told !== undefined);
  assert.equal(told, SILENT);
});
