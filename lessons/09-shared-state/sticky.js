// #region imports
import net from 'node:net';
// #endregion imports

// In the primary: returns the function that is called with each new worker and its place, 0 to size - 1.
export function createDealer({ port, size }) {
  // #region dealer
  // Task 2: open the port as in lesson 4, and deal each connection to the worker in its client's place.
  return (worker, place) => {};
  // #endregion dealer
}

// In a worker: serves the connections that the primary deals to it.
export function serveDealt(app) {
  // #region dealt
  // Task 2: serve the connections that the primary deals to this worker.
  app.listen(process.env.PORT ?? 8080); // so far the cluster module deals them, in turn
  // #endregion dealt
}
