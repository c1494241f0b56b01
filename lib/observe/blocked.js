/** What a process waits for that does not turn its event loop: on Linux from /proc, see proc(5), syscall. */
import { readFileSync, readlinkSync } from 'node:fs';

/** write, writev, sendto and sendmsg, by number: asm/unistd.h. @type {Record<string, number[]>} */
const WRITES = { x64: [1, 20, 44, 46], arm64: [64, 66, 206, 211] };

/**
 * Does its first thread wait in writing to a pipe or a socket, whose other end takes nothing?
 * @param {number} pid
 * @returns {number | undefined}  to which file descriptor; undefined when it does not, or the system does not tell
 */
export function waitsToWrite(pid) {
  try {
    const [call, fd] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' '); // 'running', if it runs
    if (!WRITES[process.arch]?.includes(Number(call))) return undefined;
    const to = readlinkSync(`/proc/${pid}/fd/${Number(fd)}`);
    return /^(pipe|socket):/.test(to) ? Number(fd) : undefined;
  } catch {
    return undefined; // it has ended, or this system does not let us look
  }
}
