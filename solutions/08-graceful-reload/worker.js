import cluster from 'node:cluster';
import { createServer } from 'node:http';
import net from 'node:net';
import { handle, version } from './app.js';

const port = process.env.PORT ?? 8080;
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);
const server = createServer(handle);

// #region drain
const goodbyeMs = 300; // time for clients to come once more, and be told not to come again
const open = new Set(); // responses under way
let isDraining = false;

server.prependListener('request', (request, response) => {
  open.add(response);
  response.on('close', () => open.delete(response));
  if (isDraining) sayClose(response);
});

function sayClose(response) {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function drain() {
  if (isDraining) return;
  isDraining = true;
  open.forEach(sayClose);
  net.Server.prototype.close.call(server, () => cluster.worker.disconnect()); // none new
  setTimeout(() => server.closeIdleConnections(), goodbyeMs); // none idle
  setTimeout(() => process.exit(1), limitMs).unref(); // whatever a client does, not for ever
}

process.on('message', (message) => message === 'drain' && drain());
process.on('SIGTERM', drain);
process.on('SIGINT', () => {}); // Ctrl-C reaches the workers, too: the primary says what it means
// #endregion drain

server.listen(port, () => console.log(`worker ${process.pid} serves version ${version}`));
