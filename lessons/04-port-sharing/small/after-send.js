// The parent sends a connection away and then writes to it: node after-send.js
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';

if (process.argv[2] === 'child') {
  process.on('message', (message, socket) => socket.end('child '));
} else {
  const child = fork(process.argv[1], ['child']);
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    child.send('socket', socket);
    socket.write('parent ', (error) => console.log(`the parent's write: ${error?.code ?? 'done'}`));
  });
  server.listen(0, () => {
    const client = connect(server.address().port).setEncoding('utf8');
    client.on('data', (text) => console.log(`the client reads: ${text}`));
    client.on('close', () => process.exit());
  });
}
