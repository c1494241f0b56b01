// A worker in an endless regular expression is alive to a supervisor that waits for its exit. After
// godaddy/node-cluster-service#70.
import cluster from 'node:cluster';
import http from 'node:http';

if (cluster.isPrimary) {
  for (let count = 0; count < 2; count += 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
} else {
  const signed = `${'x'.repeat(44)}!`;
  const reviews = Array.from({ length: 60 }, (_, index) =>
    index === 20 ? signed : `lovely tea number ${index}`,
  );
  const plain = /^([a-z0-9]+ ?)+$/; // two ways to read each letter: 2 ** 44 in all
  const isPlain = (text) => plain.test(text);
  let next = 0;
  http
    .createServer((request, response) => {
      const text = reviews[next % reviews.length];
      next += 1;
      response.end(isPlain(text) ? 'plain\n' : 'with signs\n');
    })
    .listen(Number(process.env.PORT));
}
