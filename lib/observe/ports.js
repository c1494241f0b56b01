/** Ports for the programs of a run. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { hasCode } from '../common/files.js';
import { EnvironmentError } from '../common/usage-error.js';

const LOWEST = 20_000;
const COUNT = 12_000; // the ephemeral range, from which clients' ports come, begins at 32768 on Linux
const STRIDE = 7_919; // has no factor in common with COUNT: each port is tried once, none beside the last
const KEPT_MS = 600_000; // where nobody says sooner that it is free: by then the check is over

/** @type {Map<number, () => void>} what is kept */
const locks = new Map();

/**
 * A port on which nobody listens, outside the ephemeral range. Nobody else is given it, in this process or in another one,
 * until it is let go, for ten minutes at the most: checks run beside each other, a program takes a while until it listens, and
 * one whose workers have all died listens no more until they are replaced.
 * @param {number} [row]  so many in a row, of which it is the first
 * @returns {Promise<number>}
 * @throws {EnvironmentError}  when all are taken
 */
export async function freePort(row = 1) {
  const first = Math.floor(Math.random() * COUNT);
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = LOWEST + ((first + tries * STRIDE) % COUNT);
    const ports = Array.from({ length: row }, (_, index) => port + index);
    const kept = await Promise.all(ports.map(keep));
    if (kept.every(Boolean) && (await areFree(ports))) return port;
    ports.forEach((one, index) => kept[index] && letGo(one));
  }
  throw new EnvironmentError(
    `All ports from ${LOWEST} to ${LOWEST + COUNT - 1} are taken.`,
    'End a program that holds them: on Linux, ss -ltnup lists it, elsewhere lsof -i',
  );
}

/**
 * To be asked of one's own ports only: to find out is to listen there for a moment, and whoever listens on the port of
 * another run may be ended with it, as a daemon that it has left.
 * @param {number[]} ports
 */
async function areFree(ports) {
  const free = await Promise.all(ports.map((one) => canListen(one)));
  return free.every(Boolean);
}

/**
 * Somebody else may have it now. Nothing happens where it was not kept, or no longer is.
 * @param {number} port
 */
export function letGo(port) {
  locks.get(port)?.();
  locks.delete(port);
}

/**
 * Binds the UDP port of the same number, which no program of a lesson uses: the system gives it to one process only, and
 * takes it back when that ends.
 * @param {number} port
 * @returns {Promise<boolean>}  false when another one has it
 * @throws {Error}  when this process may open nothing more
 */
function keep(port) {
  return new Promise((resolve, reject) => {
    const lock = createSocket('udp4').unref();
    lock.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      lock.close();
      if (hasCode(error, 'EMFILE', 'ENFILE')) reject(error);
      else resolve(!hasCode(error, 'EADDRINUSE')); // where there is no UDP, it may do without
    });
    lock.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      const timer = setTimeout(() => letGo(port), KEPT_MS).unref();
      locks.set(port, () => {
        clearTimeout(timer);
        lock.close();
      });
      resolve(true);
    });
  });
}

/**
 * Can somebody listen there just now?
 * @param {number} port  0: any
 * @param {string} [address]  every one unless told; false for one that this computer does not have
 * @returns {Promise<boolean>}
 */
export function canListen(port, address) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
