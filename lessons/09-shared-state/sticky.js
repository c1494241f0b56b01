// #region imports
// #endregion imports
import net from 'node:net';

// In the primary: returns the function that is called with each new worker and its place, 0 to size - 1.
export function createDealer({ port, size }) {
  const places = new Map(); // place → the worker that is ready in it
  const server = net.createServer({ pauseOnConnect: true }, deal);

  // Deals a connection to its client's place, or, if that is empty, to the next filled place.
  function deal(socket) {
    const home = placeOf(socket.remoteAddress ?? 'gone');
    const around = Array.from({ length: size }, (_, step) => (home + step) % size);
    const place = around.find((one) => places.has(one));
    if (place === undefined) return socket.destroy();
    places.get(place).send('connection', socket, (error) => {
      if (!error) return;
      places.delete(place); // it has just died; 'exit' comes later
      deal(socket);
    });
  }

  // #region place
  // Task 2: a place, 0 to size - 1: the same one whenever this address comes.
  function placeOf(address) {
    return 0;
  }
  // #endregion place

  // #region dealer
  // Task 2: fill a place when its worker is ready, empty it on 'exit', and open the port when all are filled.
  return (worker, place) => {};
  // #endregion dealer
}

// In a worker: serves the connections that the primary deals to it.
export function serveDealt(app) {
  // #region dealt
  // Task 2: serve the connections that the primary sends to this worker.
  app.listen(process.env.PORT ?? 8080); // so far the cluster module deals them, in turn
  // #endregion dealt
}
