// 100 clients connect and leave at once. How many messages reach the child without a handle? Then: gone.js --pause
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';

if (process.argv[2] === 'child') {
  let without = 0;
  process.on('message', (message, socket) => {
    if (message === 'count') process.send(without);
    else if (socket) socket.destroy();
    else without += 1;
  });
  process.send('ready');
} else {
  const server = createServer({ pauseOnConnect: process.argv[2] === '--pause' }, (socket) => {
    socket.on('error', () => {}); // a reader gets ECONNRESET; unhandled, it would end this process
    child.send('socket', socket);
    accepted += 1;
    if (accepted === 100) child.send('count'); // it waits its turn behind the sockets
  });
  let accepted = 0;
  const child = fork(process.argv[1], ['child']);
  child.once('message', () => server.listen(0, visit));
  child.on('message', (without) => {
    if (without === 'ready') return;
    console.log(`${without} of 100 messages came without a handle`);
    process.exit();
  });
  const visit = () => {
    for (let left = 100; left > 0; left -= 1) {
      const client = connect(server.address().port, () => client.resetAndDestroy());
    }
  };
}
