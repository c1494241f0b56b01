// The author's commands: doctor finds every kind of misfit, new makes a lesson that doctor accepts, sync keeps quotes and
// starters in step.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { filesBelow } from '../lib/lessons/catalog.js';
import { compareRooms } from '../lib/lessons/compare-rooms.js';
import {
  about,
  answers,
  dispatched,
  forkshop,
  hints,
  keys,
  makeRoot,
  read,
  readme,
  solution,
  starter,
  write,
} from './fixture-root.js';

const [key] = keys;

test('doctor finds no problem in a complete workshop, and prints the environment', async () => {
  const root = makeRoot();
  const npm = { npm_lifecycle_event: 'doctor', npm_config_user_agent: 'npm/11.1.0 node/v22' };
  const { code, stdout } = await forkshop(root, ['doctor'], npm);
  assert.equal(code, 0, stdout);
  assert.match(
    stdout,
    /^Compared 3 lessons; every part is there and fits\.\nNode\.js \d+\.\d+\.\d+, npm 11\.1\.0, \d+ of \d+ cores/,
  );
  const json = await forkshop(root, ['doctor'], { ...npm, npm_config_json: 'true' });
  const { ok, lessons, problems, environment } = JSON.parse(json.stdout);
  assert.deepEqual({ ok, lessons, problems }, { ok: true, lessons: keys, problems: [] });
  assert.equal(environment.node, process.versions.node);
});

test('doctor prints each problem and its fix: exit code 1', async () => {
  const root = makeRoot();
  rmSync(join(root, `lessons/${key}/server.js`));
  const { code, stdout } = await dispatched(root, ['doctor']);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^lessons\/01-blocking-server\/server\.js\n {2}The file is missing\.\n {2}To fix it: .*reset lesson-1\n/,
  );
  assert.match(stdout, /problems found: 1\.\n/);
  const json = JSON.parse((await dispatched(root, ['doctor', '--json'])).stdout);
  assert.deepEqual([json.ok, json.problems.length], [false, 1]);
});

const right = `checks/${key}/right-answers`;
const wrong = `checks/${key}/wrong-answers`;
const mute = answers('## mute\n\nBreaks: `greets`\n\nShy.', '');
/**
 * Files to write (null removes one), and the place and message of the only problem.
 *
 * @type {Record<string, [files: Record<string, string | null>, where: string, message: RegExp]>}
 */
const misfits = {
  'no solution': [
    {
      [`solutions/${key}`]: null,
      [`checks/${key}/starter`]: null,
      [`${right}.md`]: null,
      [`${wrong}.md`]: null,
      [`${right}/a.js`]: '// accepts: all\n',
      [`${wrong}/a.js`]: '// breaks: greets\n',
      [`lessons/${key}/README.md`]: readme(key).replace(/```js[^]*?```/, ''),
    },
    `solutions/${key}`,
    /no solution/,
  ],
  'no check': [
    {
      [`checks/${key}/check.js`]: null,
      [`lessons/${key}/lesson.yml`]: about(key),
    },
    `checks/${key}/check.js`,
    /no check/,
  ],
  'no experiments': [
    { [`checks/${key}/experiments.js`]: null },
    `checks/${key}/experiments.js`,
    /no experiments/,
  ],
  'no slides': [{ [`slides/${key}/slides.md`]: null }, `slides/${key}/slides.md`, /no slides/],
  'no starter file': [
    { [`lessons/${key}/server.js`]: null },
    `lessons/${key}/server.js`,
    /is missing/,
  ],
  'no pristine starter': [
    { [`checks/${key}/starter`]: null },
    `checks/${key}/starter/server.js`,
    /pristine copy/,
  ],
  'a starter without solution': [
    { [`checks/${key}/starter/pool.js`]: '' },
    `checks/${key}/starter/pool.js`,
    /no such file/,
  ],
  'no text': [
    { [`lessons/${key}/README.md`]: null },
    `lessons/${key}/lesson.yml`,
    /README\.md is missing/,
  ],
  'no lesson.yml': [
    { [`lessons/${key}/lesson.yml`]: null },
    `lessons/${key}/lesson.yml`,
    /lesson\.yml is missing/,
  ],
  'two hints': [
    { [`checks/${key}/hints.md`]: hints.split('### Third')[0] },
    `lessons/${key}/lesson.yml`,
    /exactly three/,
  ],
  'an unknown promise': [
    { [`lessons/${key}/lesson.yml`]: about(key).replace('[greets]', '[greet]') },
    `lessons/${key}/lesson.yml`,
    /starterFails names "greet"/,
  ],
  'promises of an unknown task': [
    {
      [`checks/${key}/check.js`]:
        "const tasks = {\n  1: {\n    greets: 'it says hello',\n  },\n  2: {\n    leaves: 'it leaves',\n  },\n};\n",
    },
    `checks/${key}/check.js`,
    /promises of task 2/,
  ],
  'a task without promises': [
    { [`lessons/${key}/README.md`]: '### Task 1: greet\n\n### Task 2: leave\n' },
    `checks/${key}/check.js`,
    /no promise of the text's last task, which is 2/,
  ],
  'hints of another task': [
    { [`checks/${key}/hints.md`]: hints.replace('## Task 1', '## Task 2') },
    `checks/${key}/hints.md`,
    /hints for the tasks 2, and the check has promises of 1/,
  ],
  'a prediction without its unit': [
    { [`lessons/${key}/README.md`]: `${readme(key)}\n--predict 1\n` },
    `lessons/${key}/lesson.yml`,
    /in which unit/,
  ],
  'a difference outside the regions': [
    { [`solutions/${key}/server.js`]: solution.replace('port = 1', 'port = 2') },
    `checks/${key}/starter/server.js`,
    /"const port = 1;" here, "const port = 2;" there/,
  ],
  'a longer solution': [
    { [`solutions/${key}/server.js`]: `${solution}more();\n` },
    `checks/${key}/starter/server.js`,
    /"" here, "more\(\);" there/,
  ],
  'an unclosed region': [
    { [`checks/${key}/starter/server.js`]: '// #region task\n' },
    `checks/${key}/starter/server.js`,
    /never closed/,
  ],
  'a stale quote': [
    { [`lessons/${key}/README.md`]: readme(key).replace("log('hello')", "log('hi')") },
    `lessons/${key}/README.md`,
    /server\.js#task on line 5 is stale/,
  ],
  'a quote of nothing': [
    { 'README.md': '```js file=lib/none.js\n```\n' },
    'README.md',
    /no file lib\/none\.js/,
  ],
  'a quote from outside': [
    { 'README.md': '```js file=../../etc/hostname\n```\n' },
    'README.md',
    /no file \.\.\/\.\.\/etc/,
  ],
  'a stale slide': [
    {
      [`slides/${key}/slides.md`]: `\`\`\`js file=solutions/${key}/server.js\nold\n\`\`\`\n`,
    },
    `slides/${key}/slides.md`,
    /stale/,
  ],
  'no wrong answer': [{ [`${wrong}.md`]: null }, `${wrong}.md`, /no answer/],
  'no right answer': [{ [`${right}.md`]: '# Right answers\n' }, `${right}.md`, /no answer/],
  'a wrong answer that breaks what is not promised': [
    { [`${wrong}.md`]: mute.replace('`greets`', '`greets`, `other`') },
    `${wrong}.md`,
    /"mute" breaks "other"/,
  ],
  'a wrong answer that breaks nothing': [
    { [`${wrong}.md`]: mute.replace(/Breaks.*/, '') },
    `checks/${key}`,
    /"mute" .* names no promise/,
  ],
  'a wrong answer without reason': [
    { [`${wrong}.md`]: mute.replace('Shy.', '') },
    `checks/${key}`,
    /does not say why/,
  ],
  'an answer without change': [
    { [`${wrong}.md`]: mute.split('```')[0] },
    `checks/${key}`,
    /shows no change/,
  ],
  'an answer with a strange name': [
    { [`${wrong}.md`]: mute.replace('## mute', '## Mute it') },
    `checks/${key}`,
    /"Mute it" .* kebab-case/,
  ],
  'an answer listed twice': [
    { [`${wrong}.md`]: `${mute}\n${mute}` },
    `${wrong}.md`,
    /"mute" is there twice/,
  ],
  'a change that no longer fits': [
    { [`${wrong}.md`]: mute.replace("-console.log('hello')", "-console.log('hallo')") },
    `${wrong}.md`,
    /"mute" doesn't fit server\.js: "console\.log\('hallo'\);" is not there/,
  ],
  'a change of a file that is not there': [
    { [`${wrong}.md`]: mute.replace('```diff', '```diff pool.js') },
    `${wrong}.md`,
    /changes pool\.js, which does not exist/,
  ],
  'a wrong program without promise': [
    { [`${wrong}/x/server.js`]: 'x();\n' },
    `checks/${key}`,
    /begins with "x\(\);"/,
  ],
  'a right program without reason': [
    { [`${right}/x.cjs`]: 'x();\n' },
    `checks/${key}`,
    /begins with "x\(\);"/,
  ],
  'a stray check': [{ 'checks/09-gone/check.js': '' }, 'checks', /"09-gone" belongs to no lesson/],
  'a stray chapter': [
    { 'slides/09-gone/demos.js': '' },
    'slides',
    /"09-gone" belongs to no lesson/,
  ],
  'a stray lesson': [{ 'lessons/Extra/README.md': '' }, 'lessons', /"Extra" belongs to no lesson/],
  'a broken link': [
    { 'README.md': '[a](lib/none.js) [b](README.md#x) [c](https://x.y) [d](#e)\n' },
    'README.md',
    /The link lib\/none\.js leads/,
  ],
  'a broken image': [
    { [`lessons/${key}/README.md`]: `${readme(key)}![x](no%20ne.svg)\n` },
    `lessons/${key}/README.md`,
    /no%20ne\.svg/,
  ],
  'a broken image in HTML': [
    { 'README.md': '<img src="none.svg">\n\n`<a href="code">`\n' },
    'README.md',
    /none\.svg/,
  ],
};
for (const [name, [files, where, message]] of Object.entries(misfits)) {
  test(`doctor finds ${name}`, async () => {
    const root = makeRoot();
    for (const [path, text] of Object.entries(files)) {
      if (text === null) rmSync(join(root, path), { recursive: true });
      else write(root, { [path]: text });
    }
    const problems = await compareRooms(root);
    const here = problems.filter(
      (problem) => problem.where === where && message.test(problem.problem),
    );
    assert.equal(here.length, 1, JSON.stringify(problems, null, 2));
    for (const { mend } of problems) assert.ok(mend.length > 10);
    if (name !== 'no check') assert.equal(problems.length, 1, JSON.stringify(problems, null, 2));
  });
}

test('doctor finds a number that two lessons share, and lessons with nothing to compare', async () => {
  const root = makeRoot();
  assert.equal((await dispatched(root, ['new', '01-other', 'T'])).code, 2);
  write(root, { 'lessons/01-other/README.md': '' });
  const problems = await compareRooms(root);
  assert.ok(problems.some(({ problem }) => /The number 01 is used twice/.test(problem)));
  for (const room of ['lessons', 'solutions', 'checks', 'slides'])
    rmSync(join(root, room), { recursive: true });
  write(root, { 'lessons/work.js': '' });
  assert.match((await compareRooms(root))[0].problem, /nothing to compare/);
});

test('doctor accepts CRLF', async () => {
  const root = makeRoot();
  const paths = [
    `lessons/${key}/README.md`,
    `solutions/${key}/server.js`,
    `checks/${key}/check.js`,
  ];
  for (const path of [
    ...paths,
    `${wrong}.md`,
    `lessons/${key}/lesson.yml`,
    `checks/${key}/hints.md`,
  ]) {
    write(root, { [path]: read(root, path).replaceAll('\n', '\r\n') });
  }
  assert.deepEqual(await compareRooms(root), []);
});

test('new creates every part; after sync doctor finds no problem', async () => {
  const root = makeRoot();
  const title = 'Threads: "beside" processes, für alle #1';
  const { code, stdout } = await forkshop(root, ['new', '12-worker-threads', title]);
  assert.equal(code, 0);
  for (const path of stdout.trim().split('\n').slice(0, -1))
    assert.ok(read(root, path).length > 50, path);
  assert.equal(stdout.trim().split('\n').length, 12);
  for (const file of ['check.js', 'experiments.js'])
    assert.match(
      read(root, `checks/12-worker-threads/${file}`),
      /'\.\.\/\.\.\/lib\/check\/checking\.js'/,
    );
  assert.equal((await forkshop(root, ['sync'])).code, 0);
  assert.deepEqual(await compareRooms(root), []);
  assert.match(
    (await forkshop(root, ['list'])).stdout,
    new RegExp(`12  worker-threads .* ${title}`),
  );
});

test('new overwrites nothing and creates all or nothing', async () => {
  const root = makeRoot();
  write(root, { 'checks/12-x/check.js': 'mine' });
  const before = filesBelow(root);
  const { code, stderr } = await dispatched(root, ['new', '12-x', 'Title']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Nothing was created, because this already exists: checks\/12-x\/check\.js\./,
  );
  assert.deepEqual(filesBelow(root), before);
});

test('new works in an empty folder', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'forkshop-empty-'));
  t.after(() => rmSync(root, { recursive: true }));
  assert.equal((await forkshop(root, ['new', '01-first', 'First'])).code, 0);
});

const wrongNames = [
  '',
  'x',
  '1-x',
  '012-x',
  '12-',
  '12-X',
  '12-a--b',
  '12-a/b',
  '../12-a',
  '12-ü',
  '12-a b',
  '12-a.js',
];
test('new validates the slug and the title', async () => {
  const root = makeRoot();
  const before = filesBelow(root);
  for (const slug of wrongNames) {
    const { code, stderr } = await dispatched(root, ['new', slug, 'Title']);
    assert.equal(code, 2, slug);
    assert.match(stderr, /isn't a lesson's key[^]*For example: npm run new 12-/);
  }
  for (const title of ['', ' ', 'two\nlines', '\u001b[31m']) {
    assert.equal((await dispatched(root, ['new', '12-x', title])).code, 2, title);
  }
  assert.equal((await dispatched(root, ['new', '12-x', 'Unquoted', 'title'])).code, 2);
  assert.deepEqual(filesBelow(root), before);
});

test('sync fills in quotes and reports changes; with --check it only reports', async () => {
  const root = makeRoot();
  const fresh = await dispatched(root, ['sync', '--check']);
  assert.deepEqual([fresh.code, fresh.stdout], [0, 'Everything is up to date.\n']);
  const quote = (/** @type {string} */ body) =>
    `# X\n\n\`\`\`js file=solutions/${key}/server.js#task\n${body}\`\`\`\n`;
  const documents = ['README.md', 'CONTRIBUTING.md', 'slides/00-opening/slides.md'];
  for (const path of documents) write(root, { [path]: quote('old();\n') });
  const checked = await dispatched(root, ['sync', '--check']);
  assert.equal(checked.code, 1);
  assert.match(
    checked.stdout,
    /^README\.md: refreshes solutions\/01-blocking-server\/server\.js#task\n/,
  );
  assert.equal(read(root, 'README.md'), quote('old();\n'));
  const written = await dispatched(root, ['sync']);
  assert.equal(written.code, 0);
  assert.equal(written.stdout.trim().split('\n').length, 3);
  for (const path of documents) assert.equal(read(root, path), quote("console.log('hello');\n"));
  assert.equal((await dispatched(root, ['sync'])).stdout, 'Everything is up to date.\n');
});

test('sync explains a quote that it cannot fill in: exit code 2', async () => {
  const root = makeRoot();
  write(root, { 'README.md': `\`\`\`js file=solutions/${key}/server.js#gone\n\`\`\`\n` });
  const { code, stderr } = await dispatched(root, ['sync']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^README\.md cannot be filled in: solutions\/.*server\.js has no region "gone"\.\nFix the quote on line 1/,
  );
});

test('sync --starters copies the lessons to the pristine starters', async () => {
  const root = makeRoot();
  const changed = starter.replace('greet.', 'greet all.');
  write(root, { [`lessons/${key}/server.js`]: changed });
  assert.equal((await dispatched(root, ['sync'])).stdout, 'Everything is up to date.\n');
  assert.equal((await dispatched(root, ['sync', '--check', '--starters'])).code, 1);
  assert.equal(read(root, `checks/${key}/starter/server.js`), starter);
  const { stdout } = await dispatched(root, ['sync', '--starters']);
  assert.match(
    stdout,
    /^checks\/01-blocking-server\/starter\/server\.js: is a copy of lessons\/01-/,
  );
  assert.equal(read(root, `checks/${key}/starter/server.js`), changed);
});
