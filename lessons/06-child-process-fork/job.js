import { createHash } from 'node:crypto';

let built = 0;

// A report: each row is the SHA-256 of the row before, the first that of the name. The work can't be split, it
// waits for nothing, and it keeps a core busy until it is finished.
function buildReport({ name, rows }) {
  let digest = name;
  for (let row = 0; row < rows; row += 1)
    digest = createHash('sha256').update(digest).digest('hex');
  built += 1;
  return digest;
}

// For the log, once a minute. A timer keeps its process alive.
setInterval(() => console.log(`process ${process.pid} has built ${built} reports`), 60_000);

// #region child
// Task 1: make this file a program. It answers each message { id, job } with { id, digest }.
export { buildReport };
// #endregion child

// A child exits when its parent is gone: the channel closes now, or had already closed while this file was loading.
process.on('disconnect', () => process.exit());
if (process.connected === false) process.exit();
