// Says that it is there, as whatever kind of worker it was started, and stays.
import { parentPort } from 'node:worker_threads';

if (parentPort) parentPort.postMessage('ready');
else process.send('ready');
setInterval(() => {}, 60_000);
