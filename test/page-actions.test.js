// Verifies the page's actions other than checking, on a real `npm start` of a small workshop: experiments, faults to spot,
// the diff, restoring the starter, measuring the solution; one at a time, stopped on request or by a save, and leaving
// nothing.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { performExperiment } from '../lib/check/experiments.js';
import { readSolutionResults } from '../lib/cli/saved/solution-results.js';
import { EnvironmentError } from '../lib/common/usage-error.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { Starved } from '../lib/observe/cpu-time.js';
import { createActivity, errorInWords } from '../lib/learner/activity.js';
import { keys, makeRoot, read, starter, write } from './fixture-root.js';
import { limitMs } from './limits.js';
import { Watched, until } from './nothing-left.js';

const [key] = keys;
const door = pathToFileURL(join(rootFolder, 'lib/check/checking.js'));
const main = join(rootFolder, 'lib/cli/main.cjs');

const CHECK = `
import { check, demand, momentOf } from '${door}';
export default check('${key}', { 1: { greets: 'it says hello' } }, ({ launch, observe, hold, measured }) => {
  const look = observe([], async () => {
    const program = await launch();
    await program.until(() => Boolean(program.fate));
    return program;
  });
  hold('greets', [look], (program) => {
    const moments = [momentOf(program.events[0], 'starts')];
    demand(program.output().startsWith('hello'), { got: program.output(), shows: { program, moments } });
    measured('all', { label: 'all', unit: 'times', isHeadline: true, value: 2, low: 1, high: 3 });
  });
});
`;

const EXPERIMENTS = `
const run = async ({ launch }) => {
  const program = await launch('solutions/${key}/server.js');
  await program.until(() => Boolean(program.fate));
  return { observed: program.output().split('\\n')[0], because: 'It says so.', asExpected: true };
};
const never = async ({ launch }) => {
  await launch('checks/${key}/endless.js');
  await new Promise(() => {});
};
export default [
  { name: 'hello', title: 'It speaks', question: 'What does it say?', run },
  { name: 'endless', title: 'It stays', question: 'For how long?', run: never },
];
`;

/** `npm start` on a small workshop, with a page that listens. @param {import('node:test').TestContext} t */
async function begin(t) {
  const root = makeRoot();
  write(root, {
    [`checks/${key}/check.js`]: CHECK,
    [`checks/${key}/experiments.js`]: EXPERIMENTS,
    [`checks/${key}/endless.js`]: 'setInterval(() => {}, 1_000);\n',
  });
  const watched = new Watched([process.execPath, main, 'start', '--port', '0'], {
    FORKSHOP_ROOT: root,
    FORKSHOP_HOME: join(root, '.forkshop'),
  });
  t.after(async () => {
    if (!watched.ended) process.kill(watched.pid, 'SIGINT'); // as a learner stops it
    await watched.over().finally(() => watched.cleanUp());
  });
  const url = String(
    await until('it says where', () => watched.printed(/^The page: (\S+)$/m)?.[1], limitMs(15)),
  );
  await until('it watches', () => watched.printed(/Whenever you save/));
  const html = await (await fetch(url)).text();
  const token = String(/name="token" content="([^"]+)"/.exec(html)?.[1]);
  const post = (/** @type {string} */ path) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { 'x-forkshop-token': token } });
  const page = await listen(url);
  t.after(page.close);
  return { root, url, post, page, watched, lesson: `lessons/${key}` };
}

/** The last messages that a page received. @param {string} url */
async function listen(url) {
  const end = new AbortController();
  const { body } = await fetch(`${url}lessons/${key}/events`, { signal: end.signal });
  const heard = { last: /** @type {any} */ ({}) };
  const reading = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const part of /** @type {any} */ (body)) {
      const parts = (text + decoder.decode(part, { stream: true })).split('\n\n');
      text = String(parts.pop());
      for (const one of parts)
        if (one.includes('data: ')) heard.last = JSON.parse(one.slice(one.indexOf('{')));
    }
  })();
  reading.catch(() => {});
  const over = (/** @type {string} */ kind) =>
    until(
      `${kind} is over`,
      () => heard.last.activity?.kind === kind && heard.last.activity.isOver && heard.last,
      limitMs(20),
    );
  return { heard, over, close: () => end.abort() };
}

describe('from the page', () => {
  test('an experiment is performed, and its programs are its evidence', async (t) => {
    const { url, post, page, lesson } = await begin(t);
    const offered = await (await fetch(`${url}${lesson}/experiments.json`)).json();
    assert.deepEqual(
      offered.map((/** @type {any} */ { name }) => name),
      ['hello', 'endless'],
    );
    assert.equal((await post(`${lesson}/experiments/hello`)).status, 202);
    const { activity } = await page.over('experiment');
    assert.deepEqual(
      [activity.name, activity.observed, activity.because, activity.asExpected],
      ['hello', ['hello'], ['It says so.'], true],
    );
    assert.deepEqual(activity.programs, [{ name: 'server.js', isReference: false }]);
    const { events } = await (await fetch(`${url}activity/${activity.id}/0.json`)).json();
    assert.equal(events[0].what, 'start');
    assert.equal((await fetch(`${url}activity/${activity.id + 1}/0.json`)).status, 204);
    const refused = await post(`${lesson}/experiments/helo`);
    assert.deepEqual(
      [refused.status, await refused.json()],
      [
        200,
        {
          fault:
            'There is no experiment "helo". Did you mean hello? There are: 1 hello, 2 endless.',
        },
      ],
    );
  });

  test('one action runs at a time; a request or a save stops it, and it leaves nothing', async (t) => {
    const { root, post, page, watched, lesson } = await begin(t);
    const runs = () => watched.running('endless.js').length > 0;
    const starts = async () => runs() || void (await post(`${lesson}/experiments/endless`)); // refused as busy until it runs
    await until('it runs', starts, limitMs(15));
    const second = await post(`${lesson}/experiments/hello`);
    assert.equal(second.status, 200);
    assert.match((await second.json()).fault, /^Something else is running/);
    assert.equal((await post('stop')).status, 204);
    const { activity } = await page.over('experiment');
    assert.equal(activity.fault, 'It was stopped.');
    await until('it is gone', () => !runs());

    await until('it runs again', starts, limitMs(15));
    write(root, {
      [`${lesson}/server.js`]: starter.replace('// Task 1: greet.', "console.log('hello');"),
    });
    const hasPassed = () => page.heard.last.check?.verdict === 'passed';
    await until('it is checked, and passes', hasPassed, limitMs(20));
    assert.equal(page.heard.last.activity.fault, 'It was stopped.');
    assert.ok(!runs());

    await until('it runs a third time', starts, limitMs(15));
    process.kill(watched.pid, 'SIGINT');
    assert.equal((await watched.over()).code, 0);
    assert.deepEqual(await watched.left(), []);
  });

  test('an action of the page ends with the last page', async (t) => {
    const { post, page, watched, lesson } = await begin(t);
    const runs = () => watched.running('endless.js').length > 0;
    const starts = async () => runs() || void (await post(`${lesson}/experiments/endless`)); // refused as busy until it runs
    await until('it runs', starts, limitMs(15));
    page.close();
    await until('it is gone', () => !runs(), limitMs(20));
    process.kill(watched.pid, 'SIGINT');
    await watched.over();
    assert.deepEqual(await watched.left(), []);
  });

  test('the diff and the faults ask twice, and restoring the starter keeps a copy', async (t) => {
    const { root, post, page, lesson } = await begin(t);
    const json = async (/** @type {string} */ path) => (await post(`${lesson}/${path}`)).json();
    assert.match(
      (await json('diff')).reason,
      /^Lesson 1 has not passed yet.* 3 of its hints left\.$/,
    );
    const { files } = await json('diff');
    assert.match(files[0].patch, /^\+console\.log\('hello'\);$/m);

    assert.match((await json('spot')).reason, /^Lesson 1 has not passed yet/);
    const { changes, promises, right } = await json('spot');
    assert.deepEqual([promises[0].id, right, changes.length], ['greets', 'none', 2]);
    assert.ok(!JSON.stringify(changes).includes('mute'), 'the name of a change gives it away');
    const wrong = changes.findIndex((/** @type {any} */ [{ hunks }]) =>
      hunks[0].lines.includes("+console.log('');"),
    );
    await until(
      'nothing runs',
      async () => (await post(`${lesson}/spot/${wrong}/greets`)).status === 202,
    );
    const { activity } = await page.over('spot');
    assert.deepEqual([activity.isSeen, activity.breaks], [true, ['greets']]);
    const [{ verdict, shows }] = activity.promises;
    assert.deepEqual([verdict, shows.moments[0].says], ['failed', 'starts']);
    const kept = JSON.parse(read(root, '.forkshop/progress.json'));
    assert.deepEqual(kept.spotted, { [key]: { mute: true } });
    assert.equal((await post(`${lesson}/spot/7/greets`)).status, 202);
    await until('it is refused', () => page.heard.last.activity?.fault);
    assert.match(page.heard.last.activity.fault, /no longer shown\. Begin again/);

    assert.deepEqual(await json('reset/look'), { changed: [] });
    write(root, { [`${lesson}/server.js`]: 'mine();\n' });
    assert.deepEqual(await json('reset/look'), { changed: [`${lesson}/server.js`] });
    const { backup } = await json('reset');
    assert.equal(read(root, `${lesson}/server.js`), starter);
    assert.equal(read(backup, `${key}/server.js`), 'mine();\n');
    assert.equal(readdirSync(join(root, '.forkshop/backups')).length, 1);
  });

  test('the solution is measured on this machine, and shown from then on', async (t) => {
    const { root, post, page, lesson } = await begin(t);
    assert.deepEqual(page.heard.last.solutions ?? {}, {});
    assert.equal((await post(`${lesson}/measure`)).status, 202);
    const { activity, solutions } = await page.over('solution');
    assert.equal(activity.verdict, 'passed');
    const { value, low, high } = solutions[key];
    assert.deepEqual([value, low, high], [2, 1, 3]);
    assert.ok(!existsSync(join(root, '.forkshop/history.jsonl')), 'it is no check of theirs');
    const line = JSON.parse(read(root, '.forkshop/solutions.jsonl'));
    const other = { ...line, conditions: { ...line.conditions, cores: 0 }, lesson: keys[1] };
    write(root, {
      '.forkshop/solutions.jsonl': `${JSON.stringify(line)}\n${JSON.stringify(other)}\n`,
    });
    const known = readSolutionResults({ root, env: {} });
    assert.deepEqual(Object.keys(known), [key], 'of another machine it says nothing here');
  });

  test('if nothing can be saved the page says why, and a refusal is explained', async (t) => {
    const { root, url, post, page, lesson } = await begin(t);
    write(root, { '.forkshop': 'a file, where a folder should be\n' });
    assert.equal((await post(`${lesson}/prediction/3`)).status, 204);
    await until('it is shown', () => page.heard.last.saveError);
    assert.match(
      page.heard.last.saveError,
      /\.forkshop should be a folder\. Remove it, or rename it/,
    );
    write(root, { [`${lesson}/server.js`]: 'mine();\n' });
    const refused = await post(`${lesson}/reset`);
    assert.match((await refused.json()).fault, /^It was refused: ENOTDIR/);
    assert.equal(read(root, `${lesson}/server.js`), 'mine();\n');
    assert.equal((await fetch(url)).status, 200);
  });
});

test('an activity reports how it ended, whatever happens to it', async () => {
  const told = /** @type {any[]} */ ([]);
  const activity = createActivity(() => told.push(activity.snapshot()));
  const { signal } = new AbortController();
  const perform = (/** @type {(doing: any) => Promise<object>} */ act, end = signal) =>
    activity.perform({ kind: 'experiment', lesson: key }, act, end);
  await perform(async () => ({ observed: ['\u001b[2J'] }));
  assert.deepEqual([told.length, told[1].observed, told[1].isOver], [2, ['\\u001b[2J'], true]);
  await perform(() => Promise.reject(new EnvironmentError('No room.', 'Make some.')));
  assert.equal(told.at(-1).fault, 'No room. Make some.');
  await perform(() => Promise.reject(new Error('gone')), AbortSignal.abort());
  assert.equal(told.at(-1).fault, 'It was stopped.');
  assert.equal(activity.isRunning(), false);
  assert.equal(errorInWords(new TypeError('ours')), undefined);
  assert.match(
    String(errorInWords(Object.assign(new Error('no space'), { code: 'ENOSPC' }))),
    /no space/,
  );
});

test('an experiment that cannot be shown says why', async () => {
  const run = () => Promise.reject(new Starved(1_000, 10));
  const experiment = { name: 'a', title: 'a', question: 'a', run };
  const { obstacle } = await performExperiment(experiment, { root: rootFolder });
  assert.match(String(obstacle?.why), /too busy/);
  const fault = { ...experiment, run: () => Promise.reject(new Error('ours')) };
  await assert.rejects(performExperiment(fault, { root: rootFolder }), /ours/);
});
