// #region imports
import { createHash } from 'node:crypto';
import http from 'node:http';
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
  function placeOf(address) {
    return createHash('sha256').update(address).digest().readUInt32BE() % size;
  }
  // #endregion place

  // #region dealer
  return (worker, place) => {
    worker.on('message', () => {
      places.set(place, worker); // 'ready' is all that a worker says
      if (places.size === size && !server.listening) server.listen(port);
    });
    worker.on('exit', () => places.delete(place));
  };
  // #endregion dealer
}

// In a worker: serves the connections that the primary deals to it.
export function serveDealt(app) {
  // #region dealt
  const server = http.createServer(app);
  process.on('message', (message, socket) => socket && server.emit('connection', socket));
  process.send('ready');
  // #endregion dealt
}
