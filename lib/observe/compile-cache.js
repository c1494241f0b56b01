/**
 * Compiled code for the judged programs, so that each of their processes starts sooner (Node.js 22.1 and later). The
 * cache is made once, by a process of ours that loads what lessons import. Every run gets a copy, in its own folder: a
 * program can spoil that, and nobody else's.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { spawnGuarded } from '../common/child.js';
import { rootFolder, scrub } from './environment.js';

const LOADED = ['express', '@redis/client', 'node:cluster', 'node:http']; // what the lessons' programs import

/** Not where coverage is counted: Node.js counts less exactly in code from a cache. */
const isSupported = 'enableCompileCache' in module && !process.env.NODE_V8_COVERAGE;
const ours = isSupported
  ? join(rootFolder, 'node_modules/.cache/forkshop/programs', process.version)
  : undefined;

/**
 * Copies the cache, if there is one, for the programs of one run.
 * @param {string} home  the run's folder
 * @param {string} [from]  the cache's folder
 * @returns {string | undefined}  the copy's folder
 */
export function copyCache(home, from = ours) {
  if (!from || !existsSync(from)) return undefined;
  const copy = join(home, 'compile-cache');
  try {
    if (!existsSync(copy)) cpSync(from, copy, { recursive: true });
    return copy;
  } catch {
    return undefined; // without it programs start as well, only later
  }
}

/**
 * Makes the cache, unless it is there. Never rejects: where it cannot be made, programs do without.
 * @param {string} [to]  the cache's folder
 */
export async function makeCache(to = ours) {
  if (!to || existsSync(to)) return;
  const making = `${to}-${process.pid}`;
  try {
    const text = LOADED.map((name) => `import '${name}';`).join(' ');
    const args = ['--input-type=module', '--eval', text];
    const env = { ...scrub(process.env), NODE_COMPILE_CACHE: making };
    const options = { cwd: rootFolder, env, stdio: ['ignore', 'ignore', 'ignore'] };
    const { ended } = spawnGuarded(process.execPath, args, { ...options, removes: [making] });
    mkdirSync(making, { recursive: true }); // now that there is one who removes it, whatever happens to us
    const { code } = await ended;
    if (code === 0) renameSync(making, to);
    else rmSync(making, { recursive: true, force: true });
  } catch {
    // a read-only folder, a full disk, or another check was quicker
    if (existsSync(making)) rmSync(making, { recursive: true, force: true });
  }
}
