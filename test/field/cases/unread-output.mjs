// A team wanted a quiet terminal: silent: true gives each worker a pipe for its output, which no code reads. When the pipe is
// full, write() blocks. After nodejs/node#4236.
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import http from 'node:http';

if (cluster.isPrimary) {
  cluster.setupPrimary({ silent: true });
  for (let count = 0; count < 2; count += 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
} else {
  const catalogue = Array.from({ length: 24 }, (_, id) => ({
    ...{ id, name: `Tea no. ${id}`, cents: 450 + id * 25 },
  }));
  http
    .createServer((request, response) => {
      const { method, url, headers } = request;
      // An access log with headers and body, written at once, as pino does by default.
      const entry = { level: 'debug', pid: process.pid, method, url, headers, body: catalogue };
      response.on('finish', () => writeSync(1, `${JSON.stringify(entry)}\n`));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(catalogue));
    })
    .listen(Number(process.env.PORT));
}
