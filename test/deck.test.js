// Verifies the deck without a browser: how slides are read, which requests its server answers, and that a demo reports what
// the timeline holds and leaves nothing behind.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkFile, loadCheck } from '../lib/check/definitions.js';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { escapeHtml, focusSteps, highlight } from '../lib/web/code.js';
import { setNotes } from '../lib/deck/notes.js';
import { resultIn } from '../lib/deck/client/ballot.js';
import { readDeck } from '../lib/deck/read-deck.js';
import { exportHandout, exportHtml, exportPdf, exportScript } from '../lib/deck/export.js';
import { publicAddress } from '../lib/deck/repository-address.js';
import { readDemos, recordDemos } from '../lib/deck/recordings.js';
import { serveDeck } from '../lib/deck/serve.js';
import { perform } from '../lib/deck/perform-demo.js';
import { createStory, heirsOf, nameOf, rowsOf, tell } from '../lib/web/client/xray-story.js';
import { BLOWS, orderOf } from '../slides/12-everything-at-once/demos.js';
import { until } from './nothing-left.js';
import { plainText } from './plain-text.js';

const NUMBER = /\d+(?:[.,]\d+)*/g;
const head = '---\ntitle: One\n---\n\n';
const slide = '# First {minutes=2}\n\ntext\n\nNote:\n\nSay it.\n';

/** @param {import('node:test').TestContext} t @param {Record<string, string>} files */
function makeRoot(t, files) {
  const root = mkdtempSync(join(tmpdir(), 'deck-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['lessons', 'slides/01-one/diagrams', 'solutions/01-one', 'checks/01-one'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return root;
}

describe('slides', () => {
  test('are divided by a rule on its own line, not by one in code or in a list', (t) => {
    const code = '```yaml\na: 1\n---\nb: 2\n```\n';
    const text = `${head}${slide.replace('text', code)}\n---\n\n${slide.replace('First', 'Second')}`;
    const [{ key, title, slides, minutes }] = readDeck(
      makeRoot(t, { 'slides/01-one/slides.md': text }),
    );
    assert.deepEqual([key, title, minutes], ['01-one', 'One', 4]);
    assert.deepEqual(
      slides.map(({ id, heading }) => [id, heading]),
      [
        ['01-one-1', 'First'],
        ['01-one-2', 'Second'],
      ],
    );
    assert.match(slides[0].html, /<h1>First<\/h1>[^]*---/);
    assert.equal(slides[0].notes.trim(), '<p>Say it.</p>');
    assert.ok(!slides[0].html.includes('Say it'));
  });

  test('code is highlighted line by line, with a focus in steps; HTML in it stays text', (t) => {
    const code = '```js lines=1|2-3\nconst a = `one\ntwo`;\n<script>\n```';
    const root = makeRoot(t, { 'slides/01-one/slides.md': head + slide.replace('text', code) });
    const [{ slides }] = readDeck(root);
    assert.equal(slides[0].html.match(/<span class="line">/g)?.length, 3);
    assert.match(slides[0].html, /data-lines="1"><\/i><i class="fragment focus" data-lines="2 3">/);
    assert.ok(!slides[0].html.includes('<script>'));
    for (const line of highlight('/* a\nb */', 'js').split('\n'))
      assert.equal(line.match(/<span/g)?.length, line.match(/<\/span>/g)?.length, line);
    assert.throws(() => focusSteps('2-9', 4), /line 2-9 of 4/);
    assert.throws(() => focusSteps('one', 4), /line one of 4/);
    assert.equal(escapeHtml(`<a href="'&">`), '&lt;a href=&quot;&#39;&amp;&quot;&gt;');
  });

  test('a diagram becomes part of the page, its groups steps; a list may appear step by step', (t) => {
    const root = makeRoot(t, {
      'slides/01-one/slides.md':
        head +
        slide
          .replace('minutes=2', 'minutes=2 steps')
          .replace('text', '![two "boxes"](diagrams/a.svg)\n\n- x\n- y'),
      'slides/01-one/diagrams/a.svg': '<svg viewBox="0 0 1 1"><g data-step="1"><rect/></g></svg>',
    });
    const [{ html }] = readDeck(root)[0].slides;
    assert.match(html, /<svg class="diagram" role="img" aria-label="two &quot;boxes&quot;"/);
    assert.match(html, /<g class="fragment" data-fragment-index="1">/);
    assert.equal(html.match(/<li class="fragment">/g)?.length, 2);
  });

  test('code can be taken from the starter, without the lines that describe the task', (t) => {
    const quote = '```js file=solutions/01-one/server.js#a starter lines=1\nfork();\nserve();\n```';
    const region = (/** @type {string} */ code) => `// #region a\n${code}\n// #endregion a\n`;
    const root = makeRoot(t, {
      'slides/01-one/slides.md': head + slide.replace('text', quote),
      'solutions/01-one/server.js': region('fork();\nserve();'),
    });
    mkdirSync(join(root, 'checks/01-one/starter'));
    writeFileSync(
      join(root, 'checks/01-one/starter/server.js'),
      region('// Task 1: fork.\nserve();'),
    );
    const [{ html }] = readDeck(root)[0].slides;
    const [, before] = /<code class="before" aria-hidden="true">(.*?)<\/code>/s.exec(html) ?? [];
    assert.equal(before.replace(/<[^>]*>/g, ''), 'serve();');
    const steps = [...html.matchAll(/data-lines="([^"]*)"/g)].map(([, lines]) => lines);
    assert.deepEqual(
      steps,
      ['', '1', ''],
      'the first step shows the solution, the last step has all of it in colour',
    );
  });

  test('a text that begins in bold is a large number, which its diagram contains as well', (t) => {
    const text = '**4.02** times as fast (3.86 to 4.17)\n2 cores\n\n![a](diagrams/a.svg)';
    const svg =
      '<svg><g data-step="1"><text>1</text></g><g data-step="2"><text>4.02: 3.86 to 4.17.</text></g></svg>';
    const root = makeRoot(t, {
      'slides/01-one/slides.md': head + slide.replace('text', text),
      'slides/01-one/diagrams/a.svg': svg,
    });
    const [{ slides }] = readDeck(root);
    assert.match(
      slides[0].html,
      /<p class="headline"><strong>4.02<\/strong><span> times.*<br>\n2 cores<\/span>/,
    );
    writeFileSync(join(root, 'slides/01-one/diagrams/a.svg'), svg.replace('4.17', '4.71'));
    assert.throws(() => readDeck(root), /4\.17 isn't in its diagram or table/);
  });

  test('the address of the workshop is shown without its secrets, if it is public', (t) => {
    const https = 'https://github.com/a/b';
    for (const address of [
      'https://user:secret@github.com/a/b.git',
      'git+https://github.com/a/b.git',
      'git@github.com:a/b.git',
      'ssh://git@github.com:22/a/b',
    ])
      assert.equal(publicAddress(address), https, address);
    for (const address of [
      '/a/b',
      'https://git.example.com/a/b',
      'https://10.0.0.1/a',
      'https://github.com/a?<b>',
    ])
      assert.equal(publicAddress(address), undefined, address);
    const text = head + slide.replace('text', '```repository\nIt is yours.\n```');
    const root = makeRoot(t, { 'slides/01-one/slides.md': text, 'package.json': '{}' });
    assert.match(readDeck(root)[0].slides[0].html, /<p>It is yours\.<\/p>/);
    const repository = { url: 'git@github.com:a/b.git' };
    writeFileSync(join(root, 'package.json'), JSON.stringify({ repository }));
    assert.match(
      readDeck(root)[0].slides[0].html,
      /<p class="address">https:\/\/github\.com\/a\/b<svg class="qr" role="img" aria-label="[^"]+" [^>]*>.*<\/svg><\/p>/s,
    );
  });

  test('a fault of the catalogue is shown as a diff, and a demo judges it', async (t) => {
    const text = head + slide.replace('text', '```spot mute\nWhat does it break?\n```');
    const change = '```diff\n-console.log("<hello>");\n+console.log("");\n```\n';
    const root = makeRoot(t, {
      'slides/01-one/slides.md': text,
      'solutions/01-one/server.js':
        '// #region task\nconsole.log("<hello>");\n// #endregion task\n',
      'checks/01-one/wrong-answers.md': `## mute\n\nBreaks: \`greets\`\n\nShy.\n\n${change}`,
    });
    const [{ html, demos }] = readDeck(root)[0].slides;
    assert.match(
      html,
      /<span class="line removed">-console\.log\(&quot;&lt;hello&gt;&quot;\);<\/span>/,
    );
    assert.match(
      html,
      /<span class="line added">\+console[^]*data-demo="spot-1-mute"[^]*What does it break/,
    );
    assert.ok(!html.includes('Shy') && !html.includes('region'));
    assert.deepEqual(demos, ['spot-1-mute']);
    assert.deepEqual(
      (await readDemos(root)).map(({ name }) => name),
      ['spot-1-mute'],
    );
  });

  test('a slide for reading is printed but not projected; a plan lists its lessons', (t) => {
    const text = `${head.replace('One\n', 'One\nquestion: Why <one>?\n')}${slide}\n---\n\n${slide
      .replace('# First {minutes=2}', '# Second {read large}')
      .replace('text', '```lessons question\n```')}`;
    const root = makeRoot(t, { 'slides/01-one/slides.md': text });
    mkdirSync(join(root, 'lessons/01-one'));
    const about = 'title: One\nminutes: 5\ngoal: x\nconcepts: [a]\nstarterFails: [b]\n';
    writeFileSync(join(root, 'lessons/01-one/lesson.yml'), about);
    const [{ slides, pages, minutes }] = readDeck(root);
    assert.deepEqual(
      [slides, pages].map((all) => all.map(({ heading }) => heading)),
      [
        ['One', 'First'],
        ['One', 'First', 'Second'],
      ],
    );
    assert.equal(minutes, 2);
    assert.match(pages[2].html, /<td>1<\/td><td>Why &lt;one&gt;\?<\/td>/);
  });

  /** @type {Record<string, [string, RegExp]>} */
  const faults = {
    'a demo that is only read': [
      (head + slide.replace('minutes=2', 'read')).replace('text', '```demo one\nLook.\n```'),
      /is only read, and has a demo/,
    ],
    'a list of nothing': [
      head + slide.replace('text', '```lessons\n```'),
      /lists neither questions nor what you build/,
    ],
    'no such change': [
      head + slide.replace('text', '```spot mute\nWhat?\n```'),
      /no answer "mute" that is described as a change/,
    ],
    'no front matter': [slide, /has no front matter/],
    'no title': [`---\nminutes: 1\n---\n${slide}`, /no title/],
    'no heading': [`${head}text\n\nNote:\n\nx`, /Slide 1 begins with no heading/],
    'no minutes': [head + slide.replace('{minutes=2}', ''), /"First", has no \{minutes/],
    'no notes': [head + slide.replace('Note:', ''), /"First", has no "Note:"/],
    'no diagram': [
      head + slide.replace('text', '![a](diagrams/no.svg)'),
      /no diagram slides\/01-one\/diagrams\/no\.svg/,
    ],
    'a demo without text': [head + slide.replace('text', '```demo one\n```'), /demo needs a name/],
    'a stale quote': [
      head + slide.replace('text', '```js file=solutions/01-one/server.js\nold\n```'),
      /quotes code that has changed/,
    ],
    'a missing region': [
      head + slide.replace('text', '```js file=solutions/01-one/server.js#no\n```'),
      /no region "no"/,
    ],
  };
  for (const [what, [text, message]] of Object.entries(faults))
    test(`${what} is reported, with the file`, (t) => {
      const files = { 'slides/01-one/slides.md': text, 'solutions/01-one/server.js': 'new\n' };
      const root = makeRoot(t, files);
      assert.throws(() => readDeck(root), message);
      assert.throws(() => readDeck(root), /slides\/01-one\/slides\.md/);
    });

  test('a question in the front matter opens a chapter; the slides keep their numbers', (t) => {
    const about =
      'title: One\nminutes: 5\ngoal: To <see>.\nconcepts: [a]\nstarterFails: [b]\nneeds: [nginx]\n';
    const text = slide.replace('First', 'Second');
    const root = makeRoot(t, {
      'slides/01-one/slides.md': `---\ntitle: One\nquestion: Is 1 < 2?\n---\n\n${slide}\n---\n\n${text}`,
    });
    mkdirSync(join(root, 'lessons/01-one'));
    writeFileSync(join(root, 'lessons/01-one/lesson.yml'), about);
    const [{ slides, minutes }] = readDeck(root);
    assert.deepEqual(
      slides.map(({ id }) => id),
      ['01-one-0', '01-one-1', '01-one-2'],
    );
    assert.equal(minutes, 4);
    assert.match(slides[0].html, /Lesson 1: One<.*<h1>Is 1 &lt; 2\?<\/h1>.*1 of 1, 4 minutes/);
    assert.match(slides[0].notes, /To &lt;see&gt;[^]*about 5 minutes[^]*needs nginx/);
  });

  test('a folder without slides says so', (t) => {
    assert.throws(() => readDeck(makeRoot(t, {})), /There are no slides/);
  });
});

test('in the notes the sentence of each step is marked, and answers are set apart', () => {
  const step = (/** @type {number} */ at, /** @type {string} */ words) =>
    `<span class="step" data-step="${at}">${words}</span>`;
  const told = '<p>Look. One: <em>a</em>. Two: b.</p>\n<p>Three: c.</p>';
  const marked = `<p>Look. ${step(1, 'One: <em>a</em>. ')}${step(2, 'Two: b.')}</p>\n<p>${step(3, 'Three: c.')}</p>`;
  assert.equal(setNotes(told, false), marked);
  assert.match(setNotes(told, true), /data-step="0">One/);
  assert.equal(setNotes('<p>One and two: a.</p>', false), '<p>One and two: a.</p>');
  assert.equal(
    setNotes('<p>(So.) Why? (A (b), c.) Or “d”? (E.) Not (f).</p>', false),
    '<p>(So.) Why? <span class="answer">(A (b), c.)</span> Or “d”? <span class="answer">(E.)</span> Not (f).</p>',
  );
  assert.equal(setNotes('<p>An aside. (This.) Why? (Open</p>', false).includes('answer'), false);
});

test('"One:", "Two:" in the notes match all steps of the slide, in order', () => {
  const count = (/** @type {string} */ text, /** @type {RegExp} */ pattern) =>
    (text.match(pattern) ?? []).length;
  for (const { id, html, notes } of readDeck(rootFolder).flatMap((chapter) => chapter.slides)) {
    const said = [...notes.matchAll(/class="step" data-step="(\d+)"/g)].map(([, at]) => Number(at));
    const first = html.includes('data-ballot="vote"') ? 0 : 1;
    assert.deepEqual(
      said,
      [...said.keys()].map((index) => index + first),
      id,
    );
    if (said.length === 0) continue;
    const groups = new Set(html.match(/fragment-index="\d+"/g)).size;
    const isCode = html.includes('fragment focus');
    const rest = isCode ? count(html, /fragment focus/g) - 1 : groups; // at last all of the code
    const items = count(html, /<li class="fragment"/g);
    const isList = rest === 0;
    assert.equal(said.at(-1), isList ? items : rest, id);
  }
});

test('code on the wall has at most 9 rows of 52 columns, so that it is large and nothing wraps', () => {
  const blocks = readDeck(rootFolder).flatMap(({ slides }) =>
    slides.flatMap(({ id, html }) =>
      [...html.matchAll(/<figure class="code[^]*?<\/figure>/g)].map(([code]) => {
        const lines = [...code.matchAll(/<span class="line[^"]*">([^\n]*)<\/span>/g)];
        const columns = Math.max(...lines.map(([, line]) => plainText(line).length));
        return { id, rows: lines.length, columns };
      }),
    ),
  );
  assert.ok(blocks.length > 30);
  assert.deepEqual(
    blocks.filter(({ rows, columns }) => rows > 9 || columns > 52),
    [],
  );
});

test('a demo that answers a vote gives a short answer, which its last sentence contains', () => {
  const voted = readDeck(rootFolder).flatMap(({ key, slides }) =>
    slides.flatMap(({ html, demos }) => {
      const [, result] = /data-vote="\d+" data-result="([^"]+)"/.exec(html) ?? [];
      return result ? [{ key, name: demos[0], result }] : [];
    }),
  );
  assert.ok(voted.length >= 4);
  for (const { key, name, result } of voted) {
    const file = join(rootFolder, 'slides', key, 'recordings', `${name}.json`);
    const told = JSON.parse(readFileSync(file, 'utf8')).findLast(({ say }) => say).say;
    const words = resultIn(told, result);
    assert.ok(words.length > 3 && words.length <= 20, `${name}: "${words}" of "${told}"`);
    assert.equal(resultIn(told, ''), '', 'a vote that only chooses');
  }
});

test('the blows for which a class votes are those of the demo, which follows the votes', () => {
  const diagram = join(rootFolder, 'slides/12-everything-at-once/diagrams/vote-blows.svg');
  const boxes = readFileSync(diagram, 'utf8').matchAll(/class="box" \/><text[^>]*>([^<]+)</g);
  const labels = [...boxes].map(([, label]) => label);
  assert.deepEqual(Object.keys(BLOWS), labels);
  assert.deepEqual(orderOf([]), labels);
  const counts = [2, 2, 0, 5];
  const votes = labels.map((label, index) => ({ label, count: counts[index] }));
  assert.deepEqual(orderOf(votes), [labels[3], labels[0], labels[1], labels[2]]);
  assert.equal(orderOf(votes.slice(2, 3))[0], labels[0], 'a count of 0 is none');
});

test("a number that a slide calls measured appears in its lesson's text", () => {
  const chapters = new Map(readDeck(rootFolder).map(({ key, pages }) => [key, pages]));
  for (const { key, text } of listLessons(rootFolder)) {
    const known = new Set(text.match(NUMBER));
    const measured = chapters.get(key)?.filter(({ heading }) => /measured/i.test(heading)) ?? [];
    assert.ok(measured.length > 0, `No slide of ${key} has "measured" in its heading.`);
    for (const { id, html } of measured) {
      const shown = html.replace(/<[^>]*>/g, ' ').match(NUMBER) ?? [];
      const strangers = shown.filter((number) => number.length > 1 && !known.has(number));
      assert.deepEqual(strangers, [], `${id} has numbers that lessons/${key}/README.md has not.`);
    }
  }
});

test('the wall shows what a lesson measured as one large number', () => {
  for (const { key, slides } of readDeck(rootFolder).filter(({ key }) =>
    /^(0[1-9]|1[01])/.test(key),
  )) {
    const measured = slides.filter(({ heading }) => heading.startsWith('Measured:'));
    assert.equal(measured.length, 1, key); // lesson 12 loses nothing, in a scene that no interval describes
    for (const { id, html } of measured) assert.match(html, /<p class="headline"><strong>/, id);
  }
});

describe('the server', () => {
  /** @type {Awaited<ReturnType<typeof serveDeck>>} */
  let deck;
  before(async () => (deck = await serveDeck({ root: rootFolder })));
  after(() => deck.close());

  /** @param {string} path @param {http.RequestOptions} [options] @returns {Promise<{ status?: number, body: string, headers: http.IncomingHttpHeaders }>} */
  const ask = (path, options = {}) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(deck.url);
      const request = http.request({ host: '127.0.0.1', port, path, ...options }, (response) => {
        let body = '';
        response.on('data', (part) => (body += part));
        response.on('end', () =>
          resolve({ status: response.statusCode, body, headers: response.headers }),
        );
      });
      request.on('error', reject).end();
    });

  test('serves the deck, the speaker and the print, with nothing inline', async () => {
    for (const path of [
      '/',
      '/?plan=full',
      '/speaker',
      '/print',
      '/print?notes',
      '/handout',
      '/script',
    ]) {
      const { status, body, headers } = await ask(path);
      assert.equal(status, 200, path);
      assert.match(
        String(headers['content-security-policy']),
        /default-src 'none'; script-src 'self'/,
      );
      assert.ok(
        !/<style|\sstyle=|\son\w+=|javascript:|https?:\/\/(?!www\.w3\.org)/.test(
          body.replace(/>[^<]*</g, '><'),
        ),
        path,
      );
    }
  });

  test('shows the requested plan, and lists the plans', async () => {
    const countOf = async (/** @type {string} */ path) =>
      (await ask(path)).body.match(/<section id=/g)?.length ?? 0;
    const half = readDeck(rootFolder, 'half').flatMap(({ slides }) => slides).length;
    assert.deepEqual(
      [
        await countOf('/?plan=half'),
        await countOf('/speaker?plan=half'),
        await countOf('/print?plan=half'),
      ],
      [half, half, half],
    );
    assert.ok((await countOf('/?plan=')) > half);
    const wrong = await ask('/?plan=week');
    assert.equal(wrong.status, 500);
    assert.match(wrong.body, /no plan "week"[^]*half, full, day-1, day-2/);
  });

  test('answers only to its own host name', async () => {
    const { host, port } = new URL(deck.url);
    for (const name of [
      'example.com',
      `127.0.0.1.example.com:${port}`,
      '127.0.0.1',
      `[::1]:${port}`,
    ])
      assert.equal((await ask('/', { headers: { host: name } })).status, 403, name);
    for (const origin of ['http://example.com', 'null', `https://${host}`, 'http://127.0.0.1:1'])
      assert.equal((await ask('/', { headers: { origin } })).status, 403, origin);
    assert.equal((await ask('/', { headers: { host: `localhost:${port}` } })).status, 200);
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one && !one.internal && one.family === 'IPv4');
    for (const one of others)
      await assert.rejects(
        ask('/', { host: one?.address }),
        /ECONNREFUSED/,
        'only on the loopback interface',
      );
  });

  test('serves only its own files', async () => {
    const paths = [
      '/deck/client/../serve.js',
      '/web/client/%2e%2e/server.js',
      '/deck/client/..%2fserve.js',
      '/recordings/..%2f..%2fpackage.json',
      '/reveal/..%2fpackage.json',
      '/package.json',
      '/deck/client/',
      '/learner/client/learner.js',
      '/web/client/%00',
    ];
    for (const path of paths) {
      const { status, body } = await ask(path);
      assert.ok(Number(status) >= 400, `${path}: ${status}`);
      assert.ok(!/serveDeck|"name"|node:/.test(body), path);
    }
  });

  test('starts nothing without the token, nor by a link', async () => {
    const before = await ask('/demos/blocked-loop');
    assert.equal(before.status, 404);
    for (const token of ['', 'wrong', deck.token.slice(1)]) {
      const headers = { 'x-forkshop-token': token };
      assert.equal((await ask('/demos/blocked-loop', { method: 'POST', headers })).status, 403);
    }
    const headers = { 'x-forkshop-token': deck.token };
    assert.equal((await ask('/demos/no-such', { method: 'POST', headers })).status, 404);
  });

  test('opens a vote on the board with the token, and reports its count', async (t) => {
    const told = { here: 3, tasks: {}, votes: { a: [1, null] } };
    /** @type {any[]} */
    const opened = [];
    let hear = () => {};
    const board = /** @type {any} */ ({
      told: () => told,
      follow: (/** @type {() => void} */ tell) => (hear = tell),
      showVote: (/** @type {any} */ ballot) => opened.push(ballot),
      ...{ address: '192.168.1.20:4020', code: 'K7QM-3XPD' },
    });
    const server = await serveDeck({ root: rootFolder, board });
    t.after(server.close);
    const sections = (await (await fetch(server.url)).text()).match(/<section .*?<\/section>/gs);
    const joins = (sections ?? []).map((one) => one.includes('--join 192.168.1.20:4020 K7QM-3XPD'));
    assert.deepEqual([joins.indexOf(true), joins.lastIndexOf(true)], [0, joins.length - 1]);
    assert.equal(joins.filter(Boolean).length, 2, 'only the first slide and the last');
    const put = (/** @type {unknown} */ body, headers = { 'x-forkshop-token': server.token }) =>
      fetch(`${server.url}vote`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const ballot = { name: 'a', title: 'A', questions: [{ asks: 'x', options: ['y', 'z'] }] };
    const wrong = [
      (await put(ballot, { 'x-forkshop-token': '' })).status,
      (await put({ name: 'a' })).status,
      (await put({ ...ballot, title: 'x'.repeat(9_000) })).status,
    ];
    assert.deepEqual([wrong, opened], [[403, 400, 413], []]);
    assert.equal((await put(ballot)).status, 204);
    assert.equal((await put({})).status, 204);
    assert.deepEqual(opened, [ballot, null]);
    const stream = await fetch(`${server.url}class`);
    let text = '';
    for await (const part of /** @type {any} */ (stream.body)) {
      text += Buffer.from(part).toString();
      if (!text.includes('data:')) continue;
      if (text.includes('"here":4')) break;
      told.here = 4;
      hear();
    }
    assert.match(text, /data: {"here":3,"tasks":{},"votes":{"a":\[1,null\]}}/);
    const alone = await fetch(`${deck.url}vote`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-forkshop-token': deck.token },
      body: JSON.stringify(ballot),
    });
    assert.equal(alone.status, 400);
  });

  test('a demo reports what its timeline holds; stopped midway it leaves nothing', async () => {
    const headers = { 'x-forkshop-token': deck.token };
    const { status, body } = await ask('/demos/blocked-loop', { method: 'POST', headers });
    assert.equal(status, 200);
    const messages = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(messages.at(-1), { end: {} });
    const story = createStory();
    for (const message of messages) tell(story, message);
    const events = messages.flatMap((message) => message.events ?? []);
    const count = (/** @type {string} */ what) => events.filter((one) => one.what === what).length;
    const rows = rowsOf(story);
    const sum = (/** @type {'requests' | 'answered'} */ what) =>
      rows.reduce((total, row) => total + row[what], 0);
    assert.ok(count('request') > 20 && rows.length > 0);
    assert.deepEqual([sum('requests'), sum('answered')], [count('request'), count('response')]);
    const { port } = new URL(deck.url);
    const pid = await new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port, path: '/demos/blocked-loop', method: 'POST', headers },
        (response) =>
          response.on('data', (part) => {
            const started = /"pid":(\d+),"what":"start"/.exec(String(part));
            if (started) resolve(Number(started[1]));
            if (started) request.destroy();
          }),
      );
      request.on('error', reject).end();
    });
    await until('it has ended', () => !isAlive(pid));
  });

  test('a demo gets the votes of its slide, and none from a request that has no such list', async (t) => {
    const act = 'async ({ votes, say }) => say(JSON.stringify(votes))';
    const demo = `export default [{ name: 'one', title: 'One', perform: ${act} }];`;
    const files = { 'slides/01-one/slides.md': head + slide, 'slides/01-one/demos.js': demo };
    const server = await serveDeck({ root: makeRoot(t, files) });
    t.after(() => server.close());
    const told = async (/** @type {string | undefined} */ body) => {
      const headers = { 'x-forkshop-token': server.token, 'content-type': 'application/json' };
      const answer = await fetch(`${server.url}demos/one`, { method: 'POST', headers, body });
      const text = await answer.text();
      return answer.ok ? JSON.parse(/"say":(".*")}/.exec(text)?.[1] ?? '') : answer.status;
    };
    const votes = [{ label: 'kill', count: 3 }];
    assert.equal(await told(JSON.stringify({ votes })), JSON.stringify(votes));
    for (const body of [undefined, '{}']) assert.equal(await told(body), '[]');
    for (const wrong of [7, [{ label: 'kill' }], [{ label: 'kill', count: -1 }], [null]])
      assert.equal(await told(JSON.stringify({ votes: wrong })), 400, JSON.stringify(wrong));
  });

  test('a malformed address gets an error that reveals nothing', async () => {
    const headers = { 'x-forkshop-token': deck.token };
    for (const path of ['/demos/%E0%A4%A', '/web/client/%E0%A4%A']) {
      const { status, body } = await ask(path, { method: 'POST', headers });
      assert.ok([400, 404].includes(Number(status)), `${path}: ${status}`);
      assert.doesNotMatch(body, /URIError| at |node_modules/);
    }
    assert.equal((await ask('/demos/%E0%A4%A', { method: 'POST', headers })).status, 400);
  });

  test('survives folders that appear and vanish, and reports changes', async (t) => {
    const root = makeRoot(t, { 'slides/01-one/slides.md': `${head}${slide}` });
    const server = await serveDeck({ root });
    t.after(() => server.close());
    const request = http.get(`${server.url}changes`);
    t.after(() => request.destroy());
    let told = '';
    await new Promise((resolve) => {
      request.on('response', (response) =>
        response.on('data', (part) => resolve((told += String(part)))),
      );
    });
    for (let count = 0; count < 100; count += 1) {
      const deep = join(root, `slides/t${count}/a/b`);
      mkdirSync(deep, { recursive: true });
      writeFileSync(join(deep, 'c.md'), 'x');
      rmSync(join(root, `slides/t${count}`), { recursive: true });
      if (count % 10 === 0) await new Promise((wait) => setTimeout(wait, 5));
    }
    await new Promise((wait) => setTimeout(wait, 800)); // everything is reported
    told = '';
    writeFileSync(join(root, 'slides/01-one/slides.md'), `${head}${slide}\nmore\n`);
    for (let tries = 0; tries < 200 && !told.includes('changed'); tries += 1)
      await new Promise((wait) => setTimeout(wait, 25));
    assert.match(told, /changed/);
  });

  test('an aborted demo starts nothing more, and reports nothing more', async () => {
    /** @type {any[]} */
    const sent = [];
    const end = new AbortController();
    const signal = end.signal;
    const { promise, resolve } = withResolver();
    const act = async (
      /** @type {import('../lib/deck/perform-demo.js').Stage} */ { load, openLoop, say },
    ) => {
      setTimeout(() => end.abort(), 50);
      await new Promise((wait) => setTimeout(wait, 400)); // it has been aborted before that
      say('too late');
      resolve([load, openLoop]);
    };
    const demo = { name: 'one', title: 'One', perform: act };
    await perform(demo, { root: rootFolder, send: (message) => sent.push(message), signal });
    for (const start of await promise) assert.throws(start, /This lab is closed/);
    assert.deepEqual(sent.at(-1), { end: { error: 'It was stopped.' } });
  });

  for (const [how, actAtEnd] of /** @type {const} */ ([
    [
      'is stopped while it waits for an event that never happens',
      (/** @type {AbortController} */ end) => (end.abort(), new Promise(() => {})),
    ],
    ['finishes', () => {}],
    ['breaks off', () => assert.fail('as it should')],
  ]))
    test(`a demo that ${how} repeats nothing afterwards, and its signal is reported`, async (t) => {
      t.mock.method(console, 'error', () => {});
      const end = new AbortController();
      const acted = withResolver();
      let acts = 0;
      /** @type {AbortSignal | undefined} */
      let told;
      const act = async (
        /** @type {import('../lib/deck/perform-demo.js').Stage} */ { repeat, signal },
      ) => {
        told = signal;
        repeat(() => acted.resolve((acts += 1)), 1);
        await acted.promise;
        await actAtEnd(end);
      };
      const demo = { name: 'one', title: 'One', perform: act };
      await perform(demo, { root: rootFolder, send: () => {}, signal: end.signal });
      assert.equal(told?.aborted, true);
      const before = acts;
      await new Promise((wait) => setTimeout(wait, 50));
      assert.equal(acts, before);
    });

  test('a port in use is reported', async () => {
    const { port } = new URL(deck.url);
    await assert.rejects(serveDeck({ root: rootFolder, port: Number(port) }), /Port \d+ is taken/);
  });
});

function withResolver() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('exports', () => {
  test('every demo on a slide exists, and has a recording that names its machine', async () => {
    const demos = await readDemos(rootFolder);
    const shown = readDeck(rootFolder).flatMap(({ slides }) => slides.flatMap((one) => one.demos));
    assert.ok(shown.length > 0);
    assert.deepEqual(demos.map(({ name }) => name).sort(), [...shown].sort());
    for (const { name, key } of demos) {
      const file = join(rootFolder, 'slides', key, 'recordings', `${name}.json`);
      const text = readFileSync(file, 'utf8');
      assert.ok(text.length < 400_000, `${name}.json is large: ${text.length} characters`);
      const [first, ...rest] = JSON.parse(text);
      assert.match(first.recorded.date, /^\d{4}-\d\d-\d\d$/);
      assert.ok(first.recorded.cores > 0 && first.recorded.node && first.recorded.cpu);
      assert.deepEqual(rest.at(-1).end, {}, `${name} ended badly`);
    }
    await assert.rejects(recordDemos({ root: rootFolder, name: 'no', say() {} }), /no demo no/);
  });

  test('a static folder holds all it needs; a folder that is not empty stays as it is', (t) => {
    const folder = join(makeRoot(t, {}), 'out');
    exportHtml({ root: rootFolder, folder });
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    for (const [, link] of html.matchAll(/(?:href|src)="\.\/([^"]+)"/g))
      assert.ok(existsSync(join(folder, link)), link);
    assert.match(html, /http-equiv="Content-Security-Policy"/);
    assert.throws(() => exportHtml({ root: rootFolder, folder }), /is not empty/);
  });

  test('without a Chromium the PDF export names what to install', async () => {
    const options = { root: rootFolder, file: '/dev/null/x.pdf', hasNotes: false };
    await assert.rejects(
      exportPdf({ ...options, env: { CHROME_PATH: '/no/such' } }),
      /names no program/,
    );
    for (const write of [exportHandout, exportScript])
      await assert.rejects(
        write({ ...options, env: { CHROME_PATH: '/no/such' } }),
        /names no program/,
      );
    if (process.platform === 'linux')
      await assert.rejects(exportPdf({ ...options, env: { PATH: '/no/such' } }), /no Chromium/);
  });
});

test("a slide's spot names its possible faults in the words of the verdict", async () => {
  let count = 0;
  for (const { key, slides } of readDeck(rootFolder))
    for (const { html } of slides.filter(({ demos }) =>
      demos.some((name) => /^spot-/.test(name)),
    )) {
      const { promises } = await loadCheck(checkFile(rootFolder, key));
      const sentences = [...Object.values(promises).map(escapeHtml), 'nothing'];
      const options = [...html.matchAll(/<li>(.*?)<\/li>/g)].map(([, option]) => option);
      assert.ok(options.length > 1, key);
      for (const option of options) assert.ok(sentences.includes(option), `${key}: ${option}`);
      count += 1;
    }
  assert.ok(count > 0);
});

test('the X-ray shows an exit, a successor, a silence and a hand-off as the events do', () => {
  const story = createStory();
  tell(story, { origin: 1_000 });
  tell(story, {
    events: [
      { t: 1_000, pid: 1, what: 'start', role: 'primary', as: 'cluster' },
      { t: 1_010, pid: 2, what: 'start', role: 'worker', worker: 1, ppid: 1 },
      { t: 1_020, pid: 2, what: 'listening' },
      { t: 1_030, pid: 2, what: 'connection', how: 'handed', client: 7 },
      { t: 1_031, pid: 2, what: 'request', client: 7 },
      { t: 1_032, pid: 2, what: 'request', client: 7 },
      { t: 1_040, pid: 2, what: 'response', client: 7 },
      { t: 1_050, pid: 1, what: 'worker-exit', workerPid: 2, code: null, signal: 'SIGKILL' },
      { t: 1_060, pid: 3, what: 'start', role: 'worker', worker: 2, ppid: 1 },
      { t: 1_061, pid: 3, tid: 1, what: 'start', role: 'thread' },
      { t: 1_090, pid: 3, what: 'listening' },
    ],
  });
  tell(story, { silent: { pid: 3, sinceMs: 1_095 } });
  assert.deepEqual(rowsOf(story), [
    { name: 'cluster', pid: 1, connections: 0, requests: 0, answered: 0, end: 'runs' },
    { name: 'worker 1', pid: 2, connections: 1, requests: 2, answered: 1, end: 'SIGKILL' },
    { name: 'worker 2', pid: 3, connections: 0, requests: 0, answered: 0, end: 'runs' },
  ]);
  const [{ dead, heir }] = heirsOf(story);
  assert.deepEqual([dead.pid, heir.pid], [2, 3]);
  assert.equal(story.handoffs[0].to.pid, 2);
  tell(story, { turns: { pid: 3, t: 1_200 } });
  assert.deepEqual(story.processes.get(3)?.silent, [{ fromMs: 1_095, toMs: 1_200 }]);
  assert.equal(nameOf(/** @type {any} */ ({ role: 'primary', pid: 9 })), 'server');
  assert.equal(nameOf(/** @type {any} */ ({ role: 'process', pid: 9 })), 'process 9');
});

test('the X-ray distinguishes children made by child_process.fork() from the program that made them', () => {
  const story = createStory();
  const start = { what: 'start', role: 'primary', as: 'by hand' }; // the reports of the probe and the stage on each
  const events = [
    { t: 1, pid: 11, ppid: 5, ...start },
    { t: 2, pid: 13, ppid: 11, ...start },
    { t: 3, pid: 12, ppid: 11, ...start },
    { t: 4, pid: 21, ppid: 5, ...start, as: 'another' },
    { t: 5, pid: 22, ppid: 21, ...start, as: 'another' },
  ];
  tell(story, { events });
  const names = rowsOf(story).map(({ name, pid }) => `${name} ${pid}`);
  assert.deepEqual(names, ['by hand 11', 'child 1 13', 'child 2 12', 'another 21', 'child 1 22']);
});

test('no two slides have the same title, so that each can be found by its title', () => {
  const headings = readDeck(rootFolder).flatMap(({ slides }) =>
    slides.map(({ heading }) => heading),
  );
  const twice = headings.filter((heading, index) => headings.indexOf(heading) !== index);
  assert.ok(headings.length > 100);
  assert.deepEqual(twice, []);
});
