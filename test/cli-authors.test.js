// The author's commands: doctor finds every kind of misfit, new makes what doctor likes, sync
// keeps quotes and starters in step.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { filesBelow } from '../lib/catalog.js';
import { compareRooms } from '../lib/rooms/compare.js';
import {
  dispatched,
  forkshop,
  keys,
  makeRoot,
  read,
  readme,
  solution,
  starter,
  write,
} from './fixture-root.js';

const [key] = keys;

test('doctor is content with a complete workshop, and tells the environment', async (t) => {
  const root = makeRoot(t);
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

test('doctor prints each problem with how to mend it: exit code 1', async (t) => {
  const root = makeRoot(t);
  rmSync(join(root, `lessons/${key}/server.js`));
  const { code, stdout } = await dispatched(root, ['doctor']);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^lessons\/01-blocking-server\/server\.js\n {2}The file is missing\.\n {2}To mend it: .*reset lesson-1\n/,
  );
  assert.match(stdout, /problems found: 1\.\n/);
  const json = JSON.parse((await dispatched(root, ['doctor', '--json'])).stdout);
  assert.deepEqual([json.ok, json.problems.length], [false, 1]);
});

const submission = (/** @type {string} */ name) => `checks/submissions/${key}/${name}`;
/**
 * What is broken: files to write (null removes), and the place and message of the only problem.
 *
 * @type {Record<string, [files: Record<string, string | null>, where: string, message: RegExp]>}
 */
const misfits = {
  'no solution': [
    {
      [`solutions/${key}`]: null,
      [`checks/starters/${key}`]: null,
      [`lessons/${key}/README.md`]: readme(key).replace(/```js[^]*?```/, ''),
    },
    `solutions/${key}`,
    /no solution/,
  ],
  'no check': [
    {
      [`checks/${key}.check.js`]: null,
      [submission('reject-mute.js')]: null,
      [submission('reject-x.js')]: '// x',
    },
    `checks/${key}.check.js`,
    /no check/,
  ],
  'no experiments': [
    { [`checks/experiments/${key}.js`]: null },
    `checks/experiments/${key}.js`,
    /no experiments/,
  ],
  'no slides': [{ [`slides/${key}.md`]: null }, `slides/${key}.md`, /no slides/],
  'no starter file': [
    { [`lessons/${key}/server.js`]: null },
    `lessons/${key}/server.js`,
    /is missing/,
  ],
  'no pristine starter': [
    { [`checks/starters/${key}`]: null },
    `checks/starters/${key}/server.js`,
    /pristine copy/,
  ],
  'a starter without solution': [
    { [`checks/starters/${key}/pool.js`]: '' },
    `checks/starters/${key}/pool.js`,
    /no such file/,
  ],
  'no text': [
    { [`lessons/${key}/README.md`]: null },
    `lessons/${key}/README.md`,
    /README\.md is missing/,
  ],
  'two hints': [
    { [`lessons/${key}/README.md`]: readme(key, { hints: 'hints: [a, b]' }) },
    `lessons/${key}/README.md`,
    /exactly three/,
  ],
  'an unknown promise': [
    { [`lessons/${key}/README.md`]: readme(key).replace('[greets]', '[greet]') },
    `lessons/${key}/README.md`,
    /starterFails names "greet"/,
  ],
  'a difference outside the regions': [
    { [`solutions/${key}/server.js`]: solution.replace('port = 1', 'port = 2') },
    `checks/starters/${key}/server.js`,
    /"const port = 1;" here, "const port = 2;" there/,
  ],
  'a longer solution': [
    { [`solutions/${key}/server.js`]: `${solution}more();\n` },
    `checks/starters/${key}/server.js`,
    /"" here, "more\(\);" there/,
  ],
  'an unclosed region': [
    { [`checks/starters/${key}/server.js`]: '// #region task\n' },
    `checks/starters/${key}/server.js`,
    /never closed/,
  ],
  'a stale quote': [
    { [`lessons/${key}/README.md`]: readme(key).replace("log('hello')", "log('hi')") },
    `lessons/${key}/README.md`,
    /server\.js#task on line 12 is stale/,
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
    { 'slides/01-x.md': `\`\`\`js file=solutions/${key}/server.js\nold\n\`\`\`\n` },
    'slides/01-x.md',
    /stale/,
  ],
  'no reject': [{ [submission('reject-mute.js')]: null }, `checks/submissions/${key}`, /reject-\*/],
  'no accept': [{ [submission('accept-loud.js')]: null }, `checks/submissions/${key}`, /accept-\*/],
  'a reject without promise': [
    { [submission('reject-x.js')]: '// breaks: other\n' },
    submission('reject-x.js'),
    /names no promise/,
  ],
  'a reject folder without promise': [
    { [submission('reject-x/server.js')]: 'x();\n' },
    submission('reject-x'),
    /no comment/,
  ],
  'an accept without reason': [
    { [submission('accept-x.cjs')]: 'x();\n' },
    submission('accept-x.cjs'),
    /no comment/,
  ],
  'another submission': [
    { [submission('maybe.js')]: '' },
    submission('maybe.js'),
    /neither with accept- nor/,
  ],
  'a stray check': [{ 'checks/09-gone.check.js': '' }, 'checks', /"09-gone" belongs to no lesson/],
  'stray looks, beside a part of those of a lesson': [
    {
      'checks/looks/09-gone.js': '',
      'checks/looks/09-gone.part.js': '',
      [`checks/looks/${key}.part.js`]: '',
    },
    'checks/looks',
    /"09-gone" belongs to no lesson/,
  ],
  'stray demands': [
    { 'checks/demands/09-gone.js': '' },
    'checks/demands',
    /"09-gone" belongs to no lesson/,
  ],
  'stray experiments': [
    { 'checks/experiments/09-gone.js': '' },
    'checks/experiments',
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
  test(`doctor finds ${name}`, async (t) => {
    const root = makeRoot(t);
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

test('doctor finds a number that is taken twice, and that there is nothing to compare', async (t) => {
  const root = makeRoot(t);
  assert.equal((await dispatched(root, ['new', '01-other', 'T'])).code, 2);
  write(root, { 'lessons/01-other/README.md': '' });
  const problems = await compareRooms(root);
  assert.ok(problems.some(({ problem }) => /The number 01 is taken twice/.test(problem)));
  for (const room of ['lessons', 'solutions', 'checks'])
    rmSync(join(root, room), { recursive: true });
  write(root, { 'lessons/work.js': '' });
  assert.match((await compareRooms(root))[0].problem, /nothing to compare/);
});

test('doctor forgives CRLF', async (t) => {
  const root = makeRoot(t);
  const paths = [
    `lessons/${key}/README.md`,
    `solutions/${key}/server.js`,
    `checks/${key}.check.js`,
  ];
  for (const path of [...paths, submission('reject-mute.js')]) {
    write(root, { [path]: read(root, path).replaceAll('\n', '\r\n') });
  }
  assert.deepEqual(await compareRooms(root), []);
});

test('new creates every part; after sync doctor is content', async (t) => {
  const root = makeRoot(t);
  const title = 'Threads: "beside" processes, für alle #1';
  const { code, stdout } = await forkshop(root, ['new', '12-worker-threads', title]);
  assert.equal(code, 0);
  for (const path of stdout.trim().split('\n').slice(0, -1))
    assert.ok(read(root, path).length > 50, path);
  assert.equal(stdout.trim().split('\n').length, 10);
  assert.equal((await forkshop(root, ['sync'])).code, 0);
  assert.deepEqual(await compareRooms(root), []);
  assert.match(
    (await forkshop(root, ['list'])).stdout,
    new RegExp(`12  worker-threads .* ${title}`),
  );
});

test('new overwrites nothing and creates all or nothing', async (t) => {
  const root = makeRoot(t);
  write(root, { 'checks/12-x.check.js': 'mine' });
  const before = filesBelow(root);
  const { code, stderr } = await dispatched(root, ['new', '12-x', 'Title']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Nothing was created, because this is there already: checks\/12-x\.check\.js\./,
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
test('new validates the slug and the title', async (t) => {
  const root = makeRoot(t);
  const before = filesBelow(root);
  for (const slug of wrongNames) {
    const { code, stderr } = await dispatched(root, ['new', slug, 'Title']);
    assert.equal(code, 2, slug);
    assert.match(stderr, /is no key of a lesson[^]*For example: npm run new 12-/);
  }
  for (const title of ['', ' ', 'two\nlines', '\u001b[31m']) {
    assert.equal((await dispatched(root, ['new', '12-x', title])).code, 2, title);
  }
  assert.equal((await dispatched(root, ['new', '12-x', 'Unquoted', 'title'])).code, 2);
  assert.deepEqual(filesBelow(root), before);
});

test('sync fills quotes in, says what changed, and with --check only reports', async (t) => {
  const root = makeRoot(t);
  const fresh = await dispatched(root, ['sync', '--check']);
  assert.deepEqual([fresh.code, fresh.stdout], [0, 'Everything is up to date.\n']);
  const quote = (/** @type {string} */ body) =>
    `# X\n\n\`\`\`js file=solutions/${key}/server.js#task\n${body}\`\`\`\n`;
  const documents = ['README.md', 'CONTRIBUTING.md', 'slides/00-opening.md'];
  for (const path of documents) write(root, { [path]: quote('old();\n') });
  const checked = await dispatched(root, ['sync', '--check']);
  assert.equal(checked.code, 1);
  assert.match(
    checked.stdout,
    /^README\.md: quotes anew solutions\/01-blocking-server\/server\.js#task\n/,
  );
  assert.equal(read(root, 'README.md'), quote('old();\n'));
  const written = await dispatched(root, ['sync']);
  assert.equal(written.code, 0);
  assert.equal(written.stdout.trim().split('\n').length, 3);
  for (const path of documents) assert.equal(read(root, path), quote("console.log('hello');\n"));
  assert.equal((await dispatched(root, ['sync'])).stdout, 'Everything is up to date.\n');
});

test('sync explains a quote that it cannot fill in: exit code 2', async (t) => {
  const root = makeRoot(t);
  write(root, { 'README.md': `\`\`\`js file=solutions/${key}/server.js#gone\n\`\`\`\n` });
  const { code, stderr } = await dispatched(root, ['sync']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^README\.md cannot be filled in: solutions\/.*server\.js has no region "gone"\.\nMend the quote on line 1/,
  );
});

test('sync --starters copies the lessons to the pristine starters', async (t) => {
  const root = makeRoot(t);
  const changed = starter.replace('greet.', 'greet everybody.');
  write(root, { [`lessons/${key}/server.js`]: changed });
  assert.equal((await dispatched(root, ['sync'])).stdout, 'Everything is up to date.\n');
  assert.equal((await dispatched(root, ['sync', '--check', '--starters'])).code, 1);
  assert.equal(read(root, `checks/starters/${key}/server.js`), starter);
  const { stdout } = await dispatched(root, ['sync', '--starters']);
  assert.match(
    stdout,
    /^checks\/starters\/01-blocking-server\/server\.js: is a copy of lessons\/01-/,
  );
  assert.equal(read(root, `checks/starters/${key}/server.js`), changed);
});
