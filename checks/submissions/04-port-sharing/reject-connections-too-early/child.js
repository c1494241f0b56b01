let server;

process.on('message', (message, handle) => {
  if (!handle) return;
  if (message === 'listener') server.listen(handle);
  else server?.emit('connection', handle);
});
process.on('disconnect', () => process.exit());

const { createServer } = await import('node:http');
const { default: express } = await import('express');
const { between, blockFor, randomHex } = await import('#work');

const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/pid', (request, response) => {
  response.type('text').send(`${process.pid}\n`);
});

server = createServer(app);
process.send('ready');
