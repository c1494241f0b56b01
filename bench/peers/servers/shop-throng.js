// The shop under throng, as its README shows it: `node shop-throng.js SERVER WORKERS`.
import throng from 'throng';
import { pathToFileURL } from 'node:url';

const [server, workers] = process.argv.slice(2);

throng({ workers: Number(workers), worker: () => import(pathToFileURL(server).href) });
