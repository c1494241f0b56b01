import { statSync, watch } from 'node:fs';

const AGAIN_MS = 200;

/**
 * Calls `tell` whenever something changes below a folder. After an error (Node 20 fails on a folder that vanishes while it
 * is read, as in a git checkout) it watches again, and calls `tell` for the changes that it missed.
 * @param {string} folder @param {() => void} tell @returns {{ close(): void }}
 */
export function watchRecursive(folder, tell) {
  let watcher;
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
      statSync(folder); // Node 24 watches a missing folder without an error, and never sees it
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
