import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { start, stopAll } from './children.js';
import { nginxConf } from './conf.js';

const port = process.env.PORT ?? 8080;
const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const { machines } = parseArgs({ options: { machines: { type: 'boolean' } } }).values;
const { NGINX_BIN: nginx = 'nginx', PATH } = process.env;
const env = { ...process.env, PATH: `${PATH}:/usr/sbin:/usr/local/sbin` }; // servers are in sbin
const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
const file = join(folder, 'nginx.conf');
const args = ['-p', folder, '-c', file, '-e', 'stderr'];
let front; // nginx, once it has been started

// #region nginx
function startNginx(backends) {
  writeFileSync(file, nginxConf({ port, backends, folder }));
  front = spawn(nginx, args, { env, stdio: 'inherit', detached: true }); // Ctrl-C is for us
  front.on('error', fail); // there is no such program
  front.on('exit', (code) => fail(new Error(`nginx exited with code ${code}`)));
  console.log(`http://127.0.0.1:${port} leads to ${backends.join(', ')}`);
}
// #endregion nginx

// #region stop
let isStopping = false;

async function stop() {
  if (isStopping) return;
  isStopping = true;
  if (front?.kill('SIGQUIT')) await once(front, 'exit'); // gracefully
  await stopAll();
  rmSync(folder, { recursive: true });
}

function fail(error) {
  if (isStopping) return;
  console.error(error.message);
  process.exitCode = 1;
  stop();
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
// #endregion stop

// #region machines
async function startMachine(HOST) {
  const { child, address } = await start('machine.js', { HOST, PORT: port });
  const boot = () => isStopping || startMachine(HOST).catch(() => setTimeout(boot, 1_000));
  child.on('exit', () => isStopping || setTimeout(boot, 1_000));
  return address;
}
// #endregion machines

// #region run
const startPort = async () => (await start('backend.js', { HOST: '127.0.0.1', PORT: 0 })).address;
const starting = machines
  ? ['127.0.0.2', '127.0.0.3'].map(startMachine)
  : Array.from({ length: count }, startPort);
const begin = (backends) => isStopping || startNginx(backends);
Promise.all(starting).then(begin).catch(fail);
// #endregion run
