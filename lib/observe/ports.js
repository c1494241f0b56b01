/** Ports for the programs of a run. */
import { createServer } from 'node:net';

const LOWEST = 20_000;
const HIGHEST = 32_000; // the ephemeral range, from which clients' ports come, begins at 32768 on Linux

/**
 * A port on which nobody listens, outside the ephemeral range.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
