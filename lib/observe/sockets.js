/** Which processes hold the listening socket of a port, and how full its accept queue is: on Linux from /proc, see proc(5). */
import { closeSync, openSync, readSync, readdirSync, readlinkSync } from 'node:fs';

const LISTENING = '0A'; // the state's name in /proc/net/tcp
const PAGE_BYTES = 4096;

/**
 * The processes of a run that hold a listening socket on the program's port. Two with the same inode share one socket.
 * @param {import('./program.js').Program} program @returns {{ pid: number, inode: string }[] | undefined}  undefined outside Linux
 */
export function listeningSockets(program) {
  if (process.platform !== 'linux') return undefined;
  const inodes = new Set(listenersAt(program.port).map(({ inode }) => inode));
  return program
    .survivors()
    .flatMap((pid) =>
      [...new Set(socketsOf(pid))]
        .filter((inode) => inodes.has(inode))
        .map((inode) => ({ pid, inode })),
    );
}

/**
 * The pids that hold a listening socket on the port; empty outside Linux.
 * @param {number} port @param {() => number[]} pids  candidates; called only if any process listens there
 */
export function holdersOf(port, pids) {
  if (process.platform !== 'linux') return [];
  const inodes = new Set(listenersAt(port).map(({ inode }) => inode));
  if (inodes.size === 0) return [];
  return pids().filter((pid) => socketsOf(pid).some((inode) => inodes.has(inode)));
}

/** Connections in the port's accept queue (rx_queue). @param {number} port @returns {number | undefined}  undefined outside Linux */
export function acceptQueueOf(port) {
  if (process.platform !== 'linux') return undefined;
  return listenersAt(port).reduce((sum, { waiting }) => sum + waiting, 0);
}

/** Its columns are hexadecimal: an address "0100007F:1F90", and "tx_queue:rx_queue". */
function listenersAt(port) {
  const rows = ['tcp', 'tcp6'].flatMap((table) => readIfThere(() => listeningIn(table)));
  return rows.flatMap(([, local, , , queues, , , , , inode]) => {
    const isOurs = parseInt(local.split(':')[1], 16) === port;
    return isOurs ? [{ inode, waiting: parseInt(queues.split(':')[1], 16) }] : [];
  });
}

/**
 * Reads only the rows of listening sockets. Linux lists them first, then all connections; thousands of closed ones would take it
 * 20 ms (tcp_get_idx() in net/ipv4/tcp_ipv4.c).
 */
function listeningIn(/** @type {string} */ table) {
  const fd = openSync(`/proc/net/${table}`, 'r');
  try {
    const page = Buffer.alloc(PAGE_BYTES);
    let text = '';
    for (;;) {
      const size = readSync(fd, page);
      text += page.toString('latin1', 0, size);
      const rows = text
        .split('\n')
        .slice(1, -1) // without the head and an incomplete line
        .map((line) => line.trim().split(/\s+/));
      const listening = rows.filter(([, , , state]) => state === LISTENING);
      if (size === 0 || listening.length < rows.length) return listening;
    }
  } finally {
    closeSync(fd);
  }
}

/** The inodes of a process's sockets: its descriptors link to "socket:[12345]". */
function socketsOf(pid) {
  const folder = `/proc/${pid}/fd`;
  return readIfThere(() => readdirSync(folder)).flatMap((fd) => {
    const [link] = readIfThere(() => [readlinkSync(`${folder}/${fd}`)]);
    return /^socket:\[(\d+)\]$/.exec(link ?? '')?.slice(1) ?? [];
  });
}

/** Empty if the process has exited. @template T @param {() => T[]} read */
function readIfThere(read) {
  try {
    return read();
  } catch {
    return [];
  }
}
