// The smallest cluster: it leaves the policy to Node, which looks at NODE_CLUSTER_SCHED_POLICY.
import cluster from 'node:cluster';
import http from 'node:http';

if (cluster.isPrimary) {
  const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? 4);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  const server = http.createServer((request, response) => response.end(`${process.pid}\n`));
  server.listen(process.env.PORT ?? 8080);
}
