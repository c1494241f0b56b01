import { readFileSync } from 'node:fs';
import { listProcesses } from './processes.js';

const KIB = 1024;

/**
 * RSS counts pages that other processes share, USS only the process's own, PSS a share of the shared ones.
 * @param {number} pid
 * @returns {{ rssBytes: number, ussBytes: number | undefined, pssBytes: number | undefined } | undefined}  undefined without such a
 *   process; USS and PSS undefined outside Linux
 */
export function memoryOf(pid) {
  const rssBytes = listProcesses().find((one) => one.pid === pid)?.rssBytes;
  return rssBytes === undefined ? undefined : { rssBytes, ...ownSizes(pid) };
}

/** See proc(5), smaps. */
function ownSizes(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const kib = [...text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map(([, n]) => +n);
    const pss = /^Pss: +(\d+) kB$/m.exec(text);
    return {
      ussBytes: kib.length === 2 ? (kib[0] + kib[1]) * KIB : undefined,
      pssBytes: pss ? Number(pss[1]) * KIB : undefined,
    };
  } catch {
    return { ussBytes: undefined, pssBytes: undefined };
  }
}
