/** Compiled code for the judged programs, which then start sooner (Node.js 22.1 and later). A program can spoil only its run's copy. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { spawnGuarded } from '../common/child.js';
import { rootFolder, scrub } from './environment.js';

const LOADED = ['express', '@redis/client', 'node:cluster', 'node:http']; // the imports of the lessons' programs

/** Off for coverage: Node.js counts less exactly in cached code. */
const isSupported = 'enableCompileCache' in module && !process.env.NODE_V8_COVERAGE;
const ours = isSupported
  ? join(rootFolder, 'node_modules/.cache/forkshop/programs', process.version)
  : undefined;

/**
 * @param {string} home  the run's folder @param {string} [from]  the cache @returns {string | undefined}  the copy; undefined without one
 */
export function copyCache(home, from = ours) {
  if (!from || !existsSync(from)) return undefined;
  const copy = join(home, 'compile-cache');
  try {
    if (!existsSync(copy)) cpSync(from, copy, { recursive: true });
    return copy;
  } catch {
    return undefined; // without a cache programs only start later
  }
}

/** Fills the cache unless it exists. Never rejects: programs also work without it. @param {string} [to]  the cache's folder */
export async function makeCache(to = ours) {
  if (!to || existsSync(to)) return;
  const making = `${to}-${process.pid}`;
  try {
    const text = LOADED.map((name) => `import '${name}';`).join(' ');
    const args = ['--input-type=module', '--eval', text];
    const env = { ...scrub(process.env), NODE_COMPILE_CACHE: making };
    const options = { cwd: rootFolder, env, stdio: ['ignore', 'ignore', 'ignore'] };
    const { ended } = spawnGuarded(process.execPath, args, { ...options, removes: [making] });
    mkdirSync(making, { recursive: true }); // now the guard removes it, even if this process is killed
    const { code } = await ended;
    if (code === 0) renameSync(making, to);
    else rmSync(making, { recursive: true, force: true });
  } catch {
    // a read-only folder, a full disk, or another check was quicker
    if (existsSync(making)) rmSync(making, { recursive: true, force: true });
  }
}
