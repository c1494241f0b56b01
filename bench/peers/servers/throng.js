// throng, as its README shows it.
import http from 'node:http';
import throng from 'throng';
import { handle } from '../app.js';

throng({ workers: Number(process.env.NODE_CLUSTER_WORKERS), worker });

function worker(id, disconnect) {
  const server = http.createServer(handle).listen(process.env.PORT);
  const stop = () => server.close(disconnect);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
