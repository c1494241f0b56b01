// accepts: CommonJS, node:http instead of Express, its own reading of the command line, setupPrimary()
const cluster = require('node:cluster');
const http = require('node:http');
const { availableParallelism } = require('node:os');
const { blockFor } = require('#work');

const policyNames = ['none', 'rr']; // SCHED_NONE is 1, SCHED_RR is 2

function startPrimary() {
  const at = process.argv.indexOf('--policy');
  const wanted = at < 0 ? process.env.NODE_CLUSTER_SCHED_POLICY || 'rr' : process.argv[at + 1];
  if (!policyNames.includes(wanted)) {
    process.stderr.write('usage: server.cjs [--policy rr|none]\n');
    process.exitCode = 1;
    return;
  }
  cluster.schedulingPolicy = policyNames.indexOf(wanted) + 1;
  cluster.setupPrimary({ args: [] });
  const counts = new Map();
  const workers = parseInt(process.env.NODE_CLUSTER_WORKERS || availableParallelism(), 10);
  for (let i = 0; i < workers; i++) {
    const worker = cluster.fork();
    worker.on('message', function (text) {
      if (text === 'count') counts.set(this.process.pid, (counts.get(this.process.pid) || 0) + 1);
      if (text === 'counts?') this.send(Object.fromEntries(counts));
    });
  }
}

function startWorker() {
  const waiting = [];
  process.on('message', (counts) => waiting.pop().end(JSON.stringify(counts)));
  const answer = (response) => response.end(`${process.pid}`);
  const routes = {
    '/': (response) => process.send('count', () => answer(response)),
    '/counts': (response) => process.send('counts?') && waiting.unshift(response),
    '/block': (response) => answer(response, blockFor(500)),
    '/wait': (response) => setTimeout(answer, 500, response),
  };
  const server = http.createServer((request, response) => {
    const route = routes[request.url];
    if (route) route(response);
    else response.writeHead(404).end();
  });
  server.listen(process.env.PORT || 8080);
}

if (cluster.isPrimary) startPrimary();
else startWorker();
