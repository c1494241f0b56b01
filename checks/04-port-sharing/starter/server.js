// #region imports
import { parseArgs } from 'node:util';
// #endregion imports

const port = process.env.PORT ?? 8080;

const options = { give: { type: 'string', default: 'connections' } };
const { give } = parseArgs({ options }).values;
if (!['connections', 'listener'].includes(give)) {
  console.error(`--give must be connections or listener, not "${give}".`);
  process.exit(1);
}

// #region children
// Task 1: fork child.js NODE_CLUSTER_WORKERS times (unset: once for each core) with node:child_process. A child
// says when it is ready. When all are, it is time to open the port, in the way of task 2 or of task 3.
await import('./child.js'); // so far there is one process, and it serves
// #endregion children

// #region connections
// Task 2, --give connections: keep the listening socket. Accept each connection without reading from it, and send it
// to the ready child whose turn it is.
// #endregion connections

// #region listener
// Task 3, --give listener: open the port, send the listening socket to every child, and close your own copy.
// #endregion listener
