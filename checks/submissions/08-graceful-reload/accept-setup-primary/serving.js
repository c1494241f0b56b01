import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { handle } from './app.js';

const server = createServer(handle);
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  server.maxRequestsPerSocket = 1; // Node.js itself says "Connection: close" with the next response
  server.keepAliveTimeout = 50; // and soon closes those that answer now
  setTimeout(() => cluster.worker.disconnect(), 400);
});
server.listen(process.env.PORT ?? 8080);
