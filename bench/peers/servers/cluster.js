// The cluster module as its documentation shows it, with a new worker for each that exits.
import cluster from 'node:cluster';
import http from 'node:http';
import { handle } from '../app.js';

if (cluster.isPrimary) {
  for (let count = Number(process.env.NODE_CLUSTER_WORKERS); count > 0; count -= 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
} else {
  http.createServer(handle).listen(process.env.PORT);
}
