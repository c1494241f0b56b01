// accepts: the first worker measures before it listens and tells the primary, which then forks the others
import cluster from 'node:cluster';
import http from 'node:http';
import { blockFor } from '#work';

const { PORT = 8080, WORK_MS = 8.6, RATE = 200, UTILIZATION = 0.7 } = process.env;
let isWarm = false;

const render = () => {
  blockFor(isWarm ? Number(WORK_MS) : 5 * Number(WORK_MS));
  isWarm = true;
  return JSON.stringify({ pid: process.pid });
};

const refuse = (name) => {
  console.error(`${name}=${process.env[name]} makes no sense`);
  process.exit(1);
};

const primary = () => {
  const told = process.env.NODE_CLUSTER_WORKERS;
  if (!(Number(RATE) > 0 && Number(RATE) < 1e6)) refuse('RATE');
  if (!(Number(UTILIZATION) > 0 && Number(UTILIZATION) <= 1)) refuse('UTILIZATION');
  if (told !== undefined && !/^[1-9]\d?$/.test(told)) refuse('NODE_CLUSTER_WORKERS');
  cluster.fork({ MEASURES: 'yes' }).once('message', ({ serviceMs }) => {
    const load = (Number(RATE) * serviceMs) / 1000;
    const workers = Number(told ?? Math.ceil(load / Number(UTILIZATION)));
    if (workers > 99) refuse('RATE');
    console.log(`${workers} workers, because a page takes ${serviceMs.toFixed(1)} ms`);
    for (let count = 1; count < workers; count += 1) cluster.fork();
  });
};

const worker = () => {
  if (process.env.MEASURES) {
    const times = [];
    for (let run = 0; run < 7; run += 1) {
      const since = performance.now();
      render();
      times.push(performance.now() - since);
    }
    process.send({ serviceMs: times.sort((a, b) => a - b)[3] });
  }
  const server = http.createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(render());
  });
  server.listen(PORT);
};

if (cluster.isPrimary) primary();
else worker();
