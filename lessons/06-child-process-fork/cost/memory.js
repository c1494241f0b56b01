// The bytes that belong to this process alone (USS), from Linux's /proc. Elsewhere NaN: there is no telling.
import { readFileSync } from 'node:fs';

export function ownBytes(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const parts = [...text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)];
    return parts.reduce((sum, [, kib]) => sum + kib * 1024, 0);
  } catch {
    return NaN;
  }
}
