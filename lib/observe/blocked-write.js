import { readFileSync, readlinkSync } from 'node:fs';

/** write, writev, sendto and sendmsg, by number: asm/unistd.h. @type {Record<string, number[]>} */
const WRITES = { x64: [1, 20, 44, 46], arm64: [64, 66, 206, 211] };

/**
 * Does the main thread block in a write to a pipe or socket whose reader doesn't read? See proc(5), syscall.
 * @param {number} pid @returns {number | undefined}  the file descriptor; undefined if not, or unknown
 */
export function waitsToWrite(pid) {
  try {
    const [call, fd] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' '); // 'running', if it runs
    if (!WRITES[process.arch]?.includes(Number(call))) return undefined;
    const to = readlinkSync(`/proc/${pid}/fd/${Number(fd)}`);
    return /^(pipe|socket):/.test(to) ? Number(fd) : undefined;
  } catch {
    return undefined; // it has exited, or this isn't Linux
  }
}
