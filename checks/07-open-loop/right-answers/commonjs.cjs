// accepts: CommonJS, settings checked by regular expressions, refused by an exception
const cluster = require('node:cluster');
const http = require('node:http');
const { blockFor } = require('#work');

const WORK = parseFloat(process.env.WORK_MS || '8.6');
let rendered = 0;

function page() {
  blockFor(rendered++ === 0 ? 5 * WORK : WORK);
  return { pid: process.pid };
}

function setting(name, fallback, pattern, least, most) {
  const text = process.env[name] === undefined ? String(fallback) : process.env[name];
  if (!pattern.test(text) || +text < least || +text > most)
    throw new RangeError(name + ' makes no sense: ' + text);
  return +text;
}

if (cluster.isPrimary) {
  const rate = setting('RATE', 200, /^\d+(\.\d+)?$/, 0.001, 1e6);
  const busy = setting('UTILIZATION', 0.7, /^(0?\.\d+|0|1)$/, 0.01, 1);
  const took = [];
  for (let i = 0; i < 12; i++) {
    const t = Date.now();
    page();
    page();
    page();
    took.push((Date.now() - t) / 3);
  }
  took.sort(function (a, b) {
    return a - b;
  });
  const ms = (took[5] + took[6]) / 2;
  const computed = Math.ceil((rate * ms) / busy / 1e3);
  const n = setting('NODE_CLUSTER_WORKERS', computed, /^[1-9]\d?$/, 1, 99);
  console.log('measured %s ms per page -> %d workers for %d/s', ms.toFixed(1), n, rate);
  for (let i = 0; i < n; i++) cluster.fork();
} else {
  http
    .createServer(function (req, res) {
      const body = JSON.stringify(page());
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      res.end(body);
    })
    .listen(process.env.PORT || 8080);
}
