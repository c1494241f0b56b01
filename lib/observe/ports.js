/** Ports for the programs of a run. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const LOWEST = 20_000;
const HIGHEST = 32_000; // the ephemeral range, from which clients' ports come, begins at 32768 on Linux
const KEPT_MS = 60_000; // by then the program listens there, or it never will

/**
 * A port on which nobody listens, outside the ephemeral range. For a minute nobody else is given it, in this process or in
 * another one: checks run beside each other, and a program takes a while until it listens.
 * @param {number} [row]  so many in a row, of which it is the first
 * @returns {Promise<number>}
 */
export async function freePort(row = 1) {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const ports = Array.from({ length: row }, (_, index) => port + index);
    const kept = await Promise.all(ports.map(keep));
    const areFree = await Promise.all(ports.map((one) => canListen(one)));
    if (kept.every(Boolean) && areFree.every(Boolean)) return port;
    for (const letGo of kept) letGo?.();
  }
}

/**
 * Binds the UDP port of the same number, which no program of a lesson uses: the system gives it to one process only, and
 * takes it back when that ends.
 * @param {number} port
 * @returns {Promise<(() => void) | undefined>}  lets it go; undefined when another one has it
 */
function keep(port) {
  return new Promise((resolve) => {
    const lock = createSocket('udp4').unref();
    const timer = setTimeout(() => lock.close(), KEPT_MS).unref();
    lock.once('close', () => clearTimeout(timer));
    const letGo = () => void lock.close();
    lock.once('error', (/** @type {NodeJS.ErrnoException} */ { code }) => {
      if (code === 'EADDRINUSE') letGo();
      resolve(code === 'EADDRINUSE' ? undefined : letGo); // where there is no UDP, it may do without
    });
    lock.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(letGo));
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
