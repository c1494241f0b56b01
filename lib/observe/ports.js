import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { hasCode } from '../common/files.js';
import { EnvironmentError } from '../common/usage-error.js';

const LOWEST = 20_000;
const COUNT = 12_000; // clients' ports, the ephemeral range, begin at 32768 on Linux
const STRIDE = 7_919; // coprime to COUNT: each port is tried once, and neighbours far apart
const RESERVED_MS = 600_000; // in case it is never released: the check is over by then

/** @type {Map<number, () => void>} port → release */
const reservations = new Map();

/**
 * Reserves a port on which nothing listens, outside the ephemeral range, until releasePort() or for ten minutes. Otherwise another check
 * could take it while the program starts or replaces its last worker. @throws {EnvironmentError}  when all are taken
 * @param {number} [row]  how many in a row @returns {Promise<number>}  the first
 */
export async function reservePort(row = 1) {
  const first = Math.floor(Math.random() * COUNT);
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = LOWEST + ((first + tries * STRIDE) % COUNT);
    const ports = Array.from({ length: row }, (_, index) => port + index);
    const reserved = await Promise.all(ports.map(reserve));
    if (reserved.every(Boolean) && (await areFree(ports))) return port;
    ports.forEach((one, index) => reserved[index] && releasePort(one));
  }
  throw new EnvironmentError(
    `All ports from ${LOWEST} to ${LOWEST + COUNT - 1} are taken.`,
    'End a program that holds them: on Linux, ss -ltnup lists it, elsewhere lsof -i',
  );
}

/** For reserved ports only: it listens for a moment, and a run that had this port would end this process as a daemon it left. */
async function areFree(ports) {
  const free = await Promise.all(ports.map((one) => canListen(one)));
  return free.every(Boolean);
}

/** Releases a port; does nothing if it isn't reserved. @param {number} port */
export function releasePort(port) {
  reservations.get(port)?.();
  reservations.delete(port);
}

/**
 * Binds the UDP port of the same number: the system gives it to one process, and frees it when that exits. Lessons don't use UDP.
 * @param {number} port @returns {Promise<boolean>}  false if another process has it @throws {Error}  if this process may open no more files
 */
function reserve(port) {
  return new Promise((resolve, reject) => {
    const lock = createSocket('udp4').unref();
    lock.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      lock.close();
      if (hasCode(error, 'EMFILE', 'ENFILE')) reject(error);
      else resolve(!hasCode(error, 'EADDRINUSE')); // without UDP there is no reservation
    });
    lock.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      const timer = setTimeout(() => releasePort(port), RESERVED_MS).unref();
      reservations.set(port, () => {
        clearTimeout(timer);
        lock.close();
      });
      resolve(true);
    });
  });
}

/**
 * Can this process listen on a port? @returns {Promise<boolean>} @throws {Error}  when this process may open no more files
 * @param {number} port  0: any @param {string} [address]  all by default; false for an address that this computer doesn't have
 */
export function canListen(port, address) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (hasCode(error, 'EMFILE', 'ENFILE')) reject(error);
      else resolve(false);
    });
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
