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
// Task 2: startNginx(backends) writes the configuration and starts nginx.
// #endregion nginx

// #region stop
// Task 2: on SIGTERM and on Ctrl-C (SIGINT) answer what is in flight, end everything, remove the
// folder. Do the same, with a message and exit code 1, when nginx cannot start.
// #endregion stop

// #region machines
// Task 3: startMachine(HOST) starts machine.js on its own address, and again a second after it exits.
// #endregion machines

// #region run
// Tasks 2 and 3: start nginx when all backends listen; with --machines the backends are two machines.
const startPort = async () => (await start('backend.js', { HOST: '127.0.0.1', PORT: 0 })).address;
const backends = await Promise.all(Array.from({ length: count }, startPort));
console.log(`${count} servers: ${backends.join(', ')}. Which one should a client take?`);
// #endregion run
