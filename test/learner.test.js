// Verifies the learner's page without a browser: what it serves and refuses, how it reports a running check, what it keeps,
// and that no fault of the page stops `npm start`.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { spawnOurs } from '../lib/common/child.js';
import { checkFile, loadCheck } from '../lib/check/definitions.js';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { momentOf } from '../lib/verdict/outcome.js';
import { createCheckState } from '../lib/learner/check-state.js';
import { evidenceOf } from '../lib/web/evidence.js';
import { serveLearner } from '../lib/learner/serve.js';
import { renderText } from '../lib/learner/lesson-text.js';
import { createStretch, messagesWithin } from '../lib/web/client/time-stretch.js';
import { UsageError } from '../lib/common/usage-error.js';
import { forkshop, keys, makeRoot, read, write } from './fixture-root.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const lessons = listLessons(rootFolder);
const [, second] = lessons;

const door = pathToFileURL(join(rootFolder, 'lib/check/checking.js'));

/** A check that names its deciding events. */
const CHECK = `
import { check, demand, momentOf } from '${door}';
export default check('${keys[0]}', { 1: { greets: 'it says hello' } }, ({ launch, observe, hold }) => {
  const look = observe([], async () => {
    const program = await launch();
    await program.until(() => false);
    return program;
  });
  hold('greets', [look], (program) =>
    demand(program.output().trim() === 'hello', {
      got: program.output(),
      shows: { program, moments: [momentOf(program.events[0], 'starts'), undefined] },
    }),
  );
});
`;

/** A learner who has passed lesson 1, and the page's requests to the actions. */
function makeLearner() {
  /** @type {any[]} */
  const asked = [];
  /** @type {Record<string, number>} */
  const predictions = {};
  /** @type {string[]} */
  const measured = [];
  return {
    ...{ asked, predictions, measured },
    progress: () => ({
      ...{ current: second.key, passed: { [lessons[0].key]: {} }, predictions, measured },
    }),
    check: (/** @type {any} */ lesson) => void asked.push(lesson.key),
    predict: (/** @type {string} */ key, /** @type {number} */ value) =>
      void (predictions[key] = value),
    earlierVerdicts: () => ({}),
    lastVerdict: () => undefined,
    followVerdicts: () => ({ close() {} }),
    shownHints: () => ({ name: 'Task 1', shown: [], of: 3 }),
    showHint: () => ({ name: 'Task 1', shown: ['nudge'], of: 3 }),
    ...reach(asked),
  };
}

/** The page's actions, which are only recorded. @returns {import('../lib/learner/page-actions.js').PageActions} */
function reach(/** @type {any[]} */ asked) {
  const note = (/** @type {any} */ value) => (asked.push(value), value);
  return {
    runIfIdle: () => note(true),
    compare: () => note({ files: [] }),
    changed: () => note([]),
    reset: () => note({ changed: [] }),
    spots: () => note({ changes: [], promises: [], right: 'none' }),
    judge: () => note({}),
    measure: () => note({}),
  };
}

describe('the server of the page', () => {
  const learner = makeLearner();
  /** @type {Awaited<ReturnType<typeof serveLearner>>} */
  let page;
  before(async () => (page = await serveLearner({ root: rootFolder, lessons, learner })));
  after(() => page.close());

  /**
   * @param {string} path
   * @param {http.RequestOptions} [options]
   * @returns {Promise<{ status?: number, body: string, headers: http.IncomingHttpHeaders }>}
   */
  const ask = (path, options = {}) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(page.url);
      const request = http.request({ host: '127.0.0.1', port, path, ...options }, (response) => {
        let body = '';
        response.on('data', (part) => (body += part));
        response.on('end', () =>
          resolve({ status: response.statusCode, body, headers: response.headers }),
        );
      });
      request.on('error', reject).end();
    });

  /** The messages that a page about a lesson receives. */
  async function listen(key = second.key) {
    const { port } = new URL(page.url);
    const path = `/lessons/${key}/events`;
    const request = http.get({ host: '127.0.0.1', port, path });
    const [response] = await once(request, 'response');
    /** @type {any[]} */
    const messages = [];
    let text = '';
    response.setEncoding('utf8').on('data', (/** @type {string} */ part) => {
      text += part;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const one of parts)
        if (one.startsWith('data: ')) messages.push(JSON.parse(one.slice('data: '.length)));
    });
    const heard = async (/** @type {number} */ count) => {
      await until(`${count} messages`, () => messages.length >= count);
      return messages;
    };
    return { heard, close: () => request.destroy() };
  }

  test('serves the text, the map and the promises, with nothing inline', async () => {
    for (const path of ['/', `/lessons/${second.key}/`]) {
      const { status, body, headers } = await ask(path);
      assert.equal(status, 200, path);
      assert.match(
        String(headers['content-security-policy']),
        /default-src 'none'; script-src 'self'/,
      );
      assert.match(body, /<h1>One server, many processes<\/h1>/);
      assert.match(body, /Lesson 1: A server that blocks, 35 minutes, passed/);
      assert.match(body, /NODE_CLUSTER_WORKERS=4 forks exactly four workers/);
      const tags = body.replace(/>[^<]*</g, '><');
      assert.ok(!/<style|\sstyle=|\son\w+=|javascript:/.test(tags), path);
      assert.ok(!/(?:src|href)="https?:[^"]*"(?! rel="noreferrer")/.test(tags), path);
    }
    const picture = await ask(`/lessons/${second.key}/one-port.svg`);
    assert.match(String(picture.headers['content-type']), /svg/);
  });

  test('answers only to its own host name, and serves only its own files', async () => {
    const host = 'example.com';
    assert.equal((await ask('/', { headers: { host } })).status, 403);
    assert.equal(
      (await ask(`/lessons/${second.key}/events`, { headers: { origin: 'http://example.com' } }))
        .status,
      403,
    );
    assert.equal(
      (await ask(`/lessons/${second.key}/events`, { headers: { origin: 'null' } })).status,
      403,
    );
    for (const path of [
      '/lessons/..%2fchecks/',
      '/lessons/99-nowhere/',
      `/lessons/${second.key}/server.js`,
      `/lessons/${second.key}/..%2f..%2fslides%2fx.svg`,
      `/lessons/${second.key}/README.md`,
      '/learner/client/../serve.js',
      '/reveal/reveal.mjs',
    ])
      assert.equal((await ask(path)).status, 404, path);
    for (const path of ['/evidence/0/0.json', '/evidence/x/-1.json', '/activity/7/0.json'])
      assert.equal((await ask(path)).status, 204, `${path} is gone, which is no error`);
  });

  test('an unavailable action is refused with an explanation', async () => {
    const headers = { 'x-forkshop-token': page.token };
    const post = (/** @type {string} */ path) => ask(path, { method: 'POST', headers });
    const faultOf = async (/** @type {string} */ path) => {
      const { status, body } = await post(`/lessons/${second.key}/${path}`);
      assert.equal(status, 200, path);
      return JSON.parse(body).fault;
    };
    const { runIfIdle, compare } = learner;
    learner.runIfIdle = () => false;
    learner.compare = () => {
      throw new UsageError('That cannot be compared.', 'Save it first.');
    };
    try {
      assert.match(await faultOf('measure'), /^Something else is running/);
      assert.equal(await faultOf('diff'), 'That cannot be compared. Save it first.');
    } finally {
      Object.assign(learner, { runIfIdle, compare });
    }
    assert.match(await faultOf('experiments/none-of-this-name'), /none-of-this-name/);
  });

  test('a hand can be raised, and a vote cast, only after joining a board, and with the token', async () => {
    assert.equal((await ask('/hand/up', { method: 'POST' })).status, 404);
    assert.equal((await ask('/votes/a/0/1', { method: 'POST' })).status, 404);
    const hand = { isUp: false, isHeard: true, ballot: null };
    /** @type {object[]} */
    const votes = [];
    const vote = async (/** @type {{ option: number | null }} */ choice) => {
      votes.push(choice);
      return choice.option === 9 ? 'This vote is over.' : undefined;
    };
    const joined = await serveLearner({
      ...{ root: rootFolder, lessons },
      learner: {
        ...makeLearner(),
        hand: { snapshot: () => hand, set: (isUp) => void (hand.isUp = isUp), vote },
      },
    });
    const post = (/** @type {string} */ place, token = joined.token, about = 'hand') =>
      fetch(`${joined.url}${about}/${place}`, {
        method: 'POST',
        headers: { 'x-forkshop-token': token },
      });
    assert.equal((await post('up', 'wrong')).status, 403);
    assert.equal(hand.isUp, false);
    assert.equal((await post('up')).status, 204);
    assert.deepEqual((await stateOf(joined.url, second.key)).hand, { ...hand, isUp: true });
    assert.equal((await post('down')).status, 204);
    assert.equal(hand.isUp, false);
    assert.equal((await post('a/0/1', 'wrong', 'votes')).status, 403);
    for (const path of ['a/0/1', 'a/1/none'])
      assert.equal((await post(path, joined.token, 'votes')).status, 204);
    const late = await post('a/0/9', joined.token, 'votes');
    assert.deepEqual([late.status, await late.text()], [409, 'This vote is over.\n']);
    assert.deepEqual(votes, [
      { name: 'a', question: 0, option: 1 },
      { name: 'a', question: 1, option: null },
      { name: 'a', question: 0, option: 9 },
    ]);
    await joined.close();
  });

  test('does nothing without the token', async () => {
    const own = ['check', 'hint', 'prediction/3'];
    const more = ['diff', 'reset', 'reset/look', 'spot', 'spot/0/one-port', 'measure'];
    const all = [...own, ...more, 'experiments/who-answers'];
    const paths = all.map((one) => `/lessons/${second.key}/${one}`);
    for (const path of [...paths, '/stop']) {
      assert.equal((await ask(path, { method: 'POST' })).status, 403, path);
      const headers = { 'x-forkshop-token': `${page.token.slice(0, -1)}?` };
      assert.equal((await ask(path, { method: 'POST', headers })).status, 403, path);
      assert.equal((await ask(path)).status, 404, path);
    }
    assert.deepEqual([learner.asked, learner.predictions], [[], {}]);
    const headers = { 'x-forkshop-token': page.token };
    assert.equal((await ask(paths[0], { method: 'POST', headers })).status, 204);
    assert.deepEqual(learner.asked, [second.key]);
    const hint = await ask(paths[1], { method: 'POST', headers });
    assert.deepEqual(JSON.parse(hint.body), { name: 'Task 1', shown: ['nudge'], of: 3 });
  });

  test('the last prediction counts, and none after the lesson has passed', async () => {
    const predict = (/** @type {string} */ value, key = second.key) =>
      ask(`/lessons/${key}/prediction/${value}`, {
        method: 'POST',
        headers: { 'x-forkshop-token': page.token },
      });
    for (const nonsense of ['0', '-1', 'much', 'NaN', 'Infinity', '1e999'])
      assert.equal((await predict(nonsense)).status, 400, nonsense);
    for (const value of ['3.5', '4']) assert.equal((await predict(value)).status, 204);
    assert.equal((await predict('2', lessons[0].key)).status, 204);
    assert.deepEqual(learner.predictions, { [second.key]: 4 });
  });

  test('reports a check as it runs, complete each time, and drops the one before', async () => {
    const page1 = await listen();
    const [nothing] = await page1.heard(1);
    assert.deepEqual([nothing.check.isIdle, nothing.newest], [true, null]);
    assert.equal(nothing.check.said, '0 hold, 8 to come');
    assert.deepEqual(nothing.hints, { name: 'Task 1', shown: [], of: 3 }, 'of the open task');
    await page.begin(second, 'server.js');
    const t = 1_000;
    const events = [
      { t, pid: 7, what: 'start', role: 'primary' },
      { t: t + 5, pid: 7, what: 'fork', worker: 1, workerPid: 8 },
    ];
    page.program({ name: 'NODE_CLUSTER_WORKERS=4 server.js', program: { events } });
    const moments = [{ pid: 7, t: t + 5, says: 'fork number 1' }];
    const promise = {
      ...{ id: 'forks-as-told', task: 1, sentence: 'it forks' },
      ...{ verdict: /** @type {const} */ ('failed'), got: 'It said \u001b[2J.' },
      ...{
        output: `Error: no\n    at f (${rootFolder}/lessons/x.js:1)\n    at node:net:1`,
        shows: { program: 0, moments },
      },
    };
    page.promise({ promise, programs: [0, 99] });
    const scene = { startMs: 0, sliceMs: 50, slices: [], most: 2, blows: [] };
    const { status } = await ask(`/lessons/${second.key}/scene.svg`);
    assert.equal(status, 404, 'no scene has been played yet');
    page.end({ verdict: 'failed', isWhole: true, seconds: 1, scene, seed: 7 });
    const picture = await ask(`/lessons/${second.key}/scene.svg`);
    assert.match(String(picture.headers['content-type']), /svg/);
    assert.match(picture.body, /^<svg .*Lesson 2, seed 7: failed/);
    const heard = await page1.heard(4);
    const [, begun, told, ended] = heard.map(({ check }) => check);
    const { promises } = await loadCheck(checkFile(rootFolder, second.key));
    assert.deepEqual(
      begun.promises.map((/** @type {any} */ one) => one.verdict),
      Object.keys(promises).map(() => 'waiting'),
    );
    assert.equal(told.promises[0].got, 'It said \\u001b[2J.');
    assert.equal(told.promises[0].output, 'Error: no\n    at f (lessons/x.js:1)');
    assert.deepEqual(told.promises[0].programs, [0]);
    assert.equal(ended.said, '0 hold, 1 fails, 7 to come');
    const headings = ended.tasks.map((/** @type {any} */ { heading }) => heading);
    assert.match(headings[0], /^Task 1: \S/);
    assert.deepEqual([told.isOver, ended.isOver, ended.verdict], [false, true, 'failed']);
    const page2 = await listen();
    assert.deepEqual(
      (await page2.heard(1))[0].check,
      ended,
      'a page that opens late misses nothing',
    );
    const { body } = await ask(`/evidence/${ended.id}/0.json`);
    const marked = JSON.parse(body).events.find(
      (/** @type {any} */ event) => event.what === 'fork',
    );
    assert.deepEqual([marked.pid, marked.t], [moments[0].pid, moments[0].t]);
    assert.equal(
      JSON.parse(body).events[0].as,
      'primary',
      'the process that forks has its name from the text',
    );
    await page.begin(second, 'server.js');
    assert.equal((await ask(`/evidence/${ended.id}/0.json`)).status, 204);
    let stop = () => {};
    const stopped = new Promise((resolve) => (stop = () => resolve(undefined)));
    page.program({ name: 'nitropack build', doing: 'It builds.', program: { events, stopped } });
    const building = await page2.heard(3);
    assert.equal(building[2].check.doing, 'It builds.');
    stop();
    assert.equal((await page2.heard(4))[3].check.doing, undefined, 'that is over');
    page1.close();
    page2.close();
    await until('both have gone', () => page.watching() === 0);
  });
});

describe('the last check of each lesson', () => {
  const promises = { one: 'the first', two: 'the second' };
  const known = (/** @type {string} */ key, more = {}) => ({
    lesson: { key, number: 1, title: key },
    promises,
    tasks: [{ number: 1, name: 'task 1', title: 'fork', promises: ['one', 'two'] }],
    ...more,
  });
  const decided = (/** @type {string} */ id, /** @type {'passed' | 'failed'} */ verdict) => ({
    promise: { id, task: 1, sentence: id, verdict, got: 'no' },
    programs: [0],
  });
  const kept = (/** @type {string} */ at, more = {}) => ({
    ...{
      at,
      verdict: 'failed',
      isWhole: false,
      seconds: 2,
      before: { one: 'failed', two: 'passed' },
    },
    promises: [decided('one', 'failed').promise],
    ...more,
  });
  const verdicts = (/** @type {any} */ { promises: all }) =>
    all.map((/** @type {any} */ { id, verdict }) => `${id} ${verdict}`);

  test('belongs to its lesson, even if another lesson has a promise with the same id', () => {
    const state = createCheckState(() => {});
    state.begin({ ...known('a'), file: 'server.js' });
    state.program({ name: 'server.js', program: { events: [] } });
    state.promise(decided('one', 'failed'));
    state.end({ verdict: 'failed', seconds: 1 });
    const other = { one: 'something else' };
    state.begin({ ...known('b', { promises: other }), file: 'server.js' });
    const [a, b] = ['a', 'b'].map((key) => /** @type {any} */ (state.snapshot(key)));
    assert.deepEqual([a.verdict, a.said], ['failed', '0 hold, 1 fails, 1 to come']);
    assert.deepEqual([a.programs, a.promises[0].programs], [[], undefined], 'these are gone');
    assert.deepEqual([b.isOver, b.promises[0].sentence], [false, 'something else']);
    assert.equal(state.newest()?.lesson.key, 'b');
    assert.equal(state.snapshot('c'), null);
  });

  test('shows the exit of a first process that a signal killed, which it could not report', () => {
    const state = createCheckState(() => {});
    state.begin({ ...known('a'), file: 'server.js' });
    const events = [
      { t: 1_000, pid: 7, what: 'start', role: 'primary' },
      { t: 1_300, pid: 8, what: 'exit', code: 0 },
    ];
    const fate = { kind: /** @type {const} */ ('ended'), code: null, signal: 'SIGINT' };
    state.program({ name: 'server.js', program: { events, pid: 7, fate, killedMs: 1_200 } });
    state.end({ verdict: 'failed', seconds: 1 });
    const { events: drawn = [] } = state.evidence(Number(state.newest()?.id), 0) ?? {};
    assert.deepEqual(drawn[1], { t: 1_200, pid: 7, what: 'exit', signal: 'SIGINT' });
  });

  test('counts programs that were started in the same way, so that their names differ', () => {
    const state = createCheckState(() => {});
    state.begin({ ...known('a'), file: 'server.js' });
    for (const name of ['server.js', 'PORT=1 server.js', 'server.js'])
      state.program({ name, program: { events: [] } });
    state.end({ verdict: 'failed', seconds: 1 });
    assert.deepEqual(
      state.snapshot('a')?.programs.map((/** @type {any} */ { name }) => name),
      ['server.js', 'PORT=1 server.js', 'server.js (2)'],
    );
  });

  test('is the previous one if another lesson was saved during the check', () => {
    const state = createCheckState(() => {});
    state.begin({ ...known('a'), file: 'server.js' });
    state.end({ verdict: 'passed', isWhole: true, seconds: 1 });
    state.begin({ ...known('a', { before: { one: 'passed' } }), file: 'server.js' });
    assert.deepEqual(verdicts(state.snapshot('a')), ['one held', 'two waiting']);
    state.begin({ ...known('b'), file: 'server.js' });
    const told = /** @type {any} */ (state.snapshot('a'));
    assert.deepEqual([told.isOver, told.verdict], [true, 'passed']);
  });

  test('may be from an earlier npm start, or from another terminal', () => {
    const state = createCheckState(() => {});
    const at = ['2026-11-28T10:00:00.000Z', '2026-11-28T11:00:00.000Z'];
    state.fillIn(known('a'), kept(at[0]));
    const first = /** @type {any} */ (state.snapshot('a'));
    assert.deepEqual(verdicts(first), ['one failed', 'two held']);
    assert.equal(first.promises[0].isAgain, true, 'it shows at once what to try');
    assert.deepEqual(
      [first.at, first.isElsewhere, first.said],
      [at[0], undefined, '1 holds, 1 fails'],
    );
    assert.equal(state.newest(), null, 'no page goes there for its sake');
    state.adopt(
      known('a'),
      kept(at[1], { verdict: 'passed', promises: [decided('one', 'passed').promise] }),
    );
    const second = /** @type {any} */ (state.snapshot('a'));
    assert.deepEqual([second.verdict, second.isElsewhere], ['passed', true]);
    assert.equal(state.newest()?.lesson.key, 'a');
    state.begin({ ...known('a'), file: 'server.js' });
    state.adopt(known('a'), kept('2026-11-28T12:00:00.000Z'));
    assert.equal(state.snapshot('a')?.isOver, false, 'what is checked here is newer');
    state.fillIn(known('b'), undefined, at[0]);
    assert.deepEqual([state.snapshot('b')?.isIdle, state.snapshot('b')?.passedAt], [true, at[0]]);
  });
});

test('concurrent checks are not confused', async () => {
  const load = (/** @type {string} */ key) => loadCheck(checkFile(rootFolder, key));
  const found = await Promise.all(lessons.map(({ key }) => load(key)));
  assert.deepEqual(
    found.map(({ key }) => key),
    lessons.map(({ key }) => key),
  );
});

test('a text may contain folded answers, but no other HTML', () => {
  const text = [
    '# Title',
    '<details><summary>Why?</summary>',
    'Because **so**.\n\n<b onclick="x">bold</b> and <script>alert(1)</script>',
    '</details>',
    '<script>alert(2)</script>',
    '[other](../02-cluster-fork/README.md) [own](server.js) [far](https://nodejs.org/)',
  ].join('\n\n');
  const html = renderText(/** @type {any} */ ({ key: '01-blocking-server', text }));
  assert.match(html, /<details class="answer"><summary>Why\?<\/summary>\s*<p>Because <strong>so/);
  assert.ok(!/<script|<b /.test(html), html);
  assert.match(html, /href="\/lessons\/02-cluster-fork\/"/);
  assert.match(html, /<code title="lessons\/01-blocking-server\/server.js">own<\/code>/);
  assert.match(html, /href="https:\/\/nodejs.org\/" rel="noreferrer"/);
});

test('evidence has a limit: events near a moment stay, and the rest is counted', () => {
  const pid = 1;
  const traffic = Array.from({ length: 500 }, (_, index) => [
    { t: 100 * index, pid, what: 'request', client: index },
    { t: 100 * index + 9, pid, what: 'response', client: index },
  ]).flat();
  const events = [{ t: 0, pid, what: 'start', role: 'primary' }, ...traffic];
  const moment = momentOf({ pid, startMs: 40_000, endMs: 40_009 }, 'this one');
  const { events: kept, left } = evidenceOf(events, [/** @type {any} */ (moment)], 60);
  assert.deepEqual([kept.length, left], [60, 941]);
  const times = kept.map((/** @type {any} */ { t }) => t);
  assert.ok(times.includes(40_000) && times.includes(40_009) && times.includes(0));
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
});

test('an event loop that does not turn is silent until it turns again or its process exits', () => {
  const beat = (/** @type {number} */ t, pid = 1) => ({ t, pid, what: 'beat' });
  const events = [beat(0), beat(20), beat(200), beat(220), { t: 900, pid: 1, what: 'exit' }];
  assert.deepEqual(evidenceOf([...events, beat(0, 2), beat(20, 2)]).silences, [
    { pid: 1, sinceMs: 20, untilMs: 200 },
    { pid: 1, sinceMs: 220, untilMs: 900 },
  ]);
});

test('a process that loads its modules is starting: its event loop is not called blocked', () => {
  const at = (/** @type {number} */ t, /** @type {string} */ what, pid = 1) => ({ t, pid, what });
  const beats = [0, 20, 300, 500].map((t) => at(t + 5, 'beat'));
  const start = at(0, 'start');
  const listens = evidenceOf([start, ...beats.slice(0, 3), at(310, 'listening'), beats[3]]);
  assert.deepEqual(listens.startups, [{ pid: 1, untilMs: 310 }]);
  assert.deepEqual(listens.silences, [], 'from 305 to 505 it had begun before it listened');
  const idle = evidenceOf([start, at(5, 'beat'), at(300, 'beat'), at(500, 'beat')]);
  assert.deepEqual(idle.startups, [{ pid: 1, untilMs: 300 }]);
  assert.deepEqual(idle.silences, [{ pid: 1, sinceMs: 300, untilMs: 500 }]);
  const worker = { ...start, role: 'worker' };
  const taken = evidenceOf([worker, ...beats, at(600, 'crash'), at(600, 'exit')]);
  assert.deepEqual(taken.silences, [], 'it never started: there is no loop to block');
  const dead = evidenceOf([start, at(5, 'beat'), at(300, 'crash'), at(300, 'exit')]);
  assert.deepEqual([dead.startups, dead.silences], [[{ pid: 1, untilMs: undefined }], []]);
  const stretch = { fromMs: 0, toMs: 400 };
  assert.deepEqual(messagesWithin(dead, stretch).at(-1), {
    startup: { pid: 1, untilMs: undefined },
  });
});

test('a stretch begins at the moments, ends with the run, and leaves out earlier and later events', () => {
  const at = (/** @type {number} */ t, /** @type {object} */ more) => ({ t, pid: 1, ...more });
  const events = [
    at(0, { what: 'start' }),
    at(10, { what: 'start', pid: 2 }),
    at(50, { what: 'exit', pid: 2 }),
    at(100, { what: 'request', client: 5 }),
    at(110, { what: 'response', client: 5 }),
    at(3_000, { what: 'request', client: 6 }),
    at(9_000, { what: 'exit' }),
  ];
  const stretch = createStretch(events, [{ pid: 1, t: 3_000, says: 'this' }]);
  assert.deepEqual([stretch.fromMs, stretch.toMs], [2_900, 3_100], 'with a margin');
  const [, { events: shown }] = /** @type {any[]} */ (
    messagesWithin({ events, silences: [] }, stretch)
  );
  assert.deepEqual(
    shown.map((/** @type {any} */ { t }) => t),
    [0, 3_000],
  );
  const { fromMs, toMs } = createStretch(events, [{ pid: 1, t: 8_960, toMs: 9_000, says: 'last' }]);
  assert.deepEqual([fromMs, toMs], [8_860, 9_100], 'even if the run ends');
  const whole = stretch.whole();
  assert.deepEqual([whole.fromMs, whole.toMs], [0, 9_000]);
  assert.deepEqual([whole.wider().fromMs, whole.later().toMs], [0, 9_000]);
  assert.equal(stretch.closer().toMs - stretch.closer().fromMs, 100);
  const closest = Array.from({ length: 9 }).reduce(
    (one) => /** @type {any} */ (one).closer(),
    stretch,
  );
  assert.deepEqual(
    [closest.fromMs, closest.toMs],
    [2_990, 3_010],
    'no closer than the eye can separate',
  );
});

describe('npm start continues', () => {
  /** @param {import('node:test').TestContext} t @param {string} root @param {string[]} argv */
  function begin(t, root, argv) {
    const main = join(rootFolder, 'lib/cli/main.cjs');
    const env = { ...process.env, FORKSHOP_ROOT: root, NODE_TEST_CONTEXT: undefined };
    const child = spawnOurs([main, 'start', ...argv], { env });
    t.after(() => child.kill('SIGKILL'));
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => (said.text += part));
    const says = async (/** @type {RegExp} */ pattern) => {
      await until(`it says ${pattern}`, () => pattern.test(said.text), limitMs(15));
      return pattern.exec(said.text) ?? [];
    };
    return { child, said, says };
  }

  test('when the port of its page is in use, and says so in one line', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
    const { says, said } = begin(t, makeRoot(), ['--port', String(port)]);
    await says(/Whenever you save/);
    const [first, then] = said.text.split('\n');
    assert.equal(
      first,
      `The page is left out: Port ${port} is taken. Another: npm start -- --port ${port + 1}`,
    );
    assert.match(then, /^Forkshop: /);
  });

  test('when another npm start serves the page, and says that one is running', async (t) => {
    const one = begin(t, makeRoot(), ['--port', '0']);
    const [, url, port] = await one.says(/^The page: (http:\/\/127\.0\.0\.1:(\d+)\/)\n/m);
    const { says, said } = begin(t, makeRoot(), ['--port', port]);
    await says(/Whenever you save/);
    const [first] = said.text.split('\n');
    assert.equal(first, `npm start is running already, in another terminal: its page is ${url}`);
  });

  test('without a page, if none is requested', async (t) => {
    const { says, said } = begin(t, makeRoot(), ['--no-page']);
    await says(/Whenever you save/);
    assert.ok(!/page/i.test(said.text), said.text);
  });

  test('with a broken progress file; the page is up, its address first, and closes with it', async (t) => {
    const root = makeRoot();
    write(root, { '.forkshop/progress.json': '{ "version": 1, "passed"' });
    write(root, { [`checks/${keys[0]}/check.js`]: CHECK });
    const { child, says, said } = begin(t, root, ['--port', '0']);
    await says(/Whenever you save/);
    assert.match(said.text, /could not understand its progress file/);
    const [, url] = await says(/^The page: (http:\/\/127\.0\.0\.1:\d+\/)\n/m);
    const html = await (await fetch(url)).text();
    assert.match(html, new RegExp(`<h1>About ${keys[0]}</h1>`));
    const [, token] = /name="token" content="([^"]+)"/.exec(html) ?? [];
    const post = (/** @type {string} */ what) =>
      fetch(`${url}lessons/${keys[0]}/${what}`, {
        method: 'POST',
        headers: { 'x-forkshop-token': token },
      });
    assert.deepEqual(await (await post('hint')).json(), {
      name: 'Task 1',
      shown: ['nudge'],
      of: 3,
    });
    assert.equal((await post('prediction/3.5')).status, 204);
    assert.equal((await post('check')).status, 204);
    await says(/Waiting for the next save/);
    const { check, predictions } = await stateOf(url, keys[0]);
    assert.deepEqual(predictions, { [keys[0]]: 3.5 });
    assert.deepEqual([check.isOver, check.verdict, check.programs.length], [true, 'failed', 1]);
    const [{ shows, programs }] = check.promises;
    assert.deepEqual([shows.program, programs, shows.moments[0].says], [0, [0], 'starts']);
    const { events } = await (await fetch(`${url}evidence/${check.id}/0.json`)).json();
    const [{ pid, t: at }] = shows.moments;
    assert.deepEqual([events[0].what, events[0].pid], ['start', pid]);
    assert.equal(events[0].t, Math.round(at * 10) / 10);
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
    await assert.rejects(fetch(url));
    const kept = JSON.parse(read(root, '.forkshop/progress.json'));
    assert.deepEqual([kept.hints, kept.predictions], [{ [`${keys[0]}/1`]: 1 }, { [keys[0]]: 3.5 }]);
  });

  test('and a check in another terminal reaches its page, which still shows it after a restart', async (t) => {
    const root = makeRoot();
    write(root, { [`checks/${keys[0]}/check.js`]: CHECK });
    const start = async () => {
      const { child, says } = begin(t, root, ['--port', '0']);
      await says(/Whenever you save/);
      const [, url] = await says(/^The page: (\S+)\n/m);
      return { child, url };
    };
    const first = await start();
    assert.equal((await stateOf(first.url, keys[0])).check.isIdle, true);
    assert.equal((await forkshop(root, ['check', 'lesson-1'])).code, 1);
    const heard = await until('the page receives it', async () => {
      const told = await stateOf(first.url, keys[0]);
      return told.check.isElsewhere && told;
    });
    assert.equal(heard.check.promises[0].verdict, 'failed');
    assert.equal(heard.newest.lesson.key, keys[0]);
    const ended = once(first.child, 'exit');
    first.child.kill('SIGINT');
    await ended;
    const { check, newest } = await stateOf((await start()).url, keys[0]);
    assert.deepEqual([check.at, check.verdict, newest], [heard.check.at, 'failed', null]);
    const file = `.forkshop/verdicts/${keys[0]}.json`;
    write(root, { [file]: read(root, file).slice(0, 40) });
    const torn = await stateOf((await start()).url, keys[0]);
    assert.equal(torn.check.isIdle, true, 'a record that cannot be parsed is ignored');
  });
});

/** The first message to a page about a lesson that opens now. @param {string} url @param {string} key */
async function stateOf(url, key) {
  const end = new AbortController();
  const response = await fetch(`${url}lessons/${key}/events`, { signal: end.signal });
  const decoder = new TextDecoder();
  const reader = /** @type {any} */ (response.body).getReader();
  let text = '';
  while (!/^data: .*\n\n/m.test(text)) text += decoder.decode((await reader.read()).value);
  end.abort();
  return JSON.parse(String(/^data: (.*)$/m.exec(text)?.[1]));
}
