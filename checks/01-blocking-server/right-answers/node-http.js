// accepts: node:http instead of Express
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { between, blockFor, randomHex } from '#work';

const port = Number(process.env.PORT || 8080);
const histogram = monitorEventLoopDelay();
histogram.enable();

const json = (response, value) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(value));
};

createServer(async (request, response) => {
  switch (request.url) {
    case '/':
      blockFor(between(10, 20));
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
      return response.end(randomHex(between(5_000, 10_000)));
    case '/report':
      await sleep(100);
      return json(response, { rows: 100 });
    case '/health':
      json(response, { status: 'ok', eventLoopDelayMs: histogram.max / 1_000_000 });
      return histogram.reset();
    default:
      response.writeHead(404).end();
  }
}).listen(port);
