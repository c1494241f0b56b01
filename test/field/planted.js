// Small servers with one fault each, and some without: their source, the flags for `xray`, and the finding that it must
// report first.
import { readFileSync } from 'node:fs';

/** @param {string} handler @param {string} [more] */
const single = (handler, more = '') => `import http from 'node:http';
const cell = new Int32Array(new SharedArrayBuffer(4));
const block = (ms) => Atomics.wait(cell, 0, 0, ms);
let count = 0;
const server = http.createServer(${handler}).listen(process.env.PORT);
${more}
`;

const ANSWER = "(_, response) => response.end('x')";
const SLOW = "(_, response) => setTimeout(() => response.end('x'), 1_000)";

/** @param {{ primary?: string, worker?: string, handler?: string }} parts */
const clustered = ({
  primary = '',
  worker = '',
  handler = ANSWER,
}) => `import cluster from 'node:cluster';
import http from 'node:http';
let count = 0;
if (cluster.isPrimary) {
  for (let n = 0; n < 3; n += 1) cluster.fork();
  ${primary}
} else {
  ${worker}
  const server = http.createServer(${handler}).listen(process.env.PORT);
}
`;

const REFORK = "cluster.on('exit', () => cluster.fork());";
const ALL = 'Object.values(cluster.workers)';
const at = (/** @type {number} */ number, /** @type {string} */ what) =>
  `(_, response) => { count += 1; if (count % ${number} === 0) ${what} response.end('x'); }`;

/**
 * A primary that accepts, and gives each connection to one of three workers by hand.
 * @param {string} choice  of the worker's index, from `socket` and `all`
 */
const dealt = (choice) => `import cluster from 'node:cluster';
import http from 'node:http';
import net from 'node:net';
if (cluster.isPrimary) {
  const all = [1, 2, 3].map(() => cluster.fork());
  const deal = (socket) => all[${choice}].send('connection', socket);
  net.createServer({ pauseOnConnect: true }, deal).listen(process.env.PORT);
} else {
  const server = http.createServer(${ANSWER});
  process.on('message', (_, socket) => {
    server.emit('connection', socket);
    socket.resume();
  });
}
`;

/** Cases from public bug reports. */
const reported = (/** @type {string} */ name) =>
  readFileSync(new URL(`cases/${name}.mjs`, import.meta.url), 'utf8');

/** The first finding must name the cause. @type {Record<string, { finds: string, says?: RegExp, source: string, flags?: string[] }>} */
export const faults = {
  'output that is not read': {
    finds: 'hangs',
    says: /^2 processes stand still .*waiting to write to their standard output, which is not read/,
    source: reported('unread-output'),
    flags: ['--rate', '100', '--seconds', '4'],
  },
  'an endless regular expression': {
    finds: 'hangs',
    says: /^2 processes stand still .*, computing, under \/, in RegExp\.test, called in isPlain, \S+:15\.$/,
    source: reported('endless-regexp'),
    flags: ['--seconds', '3'],
  },
  'a primary that sends to exiting workers': {
    finds: 'stop-fails',
    says: /^Asked to stop, .* crashed: Error: write EPIPE|ERR_IPC_CHANNEL_CLOSED/,
    source: reported('dying-siblings'),
    flags: ['--stop'],
  },
  'event streams without an end': {
    finds: 'does-not-stop',
    says: /held by \d+ open streams/,
    source: reported('event-streams'),
    flags: ['--path', '/events', '--reload', 'SIGHUP', '--stop'],
  },
  'half of the clients wait': {
    finds: 'not-taken',
    says: /^10 of 20 clients never got an answer: 2 processes take at most 5 connections each/,
    source: reported('max-connections'),
    flags: ['--connections', '20'],
  },
  'a parent that keeps SIGTERM to itself': {
    finds: 'not-passed-on',
    source: `import { spawn } from 'node:child_process';
process.on('SIGTERM', () => {});
if (process.argv[2]) (await import('node:http')).createServer(${ANSWER}).listen(process.env.PORT);
else spawn(process.execPath, [process.argv[1], 'serve'], { stdio: 'inherit' });
`,
    flags: ['--stop'],
  },
  'a primary that computes': {
    finds: 'busy-primary',
    source: clustered({
      primary: `const cell = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.wait(cell, 0, 0, 57), 58);`,
    }),
    flags: ['--seconds', '4'],
  },
  'a handler that blocks': {
    finds: 'blocks',
    source: single("(_, response) => { block(300); response.end('x'); }"),
    flags: ['--rate', '3', '--seconds', '2'],
  },
  'a timer that blocks': {
    finds: 'blocks',
    source: single(ANSWER, 'setInterval(() => block(300), 400);'),
    flags: ['--rate', '5', '--seconds', '3'],
  },
  'too slow for its visitors': {
    finds: 'behind',
    source: single("(_, response) => { block(40); response.end('x'); }"),
    flags: ['--seconds', '4'],
  },
  'a worker that never listens': {
    finds: 'deaf',
    source: clustered({ worker: 'if (cluster.worker.id === 2) await new Promise(() => {});' }),
  },
  'a worker that listens no more': {
    finds: 'idle',
    source: clustered({
      worker:
        "if (cluster.worker.id === 2) process.nextTick(() => server.on('listening', () => server.close()));",
    }),
    flags: ['--seconds', '3'],
  },
  'a worker that throws': {
    finds: 'crash',
    source: clustered({ primary: REFORK, handler: at(20, "throw new Error('now and then');") }),
    flags: ['--seconds', '2'],
  },
  'an unhandled rejection': {
    finds: 'crash',
    source: single(`async ${at(40, "throw new Error('no line awaits this');")}`),
  },
  'a process that exits': {
    finds: 'lost',
    source: clustered({ primary: REFORK, handler: at(20, 'process.exit();') }),
    flags: ['--seconds', '2'],
  },
  'workers that cannot start': {
    finds: 'crash-loop',
    source: clustered({ primary: REFORK, worker: "throw new Error('no database');" }),
  },
  'answers of 500': { finds: 'errors', source: single(at(5, 'response.statusCode = 500;')) },
  'answers that never arrive': { finds: 'unanswered', source: single(at(7, 'return;')) },
  'connections that break': { finds: 'lost', source: single(at(4, 'response.destroy();')) },
  'crashed workers are not replaced': {
    finds: 'not-replaced',
    source: clustered({}),
    flags: ['--kill'],
  },
  'one dies, all die': {
    finds: 'goes-down',
    source: clustered({ primary: "cluster.on('exit', () => process.exit(1));" }),
    flags: ['--kill'],
  },
  'a stop that cuts off': { finds: 'stop-loses', source: single(SLOW), flags: ['--stop'] },
  'a primary that just exits': {
    finds: 'stop-loses',
    source: clustered({ primary: "process.on('SIGTERM', () => process.exit());", handler: SLOW }),
    flags: ['--stop'],
  },
  'deaf to SIGTERM': {
    finds: 'does-not-stop',
    source: single(ANSWER, "process.on('SIGTERM', () => {});"),
    flags: ['--stop'],
  },
  'a child is left': {
    finds: 'left-behind',
    source: `import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
${single(ANSWER, "process.on('SIGTERM', () => { server.close(); setTimeout(() => process.exit(), 10); });")}`,
    flags: ['--stop'],
  },
  'SIGHUP means the end': {
    finds: 'reload-ends',
    source: single(ANSWER),
    flags: ['--reload', 'SIGHUP'],
  },
  'a reload that kills all at once': {
    finds: 'reload-loses',
    source: clustered({
      primary: `process.on('SIGHUP', () => ${ALL}.forEach((one) => { one.process.kill('SIGKILL'); cluster.fork(); }));`,
      handler: SLOW,
    }),
    flags: ['--reload', 'SIGHUP'],
  },
  'a reload that waits for no worker': {
    finds: 'reload-loses',
    source: clustered({
      primary: `process.on('SIGUSR2', () => ${ALL}.forEach((old) => cluster.fork().on('listening', () => old.process.kill())));`,
      handler: SLOW,
    }),
    flags: ['--reload', 'SIGUSR2'],
  },
  'a listener for each request': {
    finds: 'leaks',
    source: single(
      "(_, response) => { process.on('SIGUSR2', () => response.end()); response.end('x'); }",
    ),
    flags: ['--seconds', '3'],
  },
  'files that are never closed': {
    finds: 'leaks',
    source: `import { openSync } from 'node:fs';
${single("(_, response) => { openSync(process.execPath); response.end('x'); }")}`,
    flags: ['--seconds', '3'],
  },
  'memory that is kept': {
    finds: 'leaks',
    source: single(
      "(_, response) => { all.push(Array.from({ length: 12_000 }, () => ({}))); response.end('x'); }",
      'const all = [];',
    ),
    flags: ['--seconds', '5'],
  },
  'all for the first': {
    finds: 'uneven',
    source: dealt('0'),
    flags: ['--seconds', '3'],
  },
};

/** Servers that must have no finding: their source, or a file from the root. @type {Record<string, { source: string, flags?: string[] }>} */
export const healthy = {
  'a plain server': { source: single(ANSWER) },
  'a server that waits': {
    source: single("(_, response) => setTimeout(() => response.end('x'), 300)"),
  },
  'one without such a page': {
    source: single("(_, response) => { response.statusCode = 404; response.end('x'); }"),
  },
  'a server that stops gracefully': {
    source: single(
      SLOW,
      "process.on('SIGTERM', () => { server.close(() => process.exit()); setInterval(() => server.closeIdleConnections(), 50); });",
    ),
    flags: ['--stop'],
  },
  'a plain cluster': { source: clustered({ primary: REFORK }), flags: ['--kill'] },
  'policy none': {
    source: `${clustered({})}`.replace(
      'if (cluster.isPrimary) {',
      'cluster.schedulingPolicy = cluster.SCHED_NONE;\nif (cluster.isPrimary) {',
    ),
  },
  'a worker with another job': {
    source: clustered({
      primary: "cluster.fork({ JOB: 'mail' });",
      worker: 'if (process.env.JOB) await new Promise(() => setInterval(() => {}, 1_000));',
    }),
  },
  'dealt by the address': {
    source: dealt("Number(socket.remoteAddress.split('.').at(-1)) % 3"),
    flags: ['--seconds', '3'],
  },
  'much garbage, and a cache that is full': {
    source: `import { closeSync, openSync } from 'node:fs';
${single(
  `(_, response) => {
  cache[count++ % 20] = Array.from({ length: 12_000 }, () => ({}));
  const file = openSync(process.execPath);
  const stop = () => {};
  process.on('SIGUSR2', stop);
  response.end('x', () => { closeSync(file); process.off('SIGUSR2', stop); });
}`,
  'const cache = [];',
)}`,
    flags: ['--seconds', '5'],
  },
  'a short pause now and then': { source: single(at(10, 'block(30);')) },
  'lesson 3': { source: 'solutions/03-scheduling-policies/server.js' },
  'lesson 5': { source: 'solutions/05-crash-restart/server.js', flags: ['--kill'] },
  'lesson 8': {
    source: 'solutions/08-graceful-reload/server.js',
    flags: ['--reload', 'SIGHUP', '--stop'],
  },
};
