import cluster from 'node:cluster';
import { createServer } from 'node:http';
import net from 'node:net';
import { handle, version } from './app.js';

const port = process.env.PORT ?? 8080;
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);
const server = createServer(handle);

const open = new Set(); // responses in flight

server.prependListener('request', (request, response) => {
  open.add(response);
  response.on('close', () => open.delete(response));
});

// #region drain
// Task 1: on SIGTERM, leave without losing a request: say "Connection: close" with every response,
// take no new connections, let idle ones go, answer what is in flight, exit. After limitMs exit in
// any case. Ctrl-C is the primary's business.
// #endregion drain

server.listen(port, () => console.log(`worker ${process.pid} serves version ${version}`));
