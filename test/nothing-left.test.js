// Verifies the watcher of the other tests: a port that stays open is reported, unless a concurrent check has taken it since.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
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
