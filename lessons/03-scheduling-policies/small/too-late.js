// The policy is set after the first fork. What does it read back as, and who accepts connections?
import cluster from 'node:cluster';
import http from 'node:http';

if (cluster.isPrimary) {
  cluster.fork();
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const isNone = cluster.schedulingPolicy === cluster.SCHED_NONE;
  console.log(`the policy reads back as ${isNone ? 'none' : 'rr'}`);
} else {
  const server = http.createServer((request, response) => response.end('hello\n'));
  server.listen(process.env.PORT ?? 8080, () => {
    // A worker that accepts has a TCP handle; one that is dealt to has a plain object in its place.
    const isDealtTo = server._handle.constructor === Object;
    console.log(`connections are accepted by the ${isDealtTo ? 'primary' : 'worker'}`);
  });
}
