// Verifies the command `xray`, and its pure parts on events written by hand; test/slow/ has whole servers.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { createLoad } from '../lib/measure/load.js';
import { createOpenLoop } from '../lib/measure/open-loop.js';
import { environmentOfUser } from '../lib/observe/environment.js';
import { reservePort } from '../lib/observe/ports.js';
import { crashLoops } from '../lib/xray/report/crash-loops.js';
import { findingsOf, sift } from '../lib/xray/report/findings.js';
import { trialFindings } from '../lib/xray/report/findings-trials.js';
import { isAtRest } from '../lib/xray/launch.js';
import { silencesOf } from '../lib/xray/report/silences.js';
import { sectionsOf } from '../lib/xray/report/tell.js';
import { traceOf } from '../lib/xray/report/trace.js';
import { dispatched, forkshop } from './fixture-root.js';
import { Watched, until } from './nothing-left.js';

const fixtures = join(rootFolder, 'test/fixtures/xray');

test('in a terminal: the processes, the listeners, and the finding with its lesson, in 80 columns', async (t) => {
  const env = { INIT_CWD: fixtures, PORT: String(await reservePort()) };
  const folder = mkdtempSync(join(tmpdir(), 'forkshop-xray-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const html = join(folder, 'x.html');
  const argv = ['xray', 'crashes.js', '--seconds', '1', '--html', html];
  const { code, stdout } = await forkshop(rootFolder, argv, env);
  assert.equal(code, 1);
  assert.match(
    readFileSync(html, 'utf8'),
    /<h1>X-ray of crashes\.js<.*<b>One process exited while/s,
  );
  assert.ok(stdout.indexOf('One finding') < stdout.indexOf('Processes'), 'findings come first');
  assert.match(
    stdout,
    /^ {2}crashes\.js \(pid \d+\), primary, listens on \d+\n {4}worker 1 \(pid \d+\), /m,
  );
  assert.match(stdout, /^Looked at: \d+ requests, GET \/, in .* Not looked at: /m);
  assert.match(stdout, /accepts every connection and deals them/);
  assert.match(stdout, /exited with code 1, Error: the\s+fortieth\\u001b\[2J/);
  assert.match(stdout, /npm run try lesson-5 life-and-death/);
  assert.ok(!stdout.includes('\u001b'), 'no escape sequence of the program reaches the terminal');
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.length > 80),
    [],
  );
});

test('a command that exits, or does not exist, is reported with its output', async () => {
  const ended = await forkshop(rootFolder, ['xray', '--', 'sh', '-c', 'echo no database; exit 7']);
  assert.equal(ended.code, 3);
  assert.match(
    ended.stdout,
    /It exited with code 7 before it listened.*\nIt printed:\n {2}no database/,
  );
  const missing = await forkshop(rootFolder, ['xray', '--', 'no-such-command-here']);
  assert.match(missing.stdout, /It could not be started: spawn no-such-command-here ENOENT/);
  const greets = "require('net').createServer((one) => one.end('220 hello\\r\\n')).listen(0)";
  const other = await forkshop(rootFolder, ['xray', '--', process.execPath, '-e', greets]);
  assert.equal(other.code, 3);
  assert.match(other.stdout, /does not answer HTTP .*port \d+: what it says is no HTTP, HPE_/);
});

test('a file that cannot be written at the end costs no finding', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forkshop-xray-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const full = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    const real = fs.writeFileSync;
    fs.writeFileSync = (file, text, ...rest) => {
      if (!String(file).startsWith(${JSON.stringify(folder)})) return real(file, text, ...rest);
      real(file, text.slice(0, 9), ...rest);
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    syncBuiltinESMExports();`;
  const env = {
    ...{ INIT_CWD: fixtures, PORT: String(await reservePort()) },
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(full)}`,
  };
  const files = ['--html', join(folder, 'x.html'), '--trace', join(folder, 'x.json')];
  const told = await forkshop(rootFolder, ['xray', 'crashes.js', '--seconds', '1', ...files], env);
  assert.equal(told.code, 1, 'there are findings');
  assert.match(told.stdout, /npm run try lesson-5 life-and-death/);
  assert.match(
    told.stderr,
    /^\S+x\.json could not be written \(ENOSPC\)[^]*\n\S+x\.html could not /,
  );
  assert.deepEqual(readdirSync(folder), [], 'no half of a file is left');
});

test('a server that prints too much is reported rather than blamed for its address', async () => {
  const floods = `const line = 'x'.repeat(1e6);
    require('http').createServer((request, response) => response.end()).listen(0, '127.0.0.1', () => {
      for (let times = 0; times < 70; times += 1) require('fs').writeSync(1, line);
    });`;
  const argv = ['xray', '--seconds', '1', '--', process.execPath, '-e', floods];
  const { code, stdout } = await forkshop(rootFolder, argv);
  assert.equal(code, 3);
  assert.match(stdout, /It was stopped: it printed more than 64 MB\./);
  assert.doesNotMatch(stdout, /does not answer/);
});

test('invalid options are refused', async () => {
  const cases = {
    'Name the server': [],
    'There is no file': ['nowhere.js'],
    'two kinds of load': ['plain.js', '--rate', '5', '--connections', '5'],
    '--rate takes a whole number from 1 to 1000': ['plain.js', '--rate', '0'],
    '--seconds takes a whole number from 1 to 60': ['plain.js', '--seconds', '1e9'],
    'A path begins with /': ['plain.js', '--path', 'http://example.org/'],
    'is a folder': ['.'],
    'One script is looked into, not 2: "npm", "start"': ['npm', 'start'],
    'A path begins with / and': ['plain.js', '--path', '/ä'],
    'and needs --scale': ['plain.js', '--workers-env', 'WEB_CONCURRENCY'],
    '--port takes a whole number from 1 to 65535': ['plain.js', '--port', 'http'],
    'A header is a name': ['plain.js', '--header', 'X-A: a\r\nX-B: b'],
    'no such method': ['plain.js', '--method', 'BREW'],
    'A reload is asked for by': ['plain.js', '--reload', 'SIGKILL'],
    '--times takes a whole number from 1 to 50': ['plain.js', '--reload', 'SIGHUP', '--times', '0'],
    'needs --reload': ['plain.js', '--times', '3'],
    'There is no folder': ['plain.js', '--trace', 'nowhere/trace.json'],
    'has no name': ['plain.js', '--html', ''],
    'already exists': ['plain.js', '--html', 'plain.js'],
    'both name': ['plain.js', '--html', '../new', '--trace', './../new'],
    'cannot be written (ENAMETOOLONG)': ['plain.js', '--html', 'x'.repeat(300)],
    '--scale takes 2 to 5 numbers': ['plain.js', '--scale', '4'],
    'from 1 to 16': ['plain.js', '--scale', '1,200'],
    'name of an environment variable': ['plain.js', '--scale', '1,2', '--workers-env', 'A=B'],
  };
  for (const [says, argv] of Object.entries(cases)) {
    const { code, stderr } = await dispatched(rootFolder, ['xray', ...argv], {
      INIT_CWD: fixtures,
    });
    assert.equal(code, 2, says);
    assert.ok(stderr.includes(says), stderr);
  }
});

test('Ctrl-C leaves nothing', async (t) => {
  const command = [process.execPath, 'lib/cli/main.cjs', 'xray', join(fixtures, 'plain.js')];
  const watched = new Watched([...command, '--seconds', '60']);
  t.after(() => watched.cleanUp());
  await until('it is under load', () => watched.running('open-loop-process.js').length > 0);
  assert.equal(watched.programs().length, 1);
  process.kill(-Number(watched.pid), 'SIGINT');
  const { code, stderr } = await watched.over();
  assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
  assert.deepEqual(await watched.left(), []);
});

test('method, headers and body are sent, by both kinds of load', async (t) => {
  /** @type {Set<string>} */
  const seen = new Set();
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    seen.add(`${request.method} ${request.headers['x-shop']} ${body}`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/`;
  const what = { url, method: 'POST', headers: { 'x-shop': 'tea' }, durationMs: 100 };
  const [open, closed] = [createOpenLoop(), createLoad()];
  t.after(() => [open, closed].forEach(({ close }) => close()));
  await open.fire({ ...what, ratePerSecond: 20, body: 'open' });
  await closed.fire({ ...what, connections: 1, body: 'closed' });
  assert.deepEqual([...seen], ['POST tea open', 'POST tea closed']);
});

test('every client is counted, including those never served and those of streams that our clients end', async (t) => {
  let count = 0;
  const places = new Set();
  const server = http.createServer(({ url, socket }, response) => {
    count += 1;
    if (url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      return void response.write('data: hello\n\n');
    }
    if (places.size < 2) places.add(socket);
    if (places.has(socket)) setTimeout(() => response.end('x'), 20);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => (server.close(), server.closeAllConnections()));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const generator = createOpenLoop();
  t.after(() => generator.close());
  const url = `http://127.0.0.1:${port}`;
  const closed = { isClosed: true, isFresh: false, connections: 4, durationMs: 100 };
  const { answers } = await generator.fire({ ...closed, url: `${url}/`, timeoutMs: 600 });
  assert.equal(answers.length, count, 'each request once');
  const served = new Set(answers.flatMap(({ status, visitor }) => (status ? [visitor] : [])));
  const errors = answers.flatMap(({ error }) => error ?? []);
  assert.deepEqual([served.size, errors], [2, ['timeout', 'timeout']]);
  for (const load of [closed, { ratePerSecond: 40, durationMs: 100 }]) {
    const streams = await generator.fire({ ...load, url: `${url}/events`, timeoutMs: 600 });
    assert.equal(streams.answers.length, 4);
    assert.ok(streams.answers.every(({ status, isStream }) => status === 200 && isStream));
  }
});

test('every experiment that a finding names exists', async () => {
  const folder = join(rootFolder, 'lib/xray/report');
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const text = files.join('\n');
  const named = [...text.matchAll(/\[(\d+), '([a-z-]+)'\]/g)];
  assert.ok(named.length > 5);
  for (const [, number, name] of named) {
    const lesson = listLessons(rootFolder).find((one) => one.number === Number(number));
    const { default: all } = await import(`../checks/${lesson?.key}/experiments.js`);
    assert.ok(
      all.some((/** @type {any} */ one) => one.name === name),
      `${number} ${name}`,
    );
  }
});

test('the environment is the user’s own, without the additions of npm', () => {
  const own = {
    HOME: '/home/me',
    NODE_ENV: 'production',
    PORT: '3000',
    NODE_OPTIONS: '--no-warnings',
  };
  const bin = join(tmpdir(), 'shop', 'node_modules', '.bin');
  const script = { npm_lifecycle_event: 'xray', npm_config_prefix: '/usr', INIT_CWD: '/home/me' };
  const PATH = ['/usr/bin', '/bin'].join(delimiter);
  assert.deepEqual(environmentOfUser({ ...own, PATH: [bin, PATH].join(delimiter), ...script }), {
    ...own,
    PATH,
  });
  assert.deepEqual(environmentOfUser({ ...own, npm_config_cache: '/c', FORKSHOP_RUN: 'x' }), {
    ...own,
    npm_config_cache: '/c',
  });
});

/** A beat every 20 ms, but not while something blocks. @param {number} from @param {number} to */
const beats = (from, to) =>
  Array.from({ length: (to - from) / 20 }, (_, index) => ({
    ...{ t: from + index * 20, pid: 1, what: 'beat', late: 0, elu: 0 },
  }));

test('a silence is reported with its request, and without the time that the process waited for a core', () => {
  const events = [
    ...beats(0, 100),
    { t: 100, pid: 1, what: 'request', client: 5, method: 'GET', url: '/slow?id=1' },
    { t: 400, pid: 1, what: 'response', client: 5, status: 200 },
    ...beats(400, 500),
    ...beats(800, 900),
  ];
  const within = { fromMs: 0, toMs: 900, alive: new Set([1]) };
  const stretches = [{ pid: 1, fromMs: 480, toMs: 800, computedMs: 30, queuedMs: 290 }];
  const found = silencesOf(events, { ...within, stretches });
  assert.deepEqual(found, [{ pid: 1, fromMs: 100, ms: 300, under: '/slow' }]);
  const all = silencesOf(events, { ...within, stretches: [] });
  assert.deepEqual(
    all.map(({ ms, under }) => [ms, under]),
    [
      [300, '/slow'],
      [320, undefined],
    ],
  );
});

test('workers that are replaced at once, again and again, are a finding; with a pause they are not', () => {
  const run = (/** @type {number} */ pauseMs) =>
    Array.from({ length: 8 }, (_, index) => index * 500).flatMap((t) => [
      { t, pid: 1, what: 'worker-exit', code: 1, signal: null, workerPid: t },
      { t: t + pauseMs, pid: 1, what: 'fork', workerPid: t + 1 },
    ]);
  assert.deepEqual(
    crashLoops(run(5), 0).map(({ id }) => id),
    ['crash-loop'],
  );
  assert.deepEqual(crashLoops(run(200), 0), []);
});

/** A server of two workers that has answered every request, and one deviation. @param {Record<string, any>} more */
function factsWith({ report, processes, ...more }) {
  const worker = {
    ppid: 1,
    name: 'server.js',
    isNode: true,
    role: 'worker',
    threads: 0,
    startMs: 1,
  };
  const two = [2, 3].map((pid) => ({
    ...worker,
    ...{ pid, worker: pid - 1, listenedMs: 5, handle: 'handed', requests: 250, unanswered: 0 },
    failed: 0,
    ...processes?.[pid],
  }));
  return /** @type {any} */ ({
    ...{ zeroMs: 0, port: 80, policy: 'round robin', processes: two, silences: [], growths: [] },
    ...{ seen: 500, starved: 0, hangs: [], streams: 0, cores: 2 },
    load: { fromMs: 100, toMs: 10_100, isOpen: true, isFresh: true },
    report: {
      ...{ requests: 500, ratePerSecond: 50, throughputPerSecond: 50, unanswered: 1 },
      ...{ statuses: { 200: 500 }, errors: {}, ...report },
    },
    ...more,
  });
}

test('facts become findings, unless a busy machine or the owner may have caused them', () => {
  const ids = (/** @type {any[]} */ some) => some.map(({ id }) => id);
  const found = (/** @type {Record<string, any>} */ more) =>
    ids(sift(findingsOf(factsWith(more))).findings);
  const open = (/** @type {Record<string, any>} */ more) =>
    ids(sift(findingsOf(factsWith(more))).undecided);
  const silence = { pid: 2, fromMs: 200, under: '/' };
  const long = { ...silence, ms: 340 };
  const behind = { unanswered: 300, throughputPerSecond: 20 };
  const hung = { report: { errors: { timeout: 9 } }, processes: { 3: { unanswered: 9 } } };
  assert.deepEqual(found({}), []);
  assert.deepEqual(found({ silences: [long, long, long] }), ['blocks']);
  assert.deepEqual(found({ silences: [long, long] }), [], 'twice is not often');
  assert.deepEqual(found({ silences: Array(9).fill({ ...silence, ms: 60 }) }), [], 'short ones');
  const most = { silences: Array(250).fill(long), starved: 0.5 };
  assert.deepEqual(found(most), ['blocks'], 'most requests, even on a busy machine');
  const few = { ...most, silences: Array(9).fill(long) };
  assert.deepEqual([found(few), open(few)], [[], ['blocks']], 'the machine was busy');
  const once = { silences: [{ ...silence, ms: 3_000 }] };
  assert.deepEqual([found(once), open(once)], [[], ['blocks']], 'once, and very long');
  assert.deepEqual(found({ report: behind }), ['behind']);
  const starved = { report: behind, starved: 0.5 };
  assert.deepEqual([found(starved), open(starved)], [[], ['behind']], 'the machine was busy');
  assert.deepEqual(found(hung), ['unanswered']);
  const late = { ...hung, starved: 0.5 };
  assert.deepEqual([found(late), open(late)], [[], ['unanswered']], 'the machine was busy');
  assert.deepEqual(found({ report: { statuses: { 200: 400, 500: 100 } } }), ['errors']);
  assert.deepEqual(found({ report: { statuses: { 404: 500 } } }), [], 'there is no such page');
  assert.deepEqual(found({ processes: { 3: { requests: 0 } } }), ['idle']);
  assert.deepEqual(found({ processes: { 3: { requests: 0 } }, policy: 'none' }), [], 'as it is');
  assert.deepEqual(found({ processes: { 3: { listenedMs: undefined } } }), ['deaf']);
  const other = { listenedMs: undefined, name: 'jobs.js' };
  assert.deepEqual(found({ processes: { 3: other } }), [], 'it has another job');
  const mailer = { listenedMs: undefined, given: 7 };
  assert.deepEqual(found({ processes: { 3: mailer } }), [], 'its environment may configure that');
  assert.deepEqual(found({ processes: { 3: { endMs: 300, signal: 'SIGKILL' } } }), ['crash']);
  assert.deepEqual(found({ processes: { 3: { endMs: 300, signal: 'SIGTERM' } } }), [], 'asked to');
  assert.deepEqual(found({ report: { errors: { ECONNRESET: 2, timeout: 1 } } }), ['lost']);
  const limit = { report: { statuses: { 200: 400, 503: 100 } } };
  const closed = { load: { ...factsWith({}).load, isOpen: false } };
  assert.deepEqual(found(limit), ['errors']);
  assert.deepEqual(open({ ...limit, ...closed }), ['errors'], 'to many at once it may be intended');
  const left = {
    processes: { 3: { endMs: 300, code: 0 } },
    report: { errors: { ECONNREFUSED: 9 } },
  };
  assert.deepEqual(findingsOf(factsWith(left))[0].evidence, [
    'ECONNREFUSED: 9',
    'worker 2 (pid 3): exited with code 0 at 0.30 s',
  ]);
});

test('a worker forked at the last moment is not mistaken for something other than Node.js', () => {
  const late = { isNode: false, listenedMs: undefined, requests: 0 };
  const report = { latencyMs: { p50: 1, p90: 1, p99: 1, max: 1 } };
  const facts = { otherPorts: [], holders: [], processes: { 3: late }, report };
  const words = JSON.stringify(sectionsOf(factsWith(facts)));
  assert.match(words, /worker 2 \(pid 3\), forked, not started yet/);
  assert.doesNotMatch(words, /not Node\.js|into Node\.js only/);
});

test('a trial finds losses, but not requests that could not have been saved', () => {
  const lost = { fresh: 2, kept: 20 };
  const trial = {
    ...{ pid: 7, signal: 'SIGHUP', atMs: 1500, zeroMs: 500, sent: { fresh: 700, kept: 700 }, lost },
    ...{ begun: 0, repeated: 0, errors: { ECONNRESET: 22 }, tookMs: 900, left: [] },
  };
  const [reload, ...more] = trialFindings({ ...trial, kind: 'reload' });
  assert.deepEqual(more, []);
  assert.equal(reload.says, 'A reload lost 22 of 1400 requests.');
  assert.deepEqual(reload.evidence, [
    'SIGHUP to pid 7 at 1.00 s',
    '2 on fresh connections, 20 on kept ones',
    'ECONNRESET: 22',
  ]);
  assert.deepEqual(trialFindings({ ...trial, kind: 'kill', signal: 'SIGKILL' }), []);
  const refused = { ...trial, errors: { ECONNREFUSED: 22 } };
  assert.equal(trialFindings({ ...refused, kind: 'kill' })[0].id, 'goes-down');
  assert.equal(trialFindings({ ...trial, kind: 'stop' })[0].id, 'does-not-stop');
  const none = { fresh: 0, kept: 0 };
  assert.deepEqual(trialFindings({ ...trial, kind: 'reload', lost: none, errors: {} }), []);
  const ended = { ...trial, kind: /** @type {const} */ ('stop'), lost: none, errors: {} };
  const idsOfEnd = (/** @type {Record<string, any>} */ more) =>
    trialFindings({ ...ended, ...more }).map(({ id }) => id);
  const fate = { kind: /** @type {const} */ ('ended'), code: 0 };
  assert.deepEqual(idsOfEnd({ fate }), []);
  assert.deepEqual(idsOfEnd({ fate: { ...fate, code: 143 } }), [], 'by SIGTERM, as a shell says');
  assert.deepEqual(idsOfEnd({ fate: { ...fate, code: 1 } }), ['stop-fails']);
  const server = { pid: 9, name: 'server.js', first: 'npm' };
  assert.deepEqual(idsOfEnd({ unreached: server }), ['not-passed-on'], 'it could not stop');
  assert.deepEqual(idsOfEnd({ fate, unreached: server, left: [server] }), ['not-passed-on']);
  const ignored = {
    ...ended,
    kind: /** @type {const} */ ('reload'),
    tookMs: undefined,
    servers: 2,
  };
  assert.match(String(trialFindings(ignored)[0].doubt), /are unknown/);
});

test('stopped processes are described rather than acquitted', () => {
  const hang = {
    pid: 2,
    fromMs: 2_000,
    ms: 8_000,
    under: '/',
    does: 'computes',
    isReplaced: false,
  };
  const report = { requests: 500, errors: { timeout: 300 }, statuses: { 200: 200 } };
  const calls = ['RegExp.test (<anonymous>)', 'isPlain (file:///shop/server.js:14:9)'];
  const stacks = { seconds: 3, seen: [{ pid: 9, t: 1, calls, under: '/' }] };
  const [first, ...more] = findingsOf(factsWith({ hangs: [hang], stacks, report }));
  assert.deepEqual(more, [], 'what is left unanswered is its consequence');
  assert.equal(
    first.says,
    'worker 1 (pid 2) stands still from 2.00 s until the end, computing, under /, in RegExp.test, called in isPlain, server.js:14.',
  );
  const writes = { ...hang, under: undefined, does: 'waits', fd: 1 };
  const both = { hangs: [writes, { ...writes, pid: 3 }], report };
  const [second] = findingsOf(factsWith(both));
  assert.match(
    second.says,
    /^2 processes .* waiting to write to their standard output, which is not read\.$/,
  );
});

test('clients that are never accepted, a primary without CPU time, and far more workers than cores', () => {
  const found = (/** @type {Record<string, any>} */ more) =>
    findingsOf(factsWith(more)).map(({ id, doubt }) => (doubt ? `${id}?` : id));
  const report = { errors: { timeout: 10 } };
  const closed = { visitors: 20, unserved: 10 };
  const full = { processes: { 2: { most: 5 }, 3: { most: 5 } } };
  const [limited] = findingsOf(factsWith({ report, closed, ...full, starved: 0.5 }));
  assert.match(limited.says, /^10 of 20 clients never got an answer: 2 processes take at most 5/);
  assert.deepEqual(found({ report, closed }), ['not-taken']);
  assert.deepEqual(found({ report, closed, starved: 0.5 }), ['not-taken?']);
  assert.deepEqual(found({ cores: 1 }), []);
  assert.deepEqual(found({ report: { errors: { timeout: 1 } } }), ['not-taken?'], 'too few');
  const busy = factsWith({ processes: { 2: { busy: 0.3 }, 3: { busy: 0.4 } } });
  const primary = {
    pid: 1,
    name: 'server.js',
    role: 'primary',
    requests: 0,
    unanswered: 0,
    failed: 0,
  };
  const facts = { ...busy, processes: [{ ...primary, busy: 0.97 }, ...busy.processes] };
  assert.deepEqual(
    findingsOf(facts).map(({ id }) => id),
    ['busy-primary'],
  );
  const many = Array.from({ length: 9 }, (_, index) => ({ ...busy.processes[0], pid: 10 + index }));
  assert.deepEqual(
    findingsOf({ ...busy, processes: many }).map(({ id }) => id),
    ['too-many'],
  );
});

test('a server that failed more than one in a hundred requests gets no praise', () => {
  const half = { report: { errors: { timeout: 6 }, statuses: { 200: 494 } }, seen: 0 };
  assert.deepEqual(findingsOf(factsWith({})), []);
  for (const more of [{}, { starved: 0.9 }, { processes: { 3: { unanswered: 6 } } }])
    assert.ok(findingsOf(factsWith({ ...half, ...more })).length > 0);
});

test('a program is at rest when each event loop has turned since the last process started', () => {
  const start = { t: 0, pid: 1, what: 'start', ppid: 0, role: 'primary' };
  const listens = { t: 5, pid: 1, what: 'listening', port: 80 };
  assert.equal(isAtRest([start, listens, ...beats(10, 100)]), false);
  assert.equal(isAtRest([start, listens, ...beats(10, 700)]), true);
  const worker = { t: 6, pid: 2, what: 'start', ppid: 1, role: 'worker', worker: 1 };
  assert.equal(isAtRest([start, listens, worker, ...beats(10, 700)]), false);
});

test('in a trace the silences of one process do not overlap, since its lane holds one at a time', () => {
  const silences = [
    { pid: 7, fromMs: 10, ms: 120 },
    { pid: 8, fromMs: 50, ms: 60 },
    { pid: 7, fromMs: 129.6, ms: 60 },
  ];
  const { traceEvents } = traceOf({ events: [], silences, zeroMs: 10 });
  assert.deepEqual(
    traceEvents.map(({ pid, ts, dur }) => [pid, ts, dur]),
    [
      [7, 0, 119_600],
      [8, 40_000, 60_000],
      [7, 119_600, 60_000],
    ],
  );
});

test('a trace has a lane for each process, and each request begins once and ends once', () => {
  const events = [
    { t: 10, pid: 7, what: 'start', ppid: 1, role: 'primary' },
    { t: 11, pid: 7, what: 'request', client: 5, method: 'GET', url: '/a?b' },
    { t: 12, pid: 7, what: 'request', client: 6, method: 'GET', url: '/b' },
    { t: 13, pid: 7, what: 'response', client: 5, status: 200 },
  ];
  const silences = [{ pid: 7, fromMs: 11, ms: 60, under: '/a' }];
  const { traceEvents } = traceOf({ events, silences, zeroMs: 10 });
  const phases = (/** @type {string} */ ph) => traceEvents.filter((one) => one.ph === ph);
  assert.deepEqual(
    ['M', 'b', 'e', 'X', 'i'].map((ph) => phases(ph).length),
    [1, 2, 2, 1, 1],
  );
  assert.deepEqual(
    phases('e').map((/** @type {any} */ { ts, id2 }) => [id2.local, ts]),
    [
      ['0x0', 3000],
      ['0x1', 3000],
    ],
  );
});
