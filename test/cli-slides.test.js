// Verifies the command `slides`: it serves until Ctrl-C, exports, and refuses invalid options.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { spawnOurs } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { recordDemos } from '../lib/deck/recordings.js';
import { dispatched, forkshop, keys, makeRoot, write } from './fixture-root.js';

const folder = mkdtempSync(join(tmpdir(), 'slides-'));
after(() => rmSync(folder, { recursive: true }));

test('serves the deck until Ctrl-C', async () => {
  const main = join(rootFolder, 'lib/cli/main.cjs');
  const child = spawnOurs([main, 'slides', '--port', '0', '--plan', 'half', '--start', '9:05']);
  let output = '';
  const url = await new Promise((resolve) => {
    child.stdout.on('data', (part) => {
      output += part;
      const found = /The deck: (http:\/\/127\.0\.0\.1:\d+\/)/.exec(output);
      if (found && output.includes('Ctrl-C')) resolve(found[1]);
    });
  });
  assert.ok(output.includes(`${url}speaker?start=9:05\n`), output);
  assert.match(await (await fetch(url)).text(), /<title>Forkshop<\/title>[^]*data-plan="half"/);
  child.kill('SIGINT');
  assert.deepEqual(await new Promise((resolve) => child.on('exit', (...end) => resolve(end))), [
    0,
    null,
  ]);
  await assert.rejects(fetch(url));
});

test('prints the run of show, and exports only into a new folder', async () => {
  const agenda = await forkshop(rootFolder, ['slides', '--agenda']);
  assert.equal(agenda.code, 0, agenda.stderr);
  assert.match(
    agenda.stdout,
    /^Half day[^]*\nFull day[^]*Lunch[^]*\nTwo days, the first[^]*Lunch[^]*\nTwo days, the second[^]*nginx for lesson 10/,
  );
  const late = await dispatched(rootFolder, [
    'slides',
    '--agenda',
    '--start',
    '13:30',
    '--plan',
    'full',
  ]);
  assert.match(late.stdout, /^Full day[^]*\n {2}13:30 {2}Welcome/);
  assert.doesNotMatch(late.stdout, /Half day|Two days/);
  const out = join(folder, 'out');
  assert.equal((await forkshop(rootFolder, ['slides', '--html', out])).code, 0);
  assert.ok(existsSync(join(out, 'index.html')));
  const half = join(folder, 'half');
  await forkshop(rootFolder, ['slides', '--html', half, '--plan', 'half']);
  const page = readFileSync(join(half, 'index.html'), 'utf8');
  assert.ok(page.includes('data-plan="half"') && !page.includes('id="03-scheduling-policies-0"'));
  const again = await forkshop(rootFolder, ['slides', '--html', out]);
  assert.deepEqual([again.code, /is not empty/.test(again.stderr)], [2, true]);
});

test('refuses invalid options: exit code 2, and nothing is written', async () => {
  const file = join(folder, 'there.pdf');
  writeFileSync(file, 'mine');
  /** @type {[string[], RegExp][]} */
  const wrong = [
    [['--port', 'abc'], /"abc" isn't a port/],
    [['--port', '70000'], /isn't a port/],
    [['--agenda', '--start', '25:00'], /"25:00" isn't a time of day/],
    [['--plan', 'week'], /no plan "week"/],
    [['--agenda', '--start', 'nine'], /"nine" isn't a time of day/],
    [['kill-one'], /means nothing here/],
    [['--pdf', file], /already exists/],
    [['--pdf', ''], /has no name/],
    [['--handout', file], /already exists/],
    [['--script', file], /already exists/],
    [['--plan', 'week', '--pdf', 'x.pdf'], /no plan "week"/],
    [['--html', ''], /has no name/],
    [['--html', file], /there\.pdf isn't a folder/],
    [['--html', join(file, 'deeper/still')], /there\.pdf isn't a folder/],
    [['--pdf', join(folder, 'nowhere/deck.pdf')], /There is no folder .*nowhere\./],
    [['--pdf', join(file, 'deck.pdf')], /There is no folder .*there\.pdf\./],
    [['--record', 'no-such-demo'], /no demo no-such-demo/],
  ];
  for (const [argv, message] of wrong) {
    const { code, stderr } = await dispatched(rootFolder, ['slides', ...argv]);
    assert.equal(code, 2, argv.join(' '));
    assert.match(stderr, message);
  }
});

test('a demo is recorded with its machine; a failed demo keeps the previous recording', async () => {
  const root = makeRoot();
  const demo = (/** @type {string} */ body) =>
    `export default [{ name: 'one', title: 'One', async perform({ say }) { ${body} } }];`;
  write(root, { [`slides/${keys[0]}/demos.js`]: demo("say('hello');") });
  /** @type {string[]} */
  const said = [];
  assert.deepEqual(await recordDemos({ root, say: (line) => said.push(line) }), []);
  assert.ok(existsSync(join(root, `slides/${keys[0]}/recordings/one.json`)));
  write(root, { [`slides/${keys[0]}/demos.js`]: demo("throw new Error('on purpose');  ") });
  utimesSync(join(root, `slides/${keys[0]}/demos.js`), 1, 1); // a different modification time
  assert.deepEqual(await recordDemos({ root, say: (line) => said.push(line) }), ['one']);
  assert.equal(said[0], 'one: 4 messages');
  assert.match(
    said[1],
    /^one failed: It could not be shown this time/,
    'the cause is for the terminal',
  );
});
