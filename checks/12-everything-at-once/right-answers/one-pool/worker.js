import cluster from 'node:cluster';
import http from 'node:http';
import net from 'node:net';
import { createApp } from './app.js';

const app = createApp();
const open = new Set();
let isLeaving = false;
const goodbye = (response) => response.headersSent || response.setHeader('Connection', 'close');
const server = http.createServer((request, response) => {
  open.add(response);
  response.on('close', () => open.delete(response));
  if (isLeaving) goodbye(response);
  app(request, response);
});

process.on('SIGINT', () => {});
process.once('SIGTERM', () => {
  process.on('SIGTERM', () => {});
  isLeaving = true;
  open.forEach(goodbye);
  net.Server.prototype.close.call(server, () => cluster.worker.disconnect());
  setTimeout(() => setInterval(() => server.closeIdleConnections(), 50).unref(), 250).unref();
  setTimeout(() => process.exit(1), 10_000).unref();
});
server.listen(process.env.PORT ?? 8080);
