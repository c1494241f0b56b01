// Whatever kind of worker it was started as: reports its process's resident memory, and stays.
import { parentPort } from 'node:worker_threads';

const resident = process.memoryUsage.rss();
if (parentPort) parentPort.postMessage(resident);
else process.send(resident);
setInterval(() => {}, 60_000);
process.on('disconnect', () => process.exit());
