// Two cluster workers listen, one after the other: PORT=0 node same-port.js, and with the word exclusive after it.
import cluster from 'node:cluster';
import { createServer } from 'node:net';

if (cluster.isPrimary) {
  cluster.fork().once('message', () => cluster.fork());
} else {
  const server = createServer();
  const tell = (what) => {
    console.log(`worker ${cluster.worker.id}: ${what}`);
    process.send('done');
  };
  server.on('error', ({ message }) => tell(message));
  server.on('listening', () => tell(`listens on port ${server.address().port}`));
  server.listen({ port: process.env.PORT ?? 8080, exclusive: process.argv[2] === 'exclusive' });
  setTimeout(() => process.exit(), 2_000);
}
