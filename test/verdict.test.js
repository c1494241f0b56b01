// Verifies the texts for a learner: sentences, lines and drawings, from records to text.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { faultOfRandomHex } from '../lib/verdict/response-bodies.js';
import { explainNotReady } from '../lib/verdict/startup-failure.js';
import {
  describeCrash,
  describeHandlerError,
  describeStartError,
  addMeaning,
  addSyntaxErrorPlace,
} from '../lib/verdict/thrown-errors.js';
import { drawTimeline } from '../lib/verdict/draw-timeline.js';
import { Broken, Undecided, asText, demand, verdictOf } from '../lib/verdict/outcome.js';
import { demandSpeedup } from '../lib/verdict/speedup.js';
import { createStyle } from '../lib/verdict/style.js';
import { chartLines, format, measurementLines, promiseDetails } from '../lib/verdict/terminal.js';
import { promiseLine, wrap } from '../lib/verdict/terminal.js';

const plain = createStyle({ isTTY: false }, {});

test('a lesson fails if any promise fails, and passes only if all hold', () => {
  assert.equal(verdictOf(['passed', 'passed']), 'passed');
  assert.equal(verdictOf(['passed', 'failed', 'inconclusive']), 'failed');
  assert.equal(verdictOf(['passed', 'inconclusive']), 'inconclusive');
  assert.equal(verdictOf(['passed', 'skipped']), 'inconclusive');
  assert.equal(verdictOf([]), 'inconclusive');
});

test('demand throws if its condition does not hold, with its story', () => {
  demand(true, { got: 'nothing' });
  const story = { expected: 'four', got: 'three', why: 'one is missing', try: 'fork' };
  assert.throws(
    () => demand(0, story),
    (error) => error instanceof Broken && error.story === story,
  );
  assert.equal(asText(story), 'expected: four\ngot: three\nwhy: one is missing\ntry: fork');
});

test('every verdict has its word beside its glyph', () => {
  const line = (verdict) =>
    promiseLine({ id: 'a', task: 1, sentence: 'it works', verdict }, { number: 2, of: 6 }, plain);
  assert.equal(line('passed'), '  [2/6] ✔ it works');
  assert.equal(line('failed'), '  [2/6] ✖ failed: it works');
  assert.equal(line('inconclusive'), '  [2/6] ? undecided: it works');
  assert.equal(line('skipped'), '  [2/6] · not reached: it works');
});

test('a promise fits the columns of the terminal', () => {
  const sentence = 'SIGTERM and Ctrl-C: requests in flight are answered, then nothing is left';
  for (const columns of [40, 80]) {
    const text = promiseLine(
      { id: 'a', task: 1, sentence, verdict: 'failed' },
      { number: 2, of: 9 },
      plain,
      columns,
    );
    const lines = text.split('\n');
    assert.ok(lines.length > 1 && lines.every((line) => line.length <= columns), text);
    assert.equal(lines.map((line) => line.trim()).join(' '), `[2/9] ✖ failed: ${sentence}`);
  }
});

test('a promise opens into its parts, wrapped to the terminal', () => {
  const promise = {
    id: 'a',
    task: 1,
    sentence: 'it works',
    verdict: /** @type {const} */ ('failed'),
  };
  const got = 'word '.repeat(30).trim();
  const lines = promiseDetails({ ...promise, got, try: 'npm test' }, { isTold: true }, plain, 60);
  assert.equal(lines[0], '  it works');
  assert.match(lines[1], /^ {4}got {7}word/);
  assert.match(lines.at(-1) ?? '', /^ {4}try {7}npm test$/);
  const story = { ...promise, got, try: 'npm test' };
  assert.doesNotMatch(
    promiseDetails(story, {}, plain, 60).join('\n'),
    /npm test/,
    'the first time',
  );
  const undecided = { ...story, verdict: /** @type {const} */ ('inconclusive') };
  assert.match(
    promiseDetails(undecided, {}, plain, 60).join('\n'),
    /npm test/,
    'it is not the program',
  );
  assert.ok(
    lines.every((line) => line.length <= 60),
    lines.join('\n'),
  );
});

test('a chart draws every row to the scale of the greatest, with its number', () => {
  const rows = [
    { name: 'worker 1', value: 10 },
    { name: 'b', value: 2.5 },
    { name: 'none', value: 0 },
  ];
  const chart = { name: 'shares', label: 'connections by process', unit: 'connections', rows };
  assert.deepEqual(chartLines({ ...chart, note: 'see?' }, plain), [
    '  connections by process',
    `    worker 1    10 connections  ${'█'.repeat(32)}`,
    `    b         2.50 connections  ${'█'.repeat(8)}`,
    '    none         0 connections',
    '    see?',
  ]);
  const nothing = chartLines({ ...chart, rows: [{ name: 'a', value: 0 }] }, plain);
  assert.deepEqual(nothing, ['  connections by process', '    a  0 connections']);
});

test('a measurement shows its interval, its ceiling, the formula, the last time and the prediction', () => {
  const measurement = {
    ...{
      name: 'blocking',
      label: 'blocking work',
      unit: 'times',
      value: 3.97,
      low: 3.74,
      high: 4.23,
    },
    ...{ ceiling: 4, isHeadline: true, controlPerSecond: 61.9, candidatePerSecond: 246 },
    formula: { value: 4, says: 'one for each worker' },
  };
  const text = measurementLines(measurement, { prediction: 2, before: 3.5, style: plain }).join(
    '\n',
  );
  for (const part of [
    '3.97 times as fast  (95 % interval 3.74 to 4.23)',
    'ceiling 4.00',
    'from 61.9 to 246 requests/s',
    'computed: 4.00 times as fast (one for each worker)',
    'last time: 3.50',
    'you predicted 2.00 times: more than you predicted',
  ]) {
    assert.ok(text.includes(part), `${part} is not in\n${text}`);
  }
  const good = measurementLines(measurement, { prediction: 4, style: plain }).join('\n');
  assert.match(good, /you predicted 4\.00 times: well predicted/);
  const wide = { ...measurement, low: 1.2, high: 6 };
  const vague = measurementLines(wide, { prediction: 2, style: plain }).join('\n');
  assert.match(vague, /you predicted 2\.00 times: it cannot be told apart/);
  const noted = { ...measurement, note: 'inconclusive: the cores were busy' };
  const nothing = measurementLines(noted, { prediction: 4, style: plain }).join('\n');
  assert.match(nothing, /you predicted 4\.00 times: this measurement says nothing about it/);
  const less = measurementLines(measurement, { prediction: 8, style: plain }).join('\n');
  assert.match(less, /you predicted 8\.00 times: less than you predicted/);
});

test('a rough number is called rough, and a ratio that may be half or twice is not printed', () => {
  const measurement = {
    name: 'cost',
    label: 'cost',
    unit: 'times',
    value: 1,
    low: 0.95,
    high: 1.05,
  };
  const longer = 'npm run check lesson-9 -- --longer';
  const shown = (/** @type {Partial<typeof measurement>} */ one) =>
    measurementLines({ ...measurement, ...one }, { longer, style: plain }).join('\n');
  assert.doesNotMatch(shown({}), /rough|longer/);
  assert.match(
    shown({ low: 0.8, high: 1.2 }),
    /1\.00 times[^]*rough: give or take 20 %; .*-9 -- --longer/,
  );
  const unknown = shown({ low: 0.4, high: 2.5 });
  assert.match(unknown, /between 0\.40 and 2\.50 times as fast: too rough to tell[^]*--longer/);
  assert.doesNotMatch(unknown, /1\.00/);
  assert.match(
    shown({ low: 0, high: Infinity }),
    /more than 0\.00 times as fast: too rough to tell/,
  );
});

test('a bar is as long as the share of the ceiling, and no longer', () => {
  const barOf = (value) =>
    measurementLines(
      { name: 'x', label: 'x', unit: 'times', value, ceiling: 4 },
      { style: plain },
    )[2];
  assert.equal(barOf(2).match(/█/g)?.length, 16);
  assert.equal(barOf(2).match(/░/g)?.length, 16);
  assert.equal(barOf(9).match(/█/g)?.length, 32);
  assert.ok(!barOf(9).includes('░'));
});

test('numbers have three digits, and unknown ones say so', () => {
  assert.deepEqual([0.123, 3.968, 61.88, 243.2, 12_345].map(format), [
    '0.12',
    '3.97',
    '61.9',
    '243',
    '12345',
  ]);
  assert.equal(format(Infinity), 'unknown');
  assert.equal(format(undefined), 'unknown');
});

test('wrap breaks at blanks, keeps line breaks, and lets a long word stick out', () => {
  assert.deepEqual(wrap('one two three', 10), ['one two three']); // 40 columns are the least
  assert.deepEqual(wrap(`${'a'.repeat(39)} b\nc`, 40), ['a'.repeat(39), 'b', 'c']);
  assert.deepEqual(wrap('x'.repeat(90), 40), ['x'.repeat(90)]);
});

test('the timeline draws a row for each process, and explains it in words', () => {
  const requests = [
    { pid: 11, client: 1, url: '/', startMs: 0, endMs: 50 },
    { pid: 12, client: 2, url: '/', startMs: 50, endMs: 100 },
  ];
  const lines = drawTimeline(
    requests,
    new Map([
      [11, 'worker 1'],
      [12, 'worker 2'],
    ]),
    60,
  );
  assert.match(lines[0], /^ {2}worker 1 +\|█+[▓▒░]? +\|$/);
  assert.match(lines[1], /^ {2}worker 2 +\| +[▓▒░]?█+\|$/);
  assert.ok(lines.includes('  worker 1: 1 requests, busy 50 % of the time'), lines.join('\n'));
  assert.match(lines.join(' '), /2 requests in 0\.10 s/);
});

test('an unanswered request lasts to the end, and a missing request is reported', () => {
  const [lane] = drawTimeline(
    [
      { pid: 7, client: 1, url: '/', startMs: 0 },
      { pid: 7, client: 2, url: '/', startMs: 10, endMs: 20 },
    ],
    new Map(),
    60,
  );
  assert.match(lane, /^ {2}process 7 +\|█+\|$/);
  assert.match(drawTimeline([], new Map(), 60)[0], /No request was executed/);
});

test('the reason that a program is not ready follows from how it exited, or else from what it does', () => {
  const facts = { name: 'server.js', port: 1234, events: [], output: '' };
  const story = (more) => explainNotReady({ ...facts, ...more }, 'It listens.').story;
  assert.match(
    story({ fate: { kind: 'ended', code: 1, signal: null }, output: 'x\nSyntaxError: no\n' }).why ??
      '',
    /^SyntaxError: no$/,
  );
  const output = 'Error: listen EADDRINUSE: address already in use :::8080\n';
  const end = { kind: 'ended', code: 1, signal: null };
  const taken = story({ fate: end, output });
  assert.match(
    taken.why ?? '',
    /^It listens on port 8080, which something else has: .* was 1234\.$/,
  );
  assert.match(taken.try ?? '', /where the port comes from/);
  const moved =
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/a/jobs.js' imported from /a/b.js\n";
  const absent = story({ fate: end, output: moved });
  assert.equal(absent.why, 'b.js imports jobs.js, and there is no such file.');
  assert.match(absent.try ?? '', /^look for jobs\.js/);
  assert.match(
    story({ fate: end, output, port: 8080 }).why ?? '',
    /The program itself has that port/,
  );
  const thrown = [
    'ReferenceError: imports is not defined',
    'at load (file:///w/lessons/x/node_modules/y/index.js:1:1)',
    'at file:///w/lessons/x/store.js:2:1',
    'at async file:///w/lessons/x/server.js:16:23',
  ];
  const crash = { t: 1, pid: 1, what: 'crash', error: thrown.join('\n') };
  assert.equal(
    story({
      name: 'lessons/x/server.js',
      events: [crash],
      fate: { kind: 'ended', code: 1, signal: null },
    }).why,
    'ReferenceError: imports is not defined (store.js, line 2)',
  );
  assert.match(
    story({ fate: { kind: 'ended', code: 0, signal: null } }).why ?? '',
    /nothing keeps/,
  );
  assert.match(
    story({ fate: { kind: 'ended', code: null, signal: 'SIGABRT' } }).got ?? '',
    /killed by SIGABRT/,
  );
  assert.match(
    story({ fate: { kind: 'excess', of: 'processes', amount: 41 } }).got ?? '',
    /41 processes/,
  );
  assert.match(
    story({ fate: { kind: 'excess', of: 'memory', amount: 3e9 } }).got ?? '',
    /2861 MB of memory/,
  );
  assert.match(
    story({ fate: { kind: 'excess', of: 'output', amount: 2e7 } }).got ?? '',
    /printed 19 MB/,
  );
  assert.match(
    story({ fate: { kind: 'excess', of: 'timeline', amount: 4e7 } }).got ?? '',
    /record of it grew to 38 MB/,
  );
  assert.match(story({ fate: { kind: 'orphaned' } }).got ?? '', /killed the process/);
  assert.match(story({ fate: { kind: 'unstarted', error: 'EACCES' } }).got ?? '', /EACCES/);
  const elsewhere = [{ t: 1, pid: 1, what: 'listening', port: 3000 }];
  assert.match(story({ events: elsewhere }).got ?? '', /port 3000, but PORT was 1234/);
  assert.match(story({}).got ?? '', /event loop does not turn/);
  const children = Array(12).fill({ t: 1, pid: 1, what: 'child', childPid: 2 });
  assert.match(story({ events: children }).got ?? '', /started 12 processes/);
  assert.match(story({ isUnseen: true }).got ?? '', /cannot be observed/);
  const ends = Array(12).fill({ t: 1, pid: 1, what: 'worker-exit' });
  assert.match(story({ isFutile: true, events: ends }).got ?? '', /endlessly: 12 so far/);
  const beat = { t: 1, pid: 1, what: 'beat' };
  assert.match(story({ events: [beat] }).got ?? '', /isn't listening on any port/);
  const two = children.slice(0, 2);
  assert.match(
    story({ events: [...two, beat] }).why ?? '',
    /No process called listen\(\): not this one, nor any of the 2 that it started/,
  );
});

test('an error in a handler is shown with its place; an error that ended a process is not ascribed to a handler', () => {
  const stack = [
    'TypeError: no',
    '    at ServerResponse.send (/w/node_modules/express/lib/response.js:3:4)',
    '    at file:///w/lessons/x/server.js:15:12',
    '    at Layer.handleRequest (/w/node_modules/router/lib/layer.js:152:17)',
  ];
  assert.equal(
    describeHandlerError(['listens', ...stack, 'bye'].join('\n')),
    'A handler threw TypeError: no (server.js, line 15).',
  );
  assert.equal(
    describeHandlerError(['      throw error;', '      ^', '', ...stack].join('\n')),
    undefined,
  );
  assert.equal(
    describeHandlerError(stack.slice(0, 3).with(1, '    at node:events:1:1').join('\n')),
    undefined,
  );
  assert.equal(
    describeCrash([{ t: 1, pid: 1, what: 'crash', error: stack.join('\n') }]),
    'A process threw and exited: TypeError: no (server.js, line 15)',
  );
});

test('an error of Node.js that names no mistake is followed by what it means', () => {
  const received = 'The "callback" argument must be of type function. Received';
  assert.match(
    addMeaning(`A handler threw TypeError: ${received} type number (100) (server.js, line 4).`) ??
      '',
    /\(server\.js, line 4\)\. The global setTimeout\(\) .*node:timers\/promises\.$/,
  );
  for (const why of [`TypeError: ${received} undefined`, 'Another reason.', undefined])
    assert.equal(addMeaning(why), why);
});

test('an import of a missing name is described by its error and line, though its stack begins with the place', () => {
  const stack = [
    'file:///w/lessons/x/server.js:2',
    "import { cluster } from 'node:cluster';",
    '         ^^^^^^^',
    "SyntaxError: The requested module 'node:cluster' does not provide an export named 'cluster'",
    '    at ModuleJob._instantiate (node:internal/modules/esm/module_job:228:21)',
  ].join('\n');
  const crash = { t: 1, pid: 1, what: 'crash', error: stack };
  const error = /^SyntaxError: .* named 'cluster' \(server\.js, line 2\)$/;
  const run = { name: '/w/lessons/x/server.js', events: [crash], output: stack };
  assert.match(describeStartError(run) ?? '', error);
  assert.match(describeCrash([crash])?.replace('A process threw and exited: ', '') ?? '', error);
});

test('a file that does not parse is named with its line, which stands above the error only', () => {
  const error = 'SyntaxError: Unexpected end of input';
  const output = `listens\nfile:///w/lessons/x/job.js:52\n\n\n\n${error}\n    at node:internal:1:1`;
  assert.equal(
    addSyntaxErrorPlace(`It ended: ${error}`, output),
    `It ended: ${error} (job.js, line 52)`,
  );
  assert.equal(addSyntaxErrorPlace(`${error} (a.js, line 3)`, output), `${error} (a.js, line 3)`);
  assert.equal(addSyntaxErrorPlace('The child exited.', output), 'The child exited.');
  assert.equal(addSyntaxErrorPlace(undefined, 'listens'), undefined);
});

test('a speedup above its target holds; below it fails, unless the machine was disturbed', () => {
  const speedup = {
    ...{ value: 1.1, low: 1, high: 1.2, target: 2.8, ceiling: 4, errors: 0 },
    ...{ controlPerSecond: 60, candidatePerSecond: 66, windows: 4 },
  };
  demandSpeedup({ ...speedup, side: 'above' });
  assert.throws(() => demandSpeedup({ ...speedup, side: 'below' }), Broken);
  const near = {
    ...speedup,
    value: 2.4,
    low: 2.2,
    high: 2.6,
    side: /** @type {const} */ ('below'),
  };
  assert.throws(() => demandSpeedup(near), Broken);
  assert.throws(() => demandSpeedup(near, 'a neighbour was busy'), Undecided);
  assert.throws(() => demandSpeedup({ ...speedup, side: 'below' }, 'a neighbour was busy'), Broken);
  assert.throws(() => demandSpeedup({ ...speedup, side: 'open' }), Undecided);
  const dealt = { ...speedup, side: /** @type {const} */ ('below') };
  assert.throws(() => demandSpeedup({ ...dealt, busiest: 0.3 }), Broken);
  assert.throws(
    () => demandSpeedup({ ...dealt, busiest: 0.97 }),
    (error) =>
      error instanceof Undecided && /^One worker executed 97 % /.test(error.story.why ?? ''),
  );
});

test('a fault of the bodies is described in a sentence', () => {
  const answer = (body, more = {}) => ({
    ...{
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body,
      client: 1,
      sentMs: 0,
      doneMs: 1,
    },
    ...{ error: undefined, ...more },
  });
  const hex = (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length);
  const twice = hex(12_000);
  const block = `0123456789abcdef${hex(84)}`; // a hundred random digits lack one of the sixteen now and then
  const fault = (...answers) => faultOfRandomHex(answers) ?? 'none';
  assert.equal(fault(answer(hex(10_000)), answer(hex(20_000))), 'none');
  assert.equal(fault(answer(`${hex(20_000)}\n`), answer(`${hex(10_000)}\r\n`)), 'none');
  assert.match(fault(answer(`${hex(12_000)}\n\n`)), /isn't hex text/);
  assert.match(fault(answer(hex(9_998))), /9998 hex digits, which are 4999 bytes/);
  assert.match(fault(answer(hex(20_002))), /10001 bytes/);
  assert.match(fault(answer('hello')), /isn't hex text; it begins with "hello"/);
  assert.match(fault(answer(hex(12_001))), /12001 hex digits, but two make a byte/);
  assert.match(fault(answer(twice), answer(twice)), /same bytes/);
  assert.match(fault(answer(block.repeat(110))), /in it more than once/);
  assert.match(fault(answer(hex(12_000)), answer(twice), answer(`f0${twice}`)), /several answers/);
  assert.match(fault(answer('0123456789'.repeat(1_000))), /Only 10 of the 16 hex digits/);
  assert.match(fault(answer('', { error: 'no answer within 4 s' })), /no answer within 4 s/);
  assert.match(fault(answer('', { status: 500 })), /status 500/);
  assert.match(fault(answer(hex(12_000), { headers: {} })), /content-type is missing/);
});

test('colour is used only when requested', () => {
  const red = (stream, env) => createStyle(stream, env).red('x') !== 'x';
  assert.equal(red({ isTTY: true }, {}), true);
  assert.equal(red({ isTTY: true }, { NO_COLOR: '1' }), false);
  assert.equal(red({ isTTY: false }, {}), false);
  assert.equal(red({ isTTY: false }, { FORCE_COLOR: '1' }), true);
});
