import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createApp } from './app.js';
import { createCounter } from './counter.js';
import { createAsker, createOwner } from './owner.js';
import { createDealer, serveDealt } from './sticky.js';
import { createStore } from './store.js';

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

// Where the counts are: what a worker makes to count with.
const counters = {
  memory: createCounter,
  primary: createAsker,
  sticky: createCounter,
  redis: createStore,
};
const options = { state: { type: 'string', default: 'primary' } };
const { state } = parseArgs({ options }).values;
if (!Object.hasOwn(counters, state)) {
  console.error(`--state must be one of ${Object.keys(counters).join(', ')}, not "${state}".`);
  process.exit(1);
}

// Keeps a worker in each place, with lesson 5's back-off in one line: 100 ms, and twice as long each time.
function keep(place, welcome, waitMs = 100) {
  const worker = cluster.fork();
  welcome(worker, place);
  worker.on('exit', () => setTimeout(keep, waitMs, place, welcome, 2 * waitMs));
}

if (cluster.isPrimary) {
  const hosts = { primary: createOwner, sticky: createDealer };
  const welcome = hosts[state]?.({ port, size }) ?? (() => {});
  for (let place = 0; place < size; place += 1) keep(place, welcome);
} else {
  const app = createApp(counters[state]());
  if (state === 'sticky') serveDealt(app);
  else app.listen(port);
  console.log(`worker ${process.pid} serves, --state ${state}`);
}
