// accepts: node:http; a message makes workers close their server, once they listen, and call process.exit(0)
import cluster from 'node:cluster';
import http from 'node:http';
import { availableParallelism } from 'node:os';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

class Supervisor {
  #stopping = false;
  #strikes = 0;

  start() {
    cluster.on('listening', (worker) => {
      this.#strikes = 0;
      if (this.#stopping) worker.send('stop'); // a message that came before it listened may be lost
    });
    cluster.on('exit', (worker, code, signal) => this.#gone(worker, code, signal));
    for (let n = 0; n < size; n += 1) cluster.fork();
    process.once('SIGTERM', () => this.stop());
    process.once('SIGINT', () => this.stop());
  }

  stop() {
    this.#stopping = true;
    for (const worker of Object.values(cluster.workers)) worker.send('stop');
  }

  #gone({ process: { pid }, exitedAfterDisconnect }, code, signal) {
    const wasAsked = this.#stopping || exitedAfterDisconnect;
    console.warn('worker', pid, wasAsked ? 'has left:' : 'is gone:', signal ?? code);
    if (this.#stopping || exitedAfterDisconnect || (code === 0 && !signal)) return;
    if (++this.#strikes === 5) {
      console.error('giving up after 5 failures');
      process.exitCode = 1;
      return this.stop();
    }
    setTimeout(() => this.#stopping || cluster.fork(), 50 * 2 ** this.#strikes);
  }
}

function serve() {
  const routes = {
    '/': (response) => {
      blockFor(between(10, 20));
      response.end(randomHex(between(5_000, 10_000)));
    },
    '/report': (response) => setTimeout(() => response.end('{"rows":100}'), 300),
    '/buggy': () => setTimeout(() => undefined.rows, 10),
  };
  const server = http.createServer((request, response) => routes[request.url](response));
  server.listen(port);
  process.on('message', (message) => message === 'stop' && server.close(() => process.exit(0)));
  process.on('SIGTERM', () => cluster.worker.disconnect());
  process.on('SIGINT', () => {});
}

if (cluster.isPrimary) new Supervisor().start();
else serve();
