// Verifies small parts that the larger tests reach only on some systems or sometimes: keys, a closed load generator, and the
// resolve hooks.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { waitsToWrite } from '../lib/observe/blocked-write.js';
import { listenForKeys } from '../lib/cli/keys.js';
import { closeAtEnd, runAndClose } from '../lib/common/run-and-close.js';
import { createLoad } from '../lib/measure/load.js';
import { isFromRepository, resolve, resolveNow } from '../lib/observe/preload/resolve-hook.js';

test('a key calls its action; Ctrl-C and Ctrl-D are q; the terminal is left as it was', async () => {
  const modes = /** @type {boolean[]} */ ([]);
  const stdin = Object.assign(new PassThrough(), { setRawMode: (mode) => modes.push(mode) });
  const pressed = /** @type {string[]} */ ([]);
  const keys = listenForKeys(stdin, { q: () => pressed.push('q'), h: () => pressed.push('h') });
  stdin.write('hxq\u0003\u0004\u0008');
  assert.deepEqual(pressed, ['h', 'q', 'q', 'q']);
  keys.close();
  stdin.write('h');
  assert.equal(pressed.length, 4);
  assert.deepEqual(modes, [false, true, false]);
  listenForKeys(undefined, {}).close();
});

test('a closed load generator sends nothing more, and says so', async (t) => {
  const server = createServer((request, response) => response.end('ok'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const window = { url: `http://127.0.0.1:${port}/`, connections: 1, durationMs: 50 };
  const load = createLoad();
  let answered = 0; // on a busy machine a window may be over too soon
  for (let windows = 0; windows < 100 && answered === 0; windows += 1)
    answered = (await load.fire(window)).answers.length;
  assert.ok(answered > 0);
  load.close();
  await assert.rejects(load.fire(window), /The load generator (is closed|ended)/);
});

test('work that finishes closes what it has left open, and nothing of other work', async () => {
  /** @type {string[]} */
  const closed = [];
  let finish = () => {};
  const other = runAndClose(async () => {
    closeAtEnd(() => closed.push('of the other'));
    await new Promise((resolve) => (finish = () => resolve(undefined)));
  });
  const broken = runAndClose(async () => {
    const close = closeAtEnd(() => closed.push('closed by itself'));
    closeAtEnd(() => closed.push('left open'));
    close();
    throw new Error('It broke off.');
  });
  await assert.rejects(broken, /It broke off/);
  assert.deepEqual(closed, ['closed by itself', 'left open']);
  finish();
  await other;
  assert.deepEqual(closed.at(-1), 'of the other');
});

test('modules that resolve are left alone; other packages and #work resolve as from the repository', async () => {
  const asked = /** @type {string[]} */ ([]);
  const next = (
    /** @type {string} */ specifier,
    /** @type {{ parentURL: string }} */ { parentURL },
  ) => {
    asked.push(parentURL);
    if (specifier !== 'there' && !parentURL.endsWith('/package.json')) throw new Error('not found');
    return { url: specifier };
  };
  const context = { parentURL: 'file:///elsewhere/server.js' };
  assert.deepEqual(resolveNow('there', context, next), { url: 'there' });
  assert.equal(asked.length, 1);
  assert.deepEqual(resolveNow('express', context, next), { url: 'express' });
  assert.deepEqual(await resolve('#work', context, next), { url: '#work' });
  for (const specifier of ['./mine.js', '/abs.js', 'node:nothing', 'file:///x.js']) {
    assert.equal(isFromRepository(specifier), false);
    assert.throws(() => resolveNow(specifier, context, next), /not found/);
    await assert.rejects(resolve(specifier, context, next), /not found/);
  }
});

test('a process that has exited, or that runs, waits in no write', () => {
  const gone = 2 ** 22 + 1; // above the largest pid of Linux, so no process has it
  assert.equal(waitsToWrite(gone), undefined);
  assert.equal(waitsToWrite(process.pid), undefined);
});
