// Verifies the (British) spelling of all texts. test/words.txt holds our own words.
// Links are the doctor's concern.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import dictionary from 'dictionary-en-gb';
import MarkdownIt from 'markdown-it';
import nspell from 'nspell';
import { parse } from 'yaml';
import { chapterKeys, lessonKeys } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const markdown = new MarkdownIt({ html: true });
const ownWords = readFileSync(join(root, 'test/words.txt'), 'utf8').split('\n').filter(Boolean);
const british = { aff: Buffer.from(dictionary.aff), dic: Buffer.from(dictionary.dic) };
const dictionaryOnly = nspell(british);
const spelling = nspell(british);
for (const word of ownWords) spelling.add(word);

/** @typedef {{ line: number, text: string }} Passage */

/** The words between the tags. @param {string} html */
const withoutTags = (html) => html.replace(/<!--[^]*?-->|<style[^]*?<\/style>|<[^>]*>/g, ' ');

/**
 * The visible text of one inline token: text and picture descriptions; no code, no addresses.
 * @param {import('markdown-it').Token[]} children
 */
function inlineText(children) {
  let automatic = false;
  const seen = children.map((token) => {
    if (token.markup === 'autolink') automatic = token.type === 'link_open';
    if (token.type === 'text') return automatic ? '' : token.content;
    if (token.type === 'image') return ` ${token.content} `;
    return token.type === 'softbreak' || token.type === 'code_inline' ? ' ' : '';
  });
  return seen.join('');
}

/** @param {string} source @returns {Passage[]} */
function frontMatterPassages(source) {
  const { title, goal, concepts = [], hints = [] } = parse(source) ?? {};
  const texts = [title, goal, ...concepts, ...hints].filter((text) => typeof text === 'string');
  return texts.map((text) => ({ line: 1, text: text.replace(/`[^`]*`/g, ' ') }));
}

/** @param {string} source @returns {Passage[]} */
export function passages(source) {
  const front = /^---\n([^]*?\n)---\n/.exec(source);
  const skipped = front ? front[0].split('\n').length - 1 : 0;
  const body = markdown.parse(front ? source.slice(front[0].length) : source, {});
  const text = body.flatMap((token) => {
    const line = skipped + (token.map?.[0] ?? 0) + 1;
    if (token.type === 'inline') return [{ line, text: inlineText(token.children ?? []) }];
    return token.type === 'html_block' ? [{ line, text: withoutTags(token.content) }] : [];
  });
  return front ? [...frontMatterPassages(front[1]), ...text] : text;
}

/** Words of prose: no NAMES_IN_CAPITALS, no camelCase, nothing with digits. @param {string} text */
export function words(text) {
  return text
    .split(/[\s/—–…-]+/u)
    .map((word) => word.replaceAll('’', "'").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .map((word) => word.replace(/'s$/, ''))
    .filter((word) => /^[\p{L}']+$/u.test(word) && !/.\p{Lu}/u.test(word));
}

/** @param {string} file */
function misspelt(file) {
  const isCatalogue = file.endsWith('-answers.md'); // where headings are names
  const source = readFileSync(join(root, file), 'utf8');
  return passages(isCatalogue ? source.replace(/^## .*$/gm, '') : source).flatMap(
    ({ line, text }) =>
      words(text)
        .filter((word) => !spelling.correct(word))
        .map((word) => `${file}:${line}: ${word}`),
  );
}

function proseFiles() {
  const lessons = lessonKeys(root).map(lessonPaths);
  const texts = lessons.flatMap(({ text, hints, checks }) => [
    ...[text, hints, `${checks}/wrong-answers.md`, `${checks}/right-answers.md`],
  ]);
  const decks = chapterKeys(root).map((key) => lessonPaths(key).slides);
  return ['README.md', 'CONTRIBUTING.md', ...texts, ...decks].filter((file) =>
    existsSync(join(root, file)),
  );
}

for (const file of proseFiles())
  test(`${file} is spelt right`, () => {
    const text = passages(readFileSync(join(root, file), 'utf8'));
    assert.ok(
      text.some((passage) => words(passage.text).length > 0),
      `${file} has no prose`,
    );
    assert.deepEqual(misspelt(file), [], 'Fix the word, or add it to test/words.txt');
  });

test('there are lessons to read', () => {
  assert.ok(proseFiles().some((file) => file.startsWith('lessons/')));
});

test('a misspelt word is found in text, links, pictures, folded answers and front matter', () => {
  const source = `---
title: A tittle with wrongg
hints: [frist, second, "third \`codee\`"]
---
# Headng
Text \`codeword\` with [linkk](https://exampel.org) and ![pictur](a.svg) <https://autolinkk.org>,
eventloop-wise.
<details><summary>Answr</summary>

Hiddn
</details>

\`\`\`js
misspeltt();
\`\`\`
`;
  const found = passages(source).flatMap(({ line, text }) =>
    words(text)
      .filter((word) => !spelling.correct(word))
      .map((word) => `${line} ${word}`),
  );
  assert.deepEqual(found, [
    ...['1 wrongg', '1 frist', '5 Headng', '6 linkk', '6 pictur', '6 eventloop'],
    ...['8 Answr', '10 Hiddn'],
  ]);
});

test('test/words.txt is sorted, without duplicates, and holds no word of the dictionary', () => {
  const order = new Intl.Collator('en').compare;
  assert.deepEqual(ownWords, [...new Set(ownWords)].sort(order));
  assert.deepEqual(
    ownWords.filter((word) => dictionaryOnly.correct(word)),
    [],
  );
});
