// Whatever kind of worker it was started as: tells the memory of its process, all that is resident, and stays.
import { parentPort } from 'node:worker_threads';

const resident = process.memoryUsage.rss();
if (parentPort) parentPort.postMessage(resident);
else process.send(resident);
setInterval(() => {}, 60_000);
process.on('disconnect', () => process.exit());
