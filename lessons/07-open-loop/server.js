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
// Task 1: how many milliseconds does a page take here? Run render() a few times and take the median.
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
// Task 2: how many workers? RATE requests a second (200 if unset), UTILIZATION (0.7 if unset), and what you have
// measured. NODE_CLUSTER_WORKERS, if set, wins.
// #endregion count

function serve() {
  const server = http.createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(render());
  });
  server.listen(port, () => console.log(`${process.pid} listens on http://127.0.0.1:${port}`));
}

// #region start
// Task 3: the primary measures, says in one line what it has measured and chosen, and forks; the workers serve.
serve();
// #endregion start
