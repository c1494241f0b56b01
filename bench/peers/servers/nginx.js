// N processes, each on its own port, behind nginx. SIGHUP replaces them one after the other, SIGTERM stops nginx first.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { nginxConf } from '../../../solutions/10-nginx-ports/conf.js';
import { handle } from '../app.js';

const { PORT, NODE_CLUSTER_WORKERS, IS_BACKEND, NGINX_FILE, NGINX_FOLDER } = process.env;

if (IS_BACKEND) serve();
else await lead(Number(NODE_CLUSTER_WORKERS));

function serve() {
  const server = http.createServer(handle);
  server.listen(PORT, '127.0.0.1', () => process.send?.('ready'));
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => {
    server.close(() => process.exit());
    setInterval(() => server.closeIdleConnections(), 100);
  });
}

async function lead(count) {
  let isStopping = false;
  const children = [];
  const start = async (index) => {
    const env = { ...process.env, IS_BACKEND: '1', PORT: String(Number(PORT) + 1 + index) };
    const child = (children[index] = fork(new URL(import.meta.url), { env }));
    child.on('exit', () => isStopping || child.isReplaced || start(index));
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  const nginx = startNginx(children.map((_, index) => `127.0.0.1:${Number(PORT) + 1 + index}`));
  process.on('SIGHUP', async () => {
    for (const [index, child] of [...children].entries()) {
      child.isReplaced = true;
      child.kill('SIGTERM');
      await once(child, 'exit');
      await start(index);
    }
  });
  process.on('SIGTERM', () => {
    isStopping = true;
    nginx.kill('SIGQUIT');
    nginx.on('exit', () => children.forEach((child) => child.kill('SIGTERM')));
  });
}

function startNginx(backends) {
  mkdirSync(NGINX_FOLDER, { recursive: true });
  const file = join(NGINX_FOLDER, 'nginx.conf');
  const conf = nginxConf({ port: Number(PORT), backends, folder: NGINX_FOLDER });
  const patient = conf.replaceAll('max_fails=1 fail_timeout=1s', 'max_fails=0'); // processes are replaced one by one
  writeFileSync(file, patient);
  return spawn(NGINX_FILE, ['-p', NGINX_FOLDER, '-c', file], { stdio: 'inherit' });
}
