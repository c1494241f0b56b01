// A server started by child_process.fork. node orphan.js PORT, then kill -9 the pid that it prints.
import { fork } from 'node:child_process';
import http from 'node:http';

if (process.send) {
  http
    .createServer((request, response) => response.end(`${process.pid}\n`))
    .listen(process.env.PORT ?? 8080);
} else {
  const child = fork(import.meta.filename);
  console.log(`kill -9 ${process.pid} leaves process ${child.pid} behind`);
}
