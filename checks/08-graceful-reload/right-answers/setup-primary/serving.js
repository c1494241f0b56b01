import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { handle } from './app.js';

const server = createServer(handle);
const open = new Set();
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);
server.on('request', (request, response) => {
  open.add(response);
  response.on('close', () => open.delete(response));
});
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  server.maxRequestsPerSocket = 1; // Node.js itself says "Connection: close" with the next response
  for (const response of open) response.shouldKeepAlive = false;
  setTimeout(() => cluster.worker.disconnect(), 400);
  setInterval(() => server.closeIdleConnections(), 500).unref(); // including connections that become idle later
  setTimeout(() => process.exit(1), limitMs).unref();
});
server.listen(process.env.PORT ?? 8080);
