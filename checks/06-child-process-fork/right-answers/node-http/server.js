// accepts: node:http in place of express; the pool and the job in CommonJS
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';

const { Pool } = createRequire(import.meta.url)('./pool.cjs');
const pool = new Pool(Number(process.env.JOB_CHILDREN ?? os.availableParallelism()));

const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname === '/') return response.end('hello\n');
  if (url.pathname === '/health') return response.end('{"status":"ok","eventLoopDelayMs":0}');
  const job = { name: url.searchParams.get('name') ?? 'ada', rows: Number(url.searchParams.get('rows') ?? 100_000) };
  pool.build(job, (error, digest) => {
    response.writeHead(error ? 503 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(error ? { error: error.message } : { ...job, digest }));
  });
});
server.listen(process.env.PORT ?? 8080);
