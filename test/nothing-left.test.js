// Verifies the watcher of the other tests: a port that stays open is reported, unless a concurrent check has taken it since; a
// process that was first seen before its exec is known by its own command afterwards.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { reservePort } from '../lib/observe/ports.js';
import { Watched, until } from './nothing-left.js';

const LISTEN = `require('net').createServer().listen(process.env.PORT);`;
const WAIT = 'setInterval(() => {}, 1e6);';
const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };

/** A program of a check, as the watcher knows it, observed and exited. */
async function watchedProgram(/** @type {number} */ port) {
  const env = { FORKSHOP_RUN: 'a-run', PORT: String(port) };
  const watched = new Watched([process.execPath, '-e', WAIT], env);
  await until('it is found', () => watched.look().some((one) => one.env.FORKSHOP_RUN));
  process.kill(watched.pid);
  await watched.end;
  return watched;
}

test('a port that is still open is a leftover, and a free one is not', onLinux, async () => {
  const port = await reservePort();
  const watched = await watchedProgram(port);
  try {
    assert.deepEqual(await watched.left(), []);
    const server = createServer().listen(port);
    await once(server, 'listening');
    assert.deepEqual(await watched.left(), [`port ${port}`]);
    server.close();
  } finally {
    watched.cleanUp();
  }
});

test('a port that another check has taken since is not ours', onLinux, async () => {
  const port = await reservePort();
  const watched = await watchedProgram(port);
  const other = new Watched([process.execPath, '-e', LISTEN], { PORT: String(port) });
  try {
    await until('the other listens', () => watched.isOfAnother(port));
    assert.deepEqual(await watched.left(), []);
    assert.equal(other.isOfAnother(port), false);
  } finally {
    other.cleanUp();
    await other.end;
    watched.cleanUp();
  }
});

test('a process first seen between fork and exec gets its own command', onLinux, async () => {
  const forkThenExec =
    'mkfifo "$TMPDIR/go"; (read go < "$TMPDIR/go"; FORKSHOP_RUN=home/1 exec sleep 60) & wait';
  const watched = new Watched(['sh', '-c', forkThenExec], { FORKSHOP_RUN: 'home' });
  try {
    const commands = () => watched.look().map(({ command }) => command.split(' ')[0]);
    await until('it has forked', () => commands().join() === 'sh,sh');
    writeFileSync(join(watched.temporary, 'go'), '\n');
    await until('it has called exec', () => commands().join() === 'sh,sleep');
    assert.deepEqual(
      watched.look().map(({ env }) => env.FORKSHOP_RUN),
      ['home', 'home/1'],
    );
  } finally {
    watched.cleanUp();
    await watched.end;
  }
});
