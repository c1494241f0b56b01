/**
 * The guard of one command that is not ours (child.js). It tells how the command has ended, { code, signal } or { error }, and ends, too. Where
 * its parent is gone before, it kills the command's process group and removes its own arguments, which are paths.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const removes = process.argv.slice(2);

/** What is left to do when the parent is gone. */
let leave = removeAndExit;

process.once('message', guard);
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) process.on(event, () => leave());
if (!process.connected) leave(); // the parent was gone before we were up

function guard(/** @type {any} */ { command, args, cwd, env, shell }) {
  const isGroup = process.platform !== 'win32';
  const options = { cwd, env, shell, detached: isGroup, windowsHide: true };
  const child = spawn(command, args, { ...options, stdio: 'inherit' });
  let isOver = false;
  const over = new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ error: message }));
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  leave = () => {
    if (!isOver && child.pid) process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL');
    over.then(removeAndExit);
  };
  over.then((told) => {
    isOver = true;
    if (!process.send || !process.connected) return leave();
    return process.send(told, undefined, {}, (error) => (error ? leave() : process.exit()));
  });
}

function removeAndExit() {
  for (const path of removes) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}
