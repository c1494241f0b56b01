/** Ports for the programs of a run. */
import { createServer } from 'node:net';

const LOWEST = 20_000;
const HIGHEST = 32_000; // the ephemeral range, from which clients' ports come, begins at 32768 on Linux

/**
 * A port on which nobody listens, outside the ephemeral range.
 * @param {number} [row]  so many in a row, of which it is the first
 * @returns {Promise<number>}
 */
export async function freePort(row = 1) {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const ports = Array.from({ length: row }, (_, index) => port + index);
    const areFree = await Promise.all(ports.map(isFree));
    if (areFree.every(Boolean)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
