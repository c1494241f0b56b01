/**
 * The guard of one command (child.js). It reports how the command exited, as { code, signal } or { error }, and exits. If its
 * parent exits first, it kills the command's process group and removes the paths in its own arguments.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const removes = process.argv.slice(2);

let leave = removeAndExit;

process.once('message', guard);
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) process.on(event, () => leave());
if (!process.connected) leave(); // the parent exited while this process was starting

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
  over.then((outcome) => {
    isOver = true;
    if (!process.send || !process.connected) return leave();
    return process.send(outcome, undefined, {}, (error) => (error ? leave() : process.exit()));
  });
}

function removeAndExit() {
  for (const path of removes) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}
