import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { handle } from './app.js';

const server = createServer(handle);
const open = new Set();
server.on('request', (request, response) => {
  open.add(response);
  response.on('close', () => open.delete(response));
});
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  server.maxRequestsPerSocket = 1; // Node.js itself says "Connection: close" with the next response
  for (const response of open) response.shouldKeepAlive = false;
  setTimeout(() => cluster.worker.disconnect(), 400);
});
server.listen(process.env.PORT ?? 8080);
