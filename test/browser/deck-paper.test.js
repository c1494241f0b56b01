// Verifies the deck on paper: the PDF with and without notes, the trainer's script, and the handout.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { execFileSync } from '../../lib/common/child.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { exportHandout, exportPdf, exportScript } from '../../lib/deck/export.js';
import { readDeck } from '../../lib/deck/read-deck.js';
import { plainText } from '../plain-text.js';
import { skip } from './browser.js';

/** @typedef {import('../../lib/deck/read-deck.js').Slide} Slide */

const slides = readDeck(rootFolder).flatMap((chapter) => chapter.slides);

describe('the deck on paper', { skip }, () => {
  for (const hasNotes of [false, true])
    test(`the PDF ${hasNotes ? 'with' : 'without'} notes has a page for each slide, with its text and its demo`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'deck-pdf-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'deck.pdf');
      const pages = await exportPdf({ root: rootFolder, file, hasNotes, env: process.env });
      assert.equal(pages, slides.length);
      const texts = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8' })
        .split('\f')
        .slice(0, -1);
      assert.equal(texts.length, slides.length);
      for (const [index, { id, heading, html, notes, demos }] of slides.entries()) {
        const words = squeeze(texts[index]);
        assert.ok(
          words.includes(squeeze(plainText(heading).replaceAll('`', ''))),
          `${id}: its heading`,
        );
        for (const line of codeLines(html))
          assert.ok(words.includes(squeeze(line)), `${id}: ${line}`);
        if (demos.length > 0) assert.match(texts[index], /recorded: \d+ cores/, `${id}: its demo`);
        const said = squeeze(plainText(notes)).slice(0, 12);
        assert.equal(words.includes(said), hasNotes, `${id}: its notes`);
      }
    });

  for (const [name, write, perPage, isOnIt] of /** @type {const} */ ([
    ['script', exportScript, 2, () => true],
    [
      'handout',
      exportHandout,
      3,
      (/** @type {Slide} */ { isAnswer, isSolution }) => !isAnswer && !isSolution,
    ],
  ]))
    test(`the ${name} of a plan is on A4, ${perPage} slides a page, with a bookmark for each chapter`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'paper-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'paper.pdf');
      const pages = await write({ root: rootFolder, plan: 'half', file, env: process.env });
      const chapters = readDeck(rootFolder, 'half');
      const pairs = chapters.flatMap((chapter) =>
        chapter.pages
          .filter((slide) => !slide.isOpener && isOnIt(slide))
          .flatMap((slide, index, all) =>
            index % perPage ? [] : [all.slice(index, index + perPage)],
          ),
      );
      assert.equal(pages, pairs.length);
      const about = execFileSync('pdfinfo', [file], { encoding: 'utf8' });
      assert.match(about, /Tagged: +yes[^]*\(A4\)/);
      const texts = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8' }).split(
        '\f',
      );
      assert.equal(texts.length - 1, pages, 'no slide spills onto another page');
      for (const [index, pair] of pairs.entries())
        for (const { id, heading, notes } of pair) {
          const words = squeeze(texts[index]);
          assert.ok(words.includes(squeeze(plainText(heading).replaceAll('`', ''))), id);
          assert.equal(
            words.includes(squeeze(plainText(notes)).slice(0, 60)),
            name === 'script',
            `${id}: its notes`,
          );
        }
      const bookmarks = readFileSync(file, 'latin1');
      for (const { key, title } of chapters)
        assert.ok(bookmarks.includes(`/Title (${title})`), `${key} has no bookmark`);
    });
});

const squeeze = (/** @type {string} */ text) => text.replace(/\s+/g, '');

/** @param {string} html */
const codeLines = (html) =>
  [...html.matchAll(/<span class="line">([^\n]*)<\/span>/g)]
    .map(([, line]) => plainText(line))
    .filter((line) => line.trim());
