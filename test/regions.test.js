// Verifies regions and quotes: a starter and its solution agree outside the regions, and quotes match their source.
import assert from 'node:assert/strict';
import test from 'node:test';
import { findQuotes, refreshQuotes } from '../lib/lessons/quotes.js';
import { parseRegions, withoutRegions } from '../lib/lessons/regions.js';

const source = `import http from 'node:http';
function serve() {
  // #region answer
  if (true) {

    answer();
  }
  // #endregion answer
}
//#region empty
//#endregion empty
`;
const crlf = (/** @type {string} */ text) => text.replaceAll('\n', '\r\n');

test('parseRegions finds names, bodies without common indentation, and line numbers', () => {
  const expected = [
    { name: 'answer', body: 'if (true) {\n\n  answer();\n}', start: 3, end: 8 },
    { name: 'empty', body: '', start: 10, end: 11 },
  ];
  assert.deepEqual(parseRegions(source, 'a.js'), expected);
  assert.deepEqual(parseRegions(crlf(source), 'a.js'), expected);
  assert.deepEqual(parseRegions('', 'a.js'), []);
});

const open = (/** @type {string} */ name) => `// #region ${name}\n`;
const close = (/** @type {string} */ name) => `// #endregion ${name}\n`;
/** @type {Record<string, [text: string, message: RegExp]>} */
const wrong = {
  unclosed: [open('a'), /The region "a" on line 1 of a\.js is never closed/],
  nested: [
    open('a') + open('b') + close('b') + close('a'),
    /Line 2 of a\.js opens the region "b" inside "a"/,
  ],
  'there twice': [
    open('a') + close('a') + open('a') + close('a'),
    /Line 3 of a\.js opens a second region named "a"/,
  ],
  'closed by another name': [
    open('a') + close('b'),
    /Line 2 of a\.js closes "b", but the open region is "a"/,
  ],
  'closed twice': [
    open('a') + close('a') + close('a'),
    /Line 3 of a\.js closes the region "a", which is not open/,
  ],
  nameless: [
    '// #region\n// #endregion\n',
    /Line 1 of a\.js has a region marker without a one-word name/,
  ],
  'named with spaces': [open('a b') + close('a b'), /one-word name/],
  'five of them': [
    ['a', 'b', 'c', 'd', 'e'].map((n) => open(n) + close(n)).join(''),
    /a\.js has 5 regions; at most 4 are allowed/,
  ],
};
for (const [name, [text, message]] of Object.entries(wrong)) {
  test(`a region is refused: ${name}`, () => {
    for (const each of [text, crlf(text)]) {
      assert.throws(() => parseRegions(each, 'a.js'), { name: 'UsageError', message });
      assert.throws(() => withoutRegions(each, 'a.js'), { name: 'UsageError', message });
    }
  });
}

test('four regions are allowed', () => {
  const text = ['a', 'b', 'c', 'd'].map((n) => open(n) + close(n)).join('');
  assert.equal(parseRegions(text, 'a.js').length, 4);
});

test('withoutRegions keeps the markers and everything outside', () => {
  const expected = `import http from 'node:http';
function serve() {
  // #region answer
  // #endregion answer
}
//#region empty
//#endregion empty
`;
  assert.equal(withoutRegions(source, 'a.js'), expected);
  assert.equal(withoutRegions(crlf(source), 'a.js'), expected);
  assert.notEqual(withoutRegions(source.replace('serve()', 'other()'), 'a.js'), expected);
});

const markdown = `# Text

\`\`\`js file=a.js#answer
old();
\`\`\`

- a list

  ~~~js file=b.js
  ~~~

\`\`\`\`md
\`\`\`js file=example.js#no-quote
\`\`\`
\`\`\`\`

\`\`\`js
plain();
\`\`\`
`;
/** @type {Record<string, string>} */
const files = { 'a.js': source, 'b.js': 'one();\n\n  two();\n' };
const readFile = (/** @type {string} */ file) => files[file];

test('a quote can take some lines of a region, and says if the region has fewer', () => {
  const source = '// #region a\nif (x) {\n  one();\n  two();\n}\n// #endregion a\n';
  const quote = (/** @type {string} */ where) => `\`\`\`js file=a.js${where}\nold\n\`\`\`\n`;
  const fill = (/** @type {string} */ where) => refreshQuotes(quote(where), () => source).text;
  assert.equal(fill('#a:2-3'), quote('#a:2-3').replace('old', 'one();\ntwo();'));
  assert.equal(fill(':1-2'), quote(':1-2').replace('old', '// #region a\nif (x) {'));
  for (const range of ['#a:2-9', '#a:0-1', '#a:3-2'])
    assert.throws(() => fill(range), /a\.js has no lines \d to \d there, but 4/);
});

test('findQuotes finds the quotes and no examples', () => {
  for (const text of [markdown, crlf(markdown)]) {
    assert.deepEqual(findQuotes(text), [
      { file: 'a.js', region: 'answer', body: 'old();', indent: '', mark: '```', start: 3, end: 5 },
      { file: 'b.js', region: undefined, body: '', indent: '  ', mark: '~~~', start: 9, end: 10 },
    ]);
  }
});

test('refreshQuotes fills in regions and entire files, and changes nothing else', () => {
  const fresh = markdown
    .replace('old();\n', 'if (true) {\n\n  answer();\n}\n')
    .replace('  ~~~js file=b.js\n', '  ~~~js file=b.js\n  one();\n\n    two();\n');
  for (const [before, after] of [
    [markdown, fresh],
    [crlf(markdown), crlf(fresh)],
  ]) {
    const { text, stale } = refreshQuotes(before, readFile);
    assert.equal(text, after);
    assert.deepEqual(
      stale.map(({ file }) => file),
      ['a.js', 'b.js'],
    );
    assert.deepEqual(refreshQuotes(text, readFile), { text, stale: [] });
  }
});

test('a quote is fresh whatever the line endings of the two files are', () => {
  const { text } = refreshQuotes(markdown, readFile);
  const { stale } = refreshQuotes(crlf(text), (file) => files[file]);
  assert.deepEqual(stale, []);
  assert.deepEqual(refreshQuotes(text, (file) => crlf(files[file])).stale, []);
});

test('a paragraph that begins with code opens no block', () => {
  const text = '```inline``` code\n\n```js file=a.js\n```\n';
  assert.equal(findQuotes(text).length, 1);
});

test('an empty region empties the quote', () => {
  const { text } = refreshQuotes('```js file=a.js#empty\nold();\n```\n', readFile);
  assert.equal(text, '```js file=a.js#empty\n```\n');
});

test('a quote that cannot be filled in is explained', () => {
  const refresh = (/** @type {string} */ text, /** @type {string} */ source) => () =>
    refreshQuotes(text, () => source);
  const name = 'UsageError';
  assert.throws(refresh('```js file=a.js#gone\n```\n', source), {
    name,
    message: /a\.js has no region "gone"/,
  });
  assert.throws(refresh('```js file=a.js\n', source), {
    name,
    message: /on line 1 is never closed/,
  });
  assert.throws(refresh('```js file=a.js\n```\n', 'x = `\n```\n`\n'), {
    name,
    message: /end the code block/,
  });
  assert.equal(
    refresh('````js file=a.js\n````\n', '```\n')().text,
    '````js file=a.js\n```\n````\n',
  );
});
