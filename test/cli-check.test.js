// Verifies `check` and `start` as a learner meets them: real processes, on a small workshop of two lessons whose checks judge
// a word in the file, and on the real lesson 2 if that is the point.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { spawnOurs } from '../lib/common/child.js';
import { checkLesson } from '../lib/cli/check-lesson.js';
import { createCheckQueue } from '../lib/cli/check-queue.js';
import { noPage } from '../lib/cli/learner-page.js';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { dispatched, forkshop, ioOf, keys, makeRoot, read, write } from './fixture-root.js';
import { limitMs } from './limits.js';

const door = pathToFileURL(join(rootFolder, 'lib/check/checking.js'));

/** A check that reads the word that its lesson's program prints. */
const wordCheck = (/** @type {string} */ key) => `
import { Undecided, check, demand } from '${door}';
export default check('${key}', { 1: { greets: 'it says hello', ends: 'it says so and ends' } }, ({ launch, observe, hold, measure, measured, drawn }) => {
  const look = observe([], async () => {
    const program = await launch();
    await program.until(() => false);
    return program.output().trim();
  });
  hold('greets', [look], (said) => demand(said !== 'bye', { expected: 'hello', got: said, why: 'why', try: 'this' }));
  hold('ends', [look], (said) => {
    if (said === 'fault') throw new Error('the check is broken');
    if (said === 'noise') throw new Undecided({ got: 'noise', why: 'the machine', try: 'again' });
    demand(said !== 'ciao', { got: said });
  });
  measure([], () => {
    measured('words', { label: 'words', value: 1, unit: 'words', isHeadline: true });
    drawn('letters', { label: 'letters', unit: 'letters', rows: [{ name: 'l', value: 2 }] });
  });
});
`;

function makeWorkshop() {
  const root = makeRoot();
  for (const key of keys) write(root, { [`checks/${key}/check.js`]: wordCheck(key) });
  say(root, 'hello');
  return root;
}

const say = (/** @type {string} */ root, /** @type {string} */ word, key = keys[0]) =>
  write(root, { [`lessons/${key}/server.js`]: `console.log('${word}');\n` });

test('a pass, a failure, an undecided check and a fault each have their words and exit code', async () => {
  const root = makeWorkshop();
  const passed = await forkshop(root, ['check', '1']);
  assert.equal(passed.code, 0, passed.stdout + passed.stderr);
  assert.match(passed.stdout, /\[1\/2\] ✔ it says hello\n.*\[2\/2\] ✔ it says so and ends/);
  assert.match(passed.stdout, /Passed\. 2 of 2 promises hold/);
  assert.match(
    passed.stdout,
    /Next: read lessons\/02-cluster-fork\/README\.md, then npm run check lesson-2\n$/,
  );

  say(root, 'bye');
  const failed = await forkshop(root, ['check', '1']);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /✖ failed: it says hello\n.*✔ it says so/);
  assert.match(failed.stdout, /Your program printed:\n {4}bye\n/);
  assert.match(
    failed.stdout,
    /expected {2}hello\n +got {7}bye\n +why {7}why\n\nNot yet\. .*\nA hint: npm run hint lesson-1\n$/,
  );
  const again = await forkshop(root, ['check', '1']);
  assert.match(again.stdout, /why {7}why\n +try {7}this\n/, 'the same promise, a second time');
  const asked = await forkshop(root, [
    'check',
    '1',
    '--try',
    '--in',
    join(root, 'lessons', keys[0]),
  ]);
  assert.match(asked.stdout, /try {7}this\n/);

  say(root, 'noise');
  const undecided = await forkshop(root, ['check', '1']);
  assert.equal(undecided.code, 3);
  assert.match(undecided.stdout, /\? undecided: it says so and ends/);

  say(root, 'fault');
  const fault = await forkshop(root, ['check', '1']);
  assert.equal(fault.code, 3);
  assert.match(fault.stdout, /bug in Forkshop, not in your code[^]*Error: the check is broken/);
});

/** Two promises: the text of the file decides the first at once, and the look of the second never ends. */
const endlessCheck = `
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, demand } from '${door}';
export default check('${keys[0]}', { 1: { greets: 'it says hello', waits: 'it answers' } }, ({ place, observe, hold }) => {
  const text = observe([], () => readFileSync(join(place, 'server.js'), 'utf8'));
  const never = observe([text], () => new Promise(() => {}));
  hold('greets', [text], (code) => demand(!code.includes('bye'), { expected: 'hello', got: 'bye' }));
  hold('waits', [never], () => {});
});
`;

test('a check that reaches its deadline fails if a promise has failed; otherwise it is undecided', async () => {
  const root = makeWorkshop();
  const lessons = listLessons(root);
  write(root, { [`checks/${keys[0]}/check.js`]: endlessCheck });
  const checked = async (/** @type {string} */ word) => {
    say(root, word);
    const io = ioOf(root);
    const deadlineMs = limitMs(0.5); // the first promise needs no process
    const result = await checkLesson({ lesson: lessons[0], lessons, io, deadlineMs });
    return { result, told: String(io.stdout.read()) };
  };
  const { result, told } = await checked('bye');
  assert.deepEqual([result.verdict, result.isWhole, result.fault], ['failed', false, null], told);
  assert.match(
    told,
    /✖ failed: it says hello[^]*got {7}bye[^]*Not yet\. 0 hold, 1 fails, 1 to come/,
  );
  assert.match(told, /A hint: npm run hint lesson-1\n$/);

  const undecided = await checked('hello');
  assert.equal(undecided.result.verdict, 'inconclusive');
  assert.match(undecided.told, /✔ it says hello[^]*Undecided\. 1 holds, 1 to come/);
});

test('a pass is saved with its prediction and measurements; judging another program saves nothing', async () => {
  const root = makeWorkshop();
  await forkshop(root, ['check', '2', '--solution']);
  assert.throws(() => read(root, '.forkshop/progress.json'), { code: 'ENOENT' });

  await forkshop(root, ['check', '1', '--predict', '1,5']);
  const progress = JSON.parse(read(root, '.forkshop/progress.json'));
  assert.deepEqual(Object.keys(progress.passed), [keys[0]]);
  assert.equal(progress.predictions[keys[0]], 1.5);
  const again = await forkshop(root, ['check', '1']);
  assert.match(
    again.stdout,
    /last time: 1\.00\n +you predicted 1\.50 words: less than you predicted/,
  );
  const history = read(root, '.forkshop/history.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    history.map(({ lesson, verdict }) => [lesson, verdict]),
    Array(2).fill([keys[0], 'passed']),
  );

  const next = await forkshop(root, ['check']);
  assert.match(next.stdout, /^Lesson 2: /, 'without a name it is the next lesson');
});

test('a prediction for an untouched lesson is only noted, in its unit, and may be corrected until the lesson has passed', async () => {
  const root = makeWorkshop();
  const about = `lessons/${keys[0]}/lesson.yml`;
  write(root, { [about]: `${read(root, about)}predicts: s\n` });
  write(root, {
    [`lessons/${keys[0]}/server.js`]: read(root, `checks/${keys[0]}/starter/server.js`),
  });
  const kept = () => JSON.parse(read(root, '.forkshop/progress.json')).predictions[keys[0]];
  const { code, stdout } = await dispatched(root, ['check', '1', '--predict', '1500ms']);
  assert.equal(code, 0);
  assert.match(stdout, /Noted: you predict 1\.50 seconds\.[^]*Nothing is judged/);
  assert.equal(kept(), 1.5);
  assert.match(
    (await dispatched(root, ['check', '1', '--predict', '2'])).stdout,
    /predict 2\.00 s/,
  );
  assert.equal(kept(), 2);
  const wrong = await dispatched(root, ['check', '1', '--predict', '4x']);
  assert.match(wrong.stderr, /Lesson 1 asks for seconds, not "4x"/);
  assert.throws(() => read(root, '.forkshop/history.jsonl'), { code: 'ENOENT' });

  say(root, 'hello');
  assert.match((await forkshop(root, ['check', '1', '--predict', '3'])).stdout, /Passed\./);
  assert.equal(kept(), 3);
  await forkshop(root, ['check', '1', '--predict', '4']);
  assert.equal(kept(), 3, 'it has passed');
});

test('later tasks wait until the first is done, and promises that held before are shown', async () => {
  const root = makeWorkshop();
  const check = `checks/${keys[0]}/check.js`;
  const apart = "{ 1: { greets: 'it says hello' }, 2: { ends: 'it says so and ends' } }";
  write(root, { [check]: read(root, check).replace(/\{ 1: \{ greets.*?\} \}/, apart) });
  const text = `lessons/${keys[0]}/README.md`;
  write(root, { [text]: `${read(root, text)}\n### Task 2: leave\n` });
  say(root, 'bye');
  const first = await forkshop(root, ['check', '1']);
  assert.match(
    first.stdout,
    /\n {2}Task 1: greet\n {2}\[1\/2\] ✖ .*\n {2}· Task 2: leave: not yet\n/,
  );
  say(root, 'ciao');
  assert.match((await forkshop(root, ['check', '1'])).stdout, /\[1\/2\] ✔[^]*\[2\/2\] ✖/);
  const again = await forkshop(root, ['check', '1', '--json']);
  const { promises, counts, heldBefore, tasks } = JSON.parse(again.stdout);
  assert.deepEqual(
    promises.map((/** @type {any} */ { id, task, verdict }) => [id, task, verdict]),
    [['ends', 2, 'failed']],
  );
  assert.deepEqual([heldBefore, counts.held, counts.failed, counts.toCome], [['greets'], 1, 1, 0]);
  assert.deepEqual(
    tasks.map((/** @type {any} */ { title }) => title),
    ['greet', 'leave'],
  );
  say(root, 'hello');
  const passed = await forkshop(root, ['check', '1']);
  assert.match(passed.stdout, /\[2\/2\] ✔[^]*\[1\/2\] ✔[^]*Passed\. 2 of 2/);
  const hint = await forkshop(root, ['hint', '1']);
  assert.match(hint.stdout, /It has passed: there is nothing to hint at/);
  assert.deepEqual(JSON.parse(read(root, '.forkshop/progress.json')).hints, {});
});

test('--json is one object, and piped output contains no escape codes', async () => {
  const root = makeWorkshop();
  const { stdout } = await forkshop(root, ['check', '1', '--json', '--timeline']);
  const { lesson, verdict, promises, measurements, seconds, conditions, timeline } =
    JSON.parse(stdout);
  assert.deepEqual([lesson, verdict], [keys[0], 'passed']);
  assert.deepEqual(
    promises.map(({ id, verdict: one }) => [id, one]),
    [
      ['greets', 'passed'],
      ['ends', 'passed'],
    ],
  );
  assert.deepEqual(measurements, [
    { name: 'words', label: 'words', value: 1, unit: 'words', isHeadline: true },
  ]);
  assert.ok(seconds > 0 && conditions.cores >= 1);
  assert.match(readFileSync(timeline, 'utf8'), /"what":"start"/);

  const escape = '\u001b[';
  assert.ok(!(await forkshop(root, ['check', '1'])).stdout.includes(escape));
  assert.ok((await forkshop(root, ['check', '1'], { FORCE_COLOR: '1' })).stdout.includes(escape));
  assert.ok(
    !(await forkshop(root, ['check', '1'], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout.includes(
      escape,
    ),
  );
});

test('promises that failed last time are judged first, then the rest of their task', async () => {
  const root = makeWorkshop();
  say(root, 'ciao');
  const first = await forkshop(root, ['check', '1']);
  assert.match(first.stdout, /\[1\/2\] ✔[^]*\[2\/2\] ✖[^]*\nNot yet\. 1 holds, 1 fails\./);
  const again = await forkshop(root, ['check', '1']);
  assert.equal(again.code, 1);
  assert.match(again.stdout, /\[2\/2\] ✖ failed[^]*\[1\/2\] ✔/);

  const all = await forkshop(root, ['check', '1', '--all']);
  assert.match(all.stdout, /\[1\/2\] ✔[^]*\[2\/2\] ✖/);
  say(root, 'hello');
  const mended = await forkshop(root, ['check', '1']);
  assert.equal(mended.code, 0, mended.stdout);
  assert.match(mended.stdout, /\[2\/2\] ✔[^]*\[1\/2\] ✔[^]*Passed\. 2 of 2 promises hold/);
});

test('--only judges the named promises, and is not a pass', async () => {
  const root = makeWorkshop();
  const { code, stdout } = await forkshop(root, ['check', '1', '--only', 'ends']);
  assert.equal(code, 0);
  assert.match(stdout, /\[2\/2\] ✔[^]*Good so far\. 1 holds, 1 to come/);
  assert.deepEqual(JSON.parse(read(root, '.forkshop/progress.json')).passed, {});
  const json = await forkshop(root, ['check', '1', '--only', 'ends', '--json']);
  const { promises, isWhole, measurements } = JSON.parse(json.stdout);
  assert.deepEqual([promises.map(({ id }) => id), isWhole, measurements], [['ends'], false, []]);
});

test('invalid options are explained, with exit code 2', async () => {
  const root = makeWorkshop();
  const cases = [
    [['check', 'cluster-frok'], /cluster-fork/],
    [['check', '1', '--predict', 'much'], /A prediction is a number above 0, not "much"/],
    [['check', '1', '--predict', '0'], /above 0/],
    [['check', '1', '--in', 'nowhere'], /There is no folder .*nowhere/],
    [['check', '1', '--in', ''], /--in names no folder/],
    [['check', '1', '--in', root, '--solution'], /two different things/],
    [['check', '1', '--jsno'], /--json/],
    [
      ['check', '1', '--seed', 'many'],
      /A seed is a whole number of at most nine digits, not "many"/,
    ],
    [['check', '1', '--only', 'greet'], /no promise "greet"\.\nDid you mean greets\?/],
    [['start', 'now'], /"now" means nothing here/],
  ];
  for (const [argv, message] of /** @type {[string[], RegExp][]} */ (cases)) {
    const { code, stderr } = await dispatched(root, argv);
    assert.equal(code, 2, argv.join(' '));
    assert.match(stderr, message);
  }
});

test('a reader that leaves early does not spoil the exit code', async () => {
  const root = makeWorkshop();
  say(root, 'bye');
  const main = join(rootFolder, 'lib/cli/main.cjs');
  const env = { ...process.env, FORKSHOP_ROOT: root, NODE_TEST_CONTEXT: undefined };
  for (const left of /** @type {const} */ (['stdout', 'stderr'])) {
    const child = spawnOurs([main, 'check', '1'], { env });
    child[left].destroy();
    child.stdout.resume();
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.deepEqual([code, said], [1, '']);
  }
  const last = JSON.parse(read(root, '.forkshop/history.jsonl').trim().split('\n')[0]);
  assert.equal(last.verdict, 'failed');
});

test('start shows the position, checks each save, restarts on the next save, and exits on a signal', async (t) => {
  const root = makeWorkshop();
  const child = spawnOurs([join(rootFolder, 'lib/cli/main.cjs'), 'start'], {
    env: { ...process.env, FORKSHOP_ROOT: root, NODE_TEST_CONTEXT: undefined },
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const shows = async (/** @type {RegExp} */ pattern) => {
    const signal = AbortSignal.timeout(limitMs(15));
    while (!pattern.test(output)) await once(child.stdout, 'data', { signal });
    output = output.slice(output.search(pattern) + 1);
  };
  await shows(
    /0 of 3 lessons passed[^]*Read +lessons\/01-blocking-server\/README\.md[^]*npm run check lesson-1\n/,
  );
  say(root, 'bye');
  await shows(/server\.js saved[^]*failed: it says hello[^]*Waiting for the next save/);
  say(root, 'hello');
  await shows(/Passed\.[^]*Next: read lessons\/02[^]*Waiting for the next save/);
  say(root, 'hello', keys[1]);
  await shows(/Lesson 2[^]*Passed\.[^]*Waiting for the next save/);
  assert.ok(!output.includes('\u001b['), 'no escape codes when piped');
  const ended = new Promise((resolve) => child.once('exit', (...end) => resolve(end)));
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(
    Object.keys(JSON.parse(read(root, '.forkshop/progress.json')).passed),
    keys.slice(0, 2),
  );
});

test('the keys of start stay with a lesson that passed once and fails now', async (t) => {
  const root = makeWorkshop();
  const queue = createCheckQueue(listLessons(root), ioOf(root), noPage);
  t.after(queue.stop);
  const judged = async (/** @type {string} */ word) => {
    say(root, word);
    queue.check(listLessons(root)[0]);
    await new Promise((resolve) => queue.afterwards(async () => resolve(undefined)));
    return queue.current().key;
  };
  assert.equal(await judged('hello'), keys[1]);
  assert.equal(await judged('bye'), keys[0]);
});

test('a check also runs on its own: node --test prints promises and numbers', async () => {
  const root = makeWorkshop();
  const file = join(root, 'checks', keys[0], 'check.js');
  const checkAlone = async (/** @type {string} */ word) => {
    say(root, word);
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', file], {
      env: { ...process.env, FORKSHOP_ROOT: root, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: '' },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.ok(!output.includes('{"promise"'));
    return { code, output };
  };
  const failed = await checkAlone('bye');
  assert.equal(failed.code, 1);
  assert.match(
    failed.output,
    /not ok 1 - it says hello[^]*expected: hello\n *got: bye[^]*ok 2 - it says so and ends/,
  );
  const passed = await checkAlone('hello');
  assert.equal(passed.code, 0);
  assert.match(passed.output, /words: 1\.00 words[^]*letters: l 2 letters/);
});

test('lesson 2: the timeline is drawn, and its numbers are explained', async () => {
  const home = makeRoot();
  const place = join(rootFolder, 'checks/02-cluster-fork/starter');
  const argv = ['check', 'lesson-2', '--timeline', '--all', '--in', place];
  const { code, stdout } = await forkshop(rootFolder, argv, { FORKSHOP_HOME: join(home, 'state') });
  assert.equal(code, 1, stdout);
  assert.match(
    stdout,
    /Which process executed requests, and when\n\n {2}one process +\|[ ░▒▓█]+\|\n/,
  );
  assert.match(stdout, /one process: \d+ requests, busy \d+ % of the time/);
  assert.deepEqual(readdirSync(join(home, 'state')), ['timeline.jsonl']);
});
