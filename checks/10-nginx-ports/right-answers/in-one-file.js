// accepts: all in one file, node:http, with the roles in a variable
import { fork, spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blockFor } from '#work';

const { ROLE, HOST, PORT = '8080', NODE_CLUSTER_WORKERS = '2', NGINX_BIN = 'nginx' } = process.env;
const isMachines = process.argv.includes('--machines');
const children = new Set();
let isStopping = false;
let folder;
let front;

if (ROLE === 'server') serve();
else if (ROLE === 'machine') beMachine();
else main();

function serve() {
  const server = createServer((request, response) => {
    const { url, headers, socket } = request;
    if (url === '/client') {
      const forwarded = headers['x-forwarded-for'] ?? socket.remoteAddress;
      response.end(forwarded.split(',').at(-1).trim());
    } else if (url === '/report') {
      setTimeout(() => response.end('{"rows":100}'), 300);
    } else {
      if (url === '/') blockFor(15);
      response.end(`${process.pid}\n`);
    }
  });
  server.listen(Number(PORT), HOST, () => {
    const { address, port } = server.address();
    process.send(`${address}:${port}`);
  });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => server.close(() => process.exit()));
  process.on('disconnect', () => process.exit());
}

function beMachine() {
  if (cluster.isWorker) return serve();
  const size = Number(NODE_CLUSTER_WORKERS);
  const up = [];
  let ended = 0;
  for (let count = 0; count < size; count += 1) {
    const worker = cluster.fork({ ROLE: 'machine' });
    worker.on('listening', ({ address, port }) => {
      if (up.push(worker) === size) process.send(`${address}:${port}`);
    });
    worker.on('exit', () => {
      ended += 1;
      if (ended === size) process.exit();
    });
  }
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => up.forEach((worker) => worker.process.kill('SIGTERM')));
  process.on('disconnect', () => process.exit());
}

function start(variables) {
  const child = fork(process.argv[1], { env: { ...process.env, ...variables } });
  children.add(child);
  return new Promise((resolve, reject) => {
    child.on('message', (address) => resolve({ child, address }));
    child.on('exit', () => {
      children.delete(child);
      reject(new Error('a server has ended before it listened'));
    });
  });
}

async function main() {
  folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  try {
    const backends = isMachines ? await startMachines() : await startPorts();
    if (!isStopping) startNginx(backends);
  } catch (error) {
    fail(error.message);
  }
}

async function startPorts() {
  const wanted = Array.from({ length: Number(NODE_CLUSTER_WORKERS) });
  const started = await Promise.all(
    wanted.map(() => start({ ROLE: 'server', HOST: '127.0.0.1', PORT: 0 })),
  );
  return started.map(({ address }) => address);
}

function startMachines() {
  return Promise.all(['127.0.0.2', '127.0.0.3'].map(startMachine));
}

async function startMachine(address) {
  const machine = await start({ ROLE: 'machine', HOST: address });
  const later = () => setTimeout(boot, 1_000);
  const boot = () => isStopping || startMachine(address).catch(later);
  machine.child.on('exit', later);
  return machine.address;
}

function startNginx(backends) {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, conf(backends));
  const args = ['-p', folder, '-c', file, '-e', 'stderr'];
  front = spawn(NGINX_BIN, args, { stdio: 'inherit', detached: true });
  front.on('error', ({ code }) => fail(`nginx cannot be started: ${code}`));
  front.on('exit', (code) => isStopping || fail(`nginx has ended with exit code ${code}`));
}

function conf(backends) {
  const servers = backends.map((address) => `server ${address} fail_timeout=1s;`);
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid "${folder}/nginx.pid";
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path "${folder}/body";
  proxy_temp_path "${folder}/proxy";
  fastcgi_temp_path "${folder}/fastcgi";
  uwsgi_temp_path "${folder}/uwsgi";
  scgi_temp_path "${folder}/scgi";
  upstream backends {
    ${servers.join(' ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${PORT};
    location / {
      proxy_pass http://backends;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;
}

function fail(message) {
  if (isStopping) return;
  console.error(message);
  process.exitCode = 1;
  stop();
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  if (front?.kill('SIGQUIT')) await once(front, 'exit');
  const gone = [...children].map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(gone);
  rmSync(folder, { recursive: true });
}
