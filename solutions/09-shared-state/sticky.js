// #region imports
import { createHash } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
// #endregion imports

// In the primary: returns the function that is called with each new worker and its place, 0 to size - 1.
export function createDealer({ port, size }) {
  // #region dealer
  const places = new Map(); // place → the worker in it, from its 'ready' to its end
  const server = net.createServer({ pauseOnConnect: true }, deal);

  function deal(socket) {
    const digest = createHash('sha256')
      .update(socket.remoteAddress ?? 'gone')
      .digest();
    const home = digest.readUInt32BE() % size; // of all places, filled or not
    const around = Array.from({ length: size }, (_, step) => (home + step) % size);
    const place = around.find((one) => places.has(one)); // home, or while that is empty the next
    if (place === undefined) return socket.destroy();
    places.get(place).send('connection', socket, (error) => {
      if (!error) return;
      places.delete(place); // it has just died; 'exit' comes later
      deal(socket);
    });
  }

  return (worker, place) => {
    worker.on('message', () => {
      places.set(place, worker); // 'ready' is all that a worker says
      if (places.size === size && !server.listening) server.listen(port);
    });
    worker.on('exit', () => places.get(place) === worker && places.delete(place));
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
