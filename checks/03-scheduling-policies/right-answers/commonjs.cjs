// accepts: CommonJS, node:http instead of Express, setupPrimary() after the policy, a Map that becomes an object
const cluster = require('node:cluster');
const http = require('node:http');
const { availableParallelism } = require('node:os');

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
  const table = new Map();
  const workers = parseInt(process.env.NODE_CLUSTER_WORKERS || availableParallelism(), 10);
  for (let i = 0; i < workers; i++) {
    cluster.fork().on('message', function () {
      table.set(this.process.pid, (table.get(this.process.pid) || 0) + 1);
      console.log(JSON.stringify(Object.fromEntries(table)));
    });
  }
}

function startWorker() {
  const server = http.createServer((request, response) => {
    if (request.url !== '/') return response.writeHead(404).end();
    process.send('one', () => response.end(`${process.pid}`));
  });
  server.listen(process.env.PORT || 8080);
}

if (cluster.isPrimary) startPrimary();
else startWorker();
