import cluster from 'node:cluster';
import http from 'node:http';
import { blockFor } from '#work';

const port = process.env.PORT ?? 8080;
const workMs = Number(process.env.WORK_MS ?? 8.6);
let isWarm = false;

/** Renders a page, and lets nothing else run. A process's first takes five times as long: nothing is compiled yet. */
function render() {
  blockFor(isWarm ? workMs : 5 * workMs);
  isWarm = true;
  return JSON.stringify({ pid: process.pid });
}

// #region measure
const RUNS = 9;

function measureServiceMs() {
  const timesMs = Array.from({ length: RUNS }, () => {
    const startMs = performance.now();
    render();
    return performance.now() - startMs;
  });
  return timesMs.sort((a, b) => a - b)[(RUNS - 1) / 2]; // the median
}
// #endregion measure

const SETTINGS = {
  RATE: { rule: 'a number above 0', isRight: (value) => value > 0 && value < Infinity },
  UTILIZATION: { rule: 'above 0 and at most 1', isRight: (value) => value > 0 && value <= 1 },
  NODE_CLUSTER_WORKERS: {
    rule: 'a whole number from 1 to 99',
    isRight: (value) => Number.isInteger(value) && value >= 1 && value <= 99,
  },
};

/** Reads a setting, or takes `usual` if it isn't set. Refuses a number that breaks the rule, wherever it comes from. */
function readNumber(name, usual) {
  const text = process.env[name] ?? usual;
  const { rule, isRight } = SETTINGS[name];
  if (isRight(Number(text))) return Number(text);
  console.error(`${name} must be ${rule}, not "${text}".`);
  process.exit(1);
}

// #region count
function chooseWorkers(serviceMs) {
  const rate = readNumber('RATE', 200);
  const utilization = readNumber('UTILIZATION', 0.7);
  const needed = Math.ceil((rate * serviceMs) / 1000 / utilization);
  return readNumber('NODE_CLUSTER_WORKERS', needed);
}
// #endregion count

function serve() {
  const server = http.createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(render());
  });
  server.listen(port, () => console.log(`${process.pid} listens on http://127.0.0.1:${port}`));
}

// #region start
if (cluster.isPrimary) {
  const serviceMs = measureServiceMs();
  const workers = chooseWorkers(serviceMs);
  console.log(`a page takes ${serviceMs.toFixed(2)} ms: ${workers} workers`);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
// #endregion start
