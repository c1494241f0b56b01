// Verifies what an X-ray draws, without a page: the sides of a comparison, labels that find room, queues over time, exited
// processes, and every recording's last frame; and that a stage reports exits that no other process can report.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { rootFolder } from '../lib/lessons/catalog.js';
import { exitsOf, forksOf } from '../lib/observe/timeline.js';
import { preflight, preflightLines } from '../lib/deck/preflight.js';
import { perform } from '../lib/deck/perform-demo.js';
import { placeLabels } from '../lib/web/client/xray-labels.js';
import { arrange, spanFor } from '../lib/web/client/xray-layout.js';
import {
  createStory,
  endOf,
  lanesOf,
  nameOf,
  sidesOf,
  tell,
} from '../lib/web/client/xray-story.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const widthOf = (/** @type {string} */ text, /** @type {number} */ size) =>
  text.length * size * 0.6;

/** @param {any[]} messages */
function storyOf(messages) {
  const story = createStory();
  for (const message of messages) tell(story, message);
  return story;
}

/** @param {import('../lib/web/client/xray-story.js').Story} story */
function lastFrame(story) {
  const spanMs = Math.max(600, story.lastMs - story.originMs);
  return arrange(story, { height: 420, nowMs: story.lastMs, spanMs, isFinal: true, widthOf });
}

/** Two programs, each asked twice; the second from `at` on. @param {number} at */
function twoPrograms(at) {
  const start = { what: 'start', role: 'primary' };
  const ask = (
    /** @type {number} */ pid,
    /** @type {number} */ client,
    /** @type {number} */ t,
  ) => [
    { asked: { id: String(client), t, path: '/' } },
    { events: [{ t: t + 1, pid, what: 'connection', how: 'kernel', client }] },
    { answered: { id: String(client), t: t + 50, client, status: 200 } },
  ];
  return storyOf([
    { origin: 10 },
    {
      events: [
        { t: 1, pid: 1, ...start, as: 'one' },
        { t: 2, pid: 2, ...start, as: 'two' },
      ],
    },
    ...[ask(1, 11, 20), ask(1, 12, 40), ask(2, 21, at), ask(2, 22, at + 10)].flat(),
  ]);
}

describe('the story of an X-ray', () => {
  test('two programs that are asked in turn are sides of a comparison; concurrent ones are not', () => {
    const [one, two] = sidesOf(twoPrograms(500));
    assert.deepEqual([nameOf(one.root), one.fromMs, one.toMs], ['one', 20, 90]);
    assert.deepEqual([nameOf(two.root), two.fromMs, two.toMs], ['two', 500, 560]);
    assert.deepEqual(sidesOf(twoPrograms(50)), []);
    const { marks } = lastFrame(twoPrograms(500));
    const lengths = marks.filter(({ key }) => key.startsWith('text length'));
    assert.deepEqual(
      lengths.map(({ text }) => text),
      ['70 ms', '60 ms'],
    );
    const brackets = marks.filter(({ at }) => at.class === 'bracket');
    const starts = brackets.map(({ at }) => /^M[\d.]+/.exec(String(at.d))?.[0]);
    assert.equal(starts.length, 2);
    assert.equal(starts[0], starts[1], 'both begin at 0');
  });

  test('a chart whose points have a time is a curve, which keeps the peak', () => {
    const chart = (/** @type {number} */ t, /** @type {number} */ value) => ({
      chart: { name: 'waiting', label: 'Waiting', most: 5, t, rows: [{ name: 'one', value }] },
    });
    const story = storyOf([{ origin: 0 }, chart(0, 0), chart(100, 190), chart(200, 0)]);
    assert.equal(story.curves.get('waiting')?.most, 190);
    const { marks } = lastFrame(story);
    assert.ok(marks.some(({ text }) => text === 'one: at most 190 seen'));
    const line = marks.find(({ tag }) => tag === 'polyline');
    assert.equal(String(line?.at.points).split(' ').length, 3);
  });

  test('a process keeps the name in its event, and an exit without a code is described', () => {
    const events = [
      { t: 1, pid: 1, what: 'start', role: 'primary', as: 'server.js' },
      { t: 2, pid: 2, ppid: 1, what: 'start', role: 'primary', as: 'server.js' },
      { t: 3, pid: 2, what: 'listening', called: 'machine 1' },
      { t: 4, pid: 2, what: 'exit' },
    ];
    const story = storyOf([{ origin: 0 }, { events }]);
    assert.deepEqual(lanesOf(story).map(nameOf), ['server.js', 'machine 1']);
    assert.equal(endOf({}), 'gone');
    assert.equal(endOf({ code: 1 }), 'exit code 1');
    assert.equal(endOf({ code: null, signal: 'SIGKILL' }), 'SIGKILL');
  });

  test('a request whose process crashed is lost, a request in flight is hatched', () => {
    const events = [
      { t: 1, pid: 1, what: 'start', role: 'primary' },
      { t: 2, pid: 2, what: 'start', role: 'primary' },
      { t: 3, pid: 1, what: 'request', client: 7 },
      { t: 3, pid: 2, what: 'request', client: 8 },
      { t: 90, pid: 2, what: 'exit', code: null, signal: 'SIGKILL' },
    ];
    const { marks } = lastFrame(storyOf([{ origin: 0 }, { events }]));
    const kinds = (/** @type {number} */ pid) =>
      marks.filter(({ key }) => key === `work 0 ${pid}`).map(({ at }) => at.class);
    assert.deepEqual([kinds(1), kinds(2)], [['running'], ['lost']]);
    const legend = marks.filter(({ layer, tag }) => layer === 'legend' && tag === 'text');
    assert.deepEqual(
      legend.map(({ text }) => text),
      ['at work', 'lost', 'ended'],
    );
  });

  test('the axis grows in steps to hold all marks', () => {
    assert.equal(spanFor(601), 1_000);
    assert.equal(spanFor(600), 600);
    assert.ok(spanFor(25_000) >= 25_000);
  });

  test('the axis takes wider steps if its labels lack room', () => {
    const ticks = (/** @type {number} */ zoom) =>
      arrange(twoPrograms(20), {
        height: 420,
        nowMs: 900,
        spanMs: 900,
        isFinal: true,
        widthOf: (text, size) => zoom * widthOf(text, size),
      })
        .marks.filter(({ at }) => at.class === 'tick')
        .map(({ at, text }) => ({ x: Number(at.x), text: text ?? '' }));
    const stepOf = (/** @type {{ text: string }[]} */ [, { text }]) => text;
    assert.equal(stepOf(ticks(0.5)), '100 ms');
    for (const zoom of [0.5, 1, 1.5]) {
      const found = ticks(zoom);
      for (const [index, { x, text }] of found.slice(1).entries()) {
        const before = found[index];
        const half = (zoom * (widthOf(text, 28) + widthOf(before.text, 28))) / 2;
        assert.ok(x - before.x - half >= 20, `${before.text} and ${text}`);
      }
    }
    assert.notEqual(stepOf(ticks(1.5)), '100 ms');
  });
});

describe('labels', () => {
  const area = { left: 0, right: 200, top: 0, bottom: 100 };
  const label = (/** @type {object} */ more) => ({
    key: 'a',
    text: '0123456789',
    size: 10,
    spots: [{ x: 10, y: 50 }],
    ...more,
  });

  test('the second label takes another spot, its short form, or none', () => {
    const free = { x: 10, y: 80 };
    const spots = [{ x: 10, y: 50 }, free];
    const place = (/** @type {object} */ more) =>
      placeLabels([label({}), label({ key: 'b', ...more })], { area, widthOf }).slice(1);
    assert.deepEqual(
      place({ spots }).map(({ y }) => y),
      [80],
    );
    assert.deepEqual(place({}), []);
    const narrow = [{ x: 140, y: 50 }];
    assert.deepEqual(place({ text: '0123456789', spots: narrow }).length, 1);
    assert.deepEqual(place({ text: '01234567890', spots: narrow }), [], 'it would be cut');
    const [short] = place({ text: '01234567890', short: '01', spots: narrow });
    assert.equal(short.text, '01');
    const avoid = [{ left: 0, right: 200, top: 40, bottom: 60 }];
    const [other] = placeLabels([label({ spots, avoid })], { area, widthOf });
    assert.equal(other.y, 80, 'it lies on a bar only where there is no other room');
  });
});

test('a start-up is drawn up to the moment that ends it, or to the exit of the process', () => {
  const start = { what: 'start', role: 'primary' };
  const story = storyOf([
    { origin: 0 },
    {
      events: [
        { t: 0, pid: 1, ...start },
        { t: 100, pid: 1, what: 'listening' },
        { t: 0, pid: 2, ...start },
        { t: 300, pid: 2, what: 'exit', code: 1 },
        { t: 600, pid: 1, what: 'exit', code: 0 },
      ],
    },
    { startup: { pid: 1, untilMs: 100 } },
    { startup: { pid: 2 } },
  ]);
  const { marks } = lastFrame(story);
  const widthAt = (/** @type {string} */ key) =>
    Number(marks.find((mark) => mark.key === key)?.at.width);
  const whole = widthAt('alive 1');
  assert.ok(Math.abs(widthAt('starting 1') / whole - 1 / 6) < 0.02);
  assert.equal(widthAt('starting 2'), widthAt('alive 2'));
  assert.ok(marks.some(({ layer, text }) => layer === 'legend' && text === 'starts up'));
});

test('no label covers a moment that decided, nor its number', () => {
  const events = [
    { t: 0, pid: 1, what: 'start', role: 'primary' },
    { t: 300, pid: 1, what: 'exit', code: 1 },
    { t: 600, pid: 2, what: 'start', role: 'primary' },
  ];
  const drawn = (/** @type {any[]} */ moments) => {
    const story = storyOf([{ origin: 0 }, { events }]);
    const view = { height: 420, nowMs: 600, spanMs: 600, isFinal: true, widthOf };
    return arrange(story, { ...view, moments });
  };
  const endOf1 = (/** @type {ReturnType<typeof drawn>} */ { marks }) =>
    marks.find(({ key }) => key === 'text end 1')?.at;
  const before = endOf1(drawn([]));
  const { marked, ...after } = drawn([{ pid: 1, t: 310, toMs: 420 }]);
  assert.equal(marked.length, 1);
  const [{ box }] = marked;
  assert.ok(Number(before?.x) > box.left && Number(before?.x) < box.right, 'it would lie there');
  const at = endOf1({ marked, ...after });
  assert.equal(at?.['text-anchor'], 'end');
  assert.ok(Number(at?.x) <= box.left);
  assert.deepEqual(
    drawn([
      { pid: 1, t: 900 },
      { pid: 9, t: 10 },
    ]).marked,
    [],
    'not in the drawing',
  );
});

test('every recording: each process has its lane and its name, and nothing lies outside', () => {
  const files = readdirSync(join(rootFolder, 'slides'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /recordings.[\w-]+\.json$/.test(file) && !/spot-/.test(file))
    .sort();
  assert.ok(files.length > 10);
  for (const file of files) {
    const messages = JSON.parse(readFileSync(join(rootFolder, 'slides', file), 'utf8'));
    const story = storyOf(messages);
    const { marks, height } = lastFrame(story);
    const names = marks.filter(({ at }) => at.class === 'lane').map(({ text }) => text);
    for (const one of lanesOf(story))
      assert.ok(names.includes(nameOf(one)), `${file}: ${nameOf(one)}`);
    for (const { at, key } of marks) {
      const numbers = Object.values(at).filter((value) => typeof value === 'number');
      assert.ok(numbers.every(Number.isFinite), `${file}: ${key}`);
      if (typeof at.y === 'number') assert.ok(at.y >= -1 && at.y <= height + 1, `${file}: ${key}`);
    }
  }
});

describe('the stage', () => {
  /** @param {Partial<import('../lib/deck/perform-demo.js').Demo>} demo */
  async function performed(demo) {
    /** @type {any[]} */
    const sent = [];
    const { signal } = new AbortController();
    const whole = { name: 'one', title: 'One', perform: async () => {}, ...demo };
    await perform(whole, { root: rootFolder, send: (message) => sent.push(message), signal });
    return sent;
  }

  test('reports the exit of processes that no parent is left to report', async () => {
    /** @type {number[]} */
    let pids = [];
    const sent = await performed({
      async perform({ launch }) {
        const env = { NODE_CLUSTER_WORKERS: '2' };
        const program = await launch('solutions/02-cluster-fork/server.js', { env });
        await program.ready(2);
        pids = [program.pid ?? 0, ...forksOf(program.events).map(({ workerPid }) => workerPid)];
        program.kill(pids[0], 'SIGSTOP'); // it reports no exits any more
        for (const pid of pids.toReversed()) program.kill(pid, 'SIGKILL');
        await until('all are gone', () => program.survivors().length === 0, limitMs(5));
        assert.deepEqual(exitsOf(program.events), []);
      },
    });
    const story = storyOf(sent);
    assert.equal(pids.length, 3);
    for (const pid of pids) assert.equal(story.processes.get(pid)?.signal, 'SIGKILL');
  });

  test('requests that fail against the story make it an error, expected failures do not', async () => {
    /** @type {(stage: import('../lib/deck/perform-demo.js').Stage) => Promise<void>} */
    const act = async ({ ask }) => void (await ask('http://127.0.0.1:1/'));
    const [end] = (await performed({ perform: act })).slice(-1);
    assert.match(end.end.error, /^1 of 1 requests failed/);
    const [fine] = (await performed({ perform: act, mayFail: true })).slice(-1);
    assert.deepEqual(fine, { end: { error: undefined } });
  });
});

test('the preflight names missing tools, and a busy machine', () => {
  const demo = { name: 'one', title: 'One', perform: async () => {} };
  const found = preflight([demo, { ...demo, name: 'two', isPrepared: () => false }]);
  assert.deepEqual([found.obstacles, Object.keys(found.unprepared)], [{}, ['two']]);
  assert.ok(found.cores > 0 && found.wanting >= 0);
  const idle = { cores: 4, wanting: 0.2, obstacles: {}, unprepared: {} };
  assert.deepEqual(preflightLines(idle, 3), ['Demos: 3 of 3 can be performed here, on 4 cores.']);
  const obstacles = { 'kill-a-machine': 'nginx is not installed here. Play the recording.' };
  const unprepared = { 'two-builds': 'It has to build.' };
  const lines = preflightLines({ cores: 1, wanting: 7, obstacles, unprepared }, 3);
  assert.match(lines[0], /^Demos: 2 of 3 .* 1 core\.$/);
  assert.match(lines[1], /kill-a-machine: nginx is not installed/);
  assert.match(lines[2], /two-builds: It has/);
  assert.match(lines[3], /is busy \(7 programs/);
});
