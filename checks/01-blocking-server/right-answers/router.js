// accepts: an express.Router, a middleware that logs, and IPv4's loopback address only
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { Router } from 'express';
import { between, blockFor, randomHex } from '#work';

const pages = Router();
pages.get('/', home);
pages.route('/report').get(report);

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

express()
  .use((request, response, next) => {
    response.on('finish', () => console.log(request.method, request.url, response.statusCode));
    next();
  })
  .use(pages)
  .get('/health', health)
  .listen(process.env.PORT ?? 8080, '127.0.0.1');

function home(request, response) {
  blockFor(between(10, 20));
  response.set('Content-Type', 'text/plain').send(randomHex(between(5_000, 10_000)));
}

async function report(request, response) {
  await sleep(100);
  response.json({ rows: 100 });
}

function health(request, response) {
  response.json({ status: 'ok', eventLoopDelayMs: delay.max / 1e6 });
  delay.reset();
}
