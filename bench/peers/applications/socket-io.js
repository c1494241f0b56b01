// As the READMEs of @socket.io/sticky and @socket.io/cluster-adapter show it.
import cluster from 'node:cluster';
import http from 'node:http';
import { createAdapter, setupPrimary } from '@socket.io/cluster-adapter';
import { setupMaster, setupWorker } from '@socket.io/sticky';
import { Server } from 'socket.io';

if (cluster.isPrimary) {
  const server = http.createServer();
  setupMaster(server, { loadBalancingMethod: 'least-connection' });
  setupPrimary();
  cluster.setupPrimary({ serialization: 'advanced' });
  server.listen(process.env.PORT);
  for (let count = 0; count < 2; count += 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
} else {
  const io = new Server(http.createServer());
  io.adapter(createAdapter());
  setupWorker(io);
}
