// Two servers behind nginx, with the lines of `location` that are its arguments. With --attached nginx
// is in our process group, where Ctrl-C reaches it.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { PORT = 8080, NGINX_BIN = 'nginx' } = process.env;
const isAttached = process.argv.includes('--attached');
const lines = process.argv.slice(2).filter((argument) => argument !== '--attached');
const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
const env = { ...process.env, HOST: '127.0.0.1', PORT: 0 };

const servers = [1, 2].map(() => fork(new URL('../backend.js', import.meta.url), { env }));
const told = await Promise.all(servers.map((server) => once(server, 'message')));

const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const text = `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid "${folder}/nginx.pid";
events {}
http {
  access_log off;
  ${paths.map((path) => `${path}_temp_path "${folder}/${path}";`).join('\n  ')}
  upstream backends { ${told.map(([address]) => `server ${address};`).join(' ')} }
  server {
    listen 127.0.0.1:${PORT};
    location / {
      proxy_pass http://backends;
      ${lines.join('\n      ')}
    }
  }
}`;
const file = join(folder, 'nginx.conf');
writeFileSync(file, text);
const args = ['-p', folder, '-c', file, '-e', 'stderr'];
const nginx = spawn(NGINX_BIN, args, { stdio: 'inherit', detached: !isAttached });

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => nginx.kill('SIGQUIT'));
nginx.on('exit', () => {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true });
});
