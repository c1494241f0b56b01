// Runs a shop as users of PM2 or throng do, behind one process that takes SIGHUP for "deploy" and SIGTERM for "stop":
// `node shop.js pm2|throng SERVER WORKERS`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [tool, server, workers] = process.argv.slice(2);
const fileOf = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const PM2 = fileOf('../node_modules/pm2/bin/pm2');
const home = mkdtempSync(join(tmpdir(), 'p')); // a short name: PM2's sockets in it are limited to some hundred characters
const env = { ...process.env, PM2_HOME: home, PM2_DISCRETE_MODE: 'true' };

const tools = {
  pm2: {
    start: [PM2, 'start', server, '-i', workers, '--no-daemon', '--name', 'shop'],
    deploy: () => run([PM2, 'reload', 'shop']),
  },
  throng: {
    start: [fileOf('shop-throng.js'), server, workers],
    deploy: () => running.kill('SIGTERM'), // throng has no reload: a new version is a new start
  },
};

let isStopping = false;
let running = start();

const run = (/** @type {string[]} */ args) =>
  spawn(process.execPath, args, { env, stdio: 'inherit' });

function start() {
  const started = spawn(process.execPath, tools[tool].start, { env, stdio: 'inherit' });
  started.on('exit', (code) => {
    if (!isStopping && tool === 'throng') running = start();
    else end(code);
  });
  return started;
}

function end(/** @type {number | null} */ code) {
  rmSync(home, { recursive: true, force: true });
  process.exit(code ?? 1);
}

process.on('SIGHUP', () => tools[tool].deploy());
process.on('SIGTERM', () => {
  isStopping = true;
  running.kill('SIGTERM');
});
