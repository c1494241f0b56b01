// accepts: keeps account of its sockets by hand, and closes each when nothing on it is in flight
import cluster from 'node:cluster';
import http from 'node:http';
import { availableParallelism } from 'node:os';

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

class Drainable {
  sockets = new Map();
  responses = new Set();
  isDraining = false;

  constructor(handle) {
    this.server = http.createServer((request, response) => {
      const { socket } = request;
      this.sockets.set(socket, this.sockets.get(socket) + 1);
      this.responses.add(response);
      if (this.isDraining) this.sayGoodbye();
      response.on('close', () => {
        this.responses.delete(response);
        if (!this.sockets.has(socket)) return; // its client has hung up: it has been forgotten
        this.sockets.set(socket, this.sockets.get(socket) - 1);
        if (this.isDraining) this.sweep(socket);
      });
      handle(request, response);
    });
    this.server.on('connection', (socket) => {
      this.sockets.set(socket, 0);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  sayGoodbye() {
    for (const response of this.responses)
      if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  sweep(socket) {
    if (this.sockets.get(socket) === 0 && this.isOver) socket.end();
  }

  drain() {
    if (this.isDraining) return;
    this.isDraining = true;
    this.sayGoodbye();
    setTimeout(() => {
      this.isOver = true;
      cluster.worker.disconnect();
      for (const socket of this.sockets.keys()) this.sweep(socket);
    }, 250);
    setTimeout(() => process.exit(1), limitMs).unref();
  }
}

class Primary {
  isStopping = false;
  pending = 0;

  async reload() {
    this.pending += 1;
    if (this.pending > 1) return;
    while (this.pending > 0) {
      await this.renew();
      this.pending = Math.min(this.pending - 1, 1);
    }
  }

  async renew() {
    for (const old of Object.values(cluster.workers)) {
      if (this.isStopping) return;
      const fresh = cluster.fork();
      const event = await new Promise((resolve) => {
        fresh.on('listening', () => resolve('listening'));
        fresh.on('exit', () => resolve('exit'));
      });
      if (event === 'exit') {
        console.warn('stopped: the new worker has ended');
        return;
      }
      await this.retire(old);
    }
  }

  retire(worker) {
    return new Promise((resolve) => {
      worker.on('exit', resolve);
      if (worker.isDead()) return resolve();
      for (const event of ['now', 'listening']) worker.on(event, () => worker.send('drain', () => {}));
      worker.emit('now');
      setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 1_000).unref();
    });
  }

  stop() {
    this.isStopping = true;
    Object.values(cluster.workers).forEach((worker) => this.retire(worker));
  }
}

if (cluster.isPrimary) {
  const primary = new Primary();
  process.on('SIGHUP', () => primary.reload());
  process.on('SIGTERM', () => primary.stop());
  process.on('SIGINT', () => primary.stop());
  for (let count = 0; count < size; count += 1) cluster.fork();
} else {
  const { handle } = await import('./app.js');
  const drainable = new Drainable(handle);
  process.on('message', (message) => message === 'drain' && drainable.drain());
  process.on('SIGTERM', () => drainable.drain());
  process.on('SIGINT', () => {});
  drainable.server.listen(port);
}
