/** Watching a folder with all below it, also while folders come and go there. */
import { watch } from 'node:fs';

const AGAIN_MS = 200;

/**
 * Calls `tell` whenever something changes below a folder. Where the watching breaks (Node 20 fails on a folder that goes
 * while it is looked into, as in a git checkout) it begins anew, and what was missed meanwhile is told, too.
 * @param {string} folder @param {() => void} tell @returns {{ close(): void }}
 */
export function watchRecursive(folder, tell) {
  /** @type {import('node:fs').FSWatcher | undefined} */
  let watcher;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let isClosed = false;
  const beginAgain = () => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(begin, AGAIN_MS, tell);
  };
  const begin = (/** @type {() => void} */ onBegin) => {
    try {
      watcher?.close();
      watcher = watch(folder, { recursive: true }, () => tell());
      watcher.on('error', beginAgain);
      onBegin();
    } catch {
      beginAgain();
    }
  };
  begin(() => {});
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
