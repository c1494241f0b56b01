/**
 * The deck on A4: the trainer's script has two slides a page with their notes; the learners' handout has three a page with room
 * to write, and gives no answer away. Each chapter begins on a new page; slides are numbered as on the wall.
 */
import { escapeHtml } from '../web/code.js';
import { classOf } from './pages.js';
import { asData, page } from '../web/page-shell.js';

/** @typedef {import('./read-deck.js').Chapter} Chapter */
/** @typedef {import('./read-deck.js').Slide & { number?: number }} Numbered */

const LINES = '<i></i>'.repeat(6);

/** @param {Chapter[]} chapters  @param {import('../web/page-shell.js').Setting & { recordings: Record<string, any[]> }} setting */
export const scriptPage = (chapters, setting) => paper(scriptSheets(chapters), 'script', setting);

/** @param {Chapter[]} chapters  @param {import('../web/page-shell.js').Setting} [setting] */
export const handoutPage = (chapters, setting = {}) =>
  paper(handoutSheets(chapters), 'handout', { ...setting, recordings: {} });

/** @param {Chapter[]} chapters @returns {string[]}  a page each */
export const scriptSheets = (chapters) =>
  sheetsOf(chapters, {
    perPage: 2,
    has: () => true,
    beside: ({ notes }) => `<div class="talk">${notes}</div>`,
  });

/** @param {Chapter[]} chapters @returns {string[]}  a page each */
export const handoutSheets = (chapters) =>
  sheetsOf(chapters, {
    perPage: 3,
    has: ({ isAnswer, isSolution }) => !isAnswer && !isSolution,
    beside: roomFor,
  });

/** Lines to write on; at a vote, some for the guess and some for the answer. */
function roomFor(/** @type {Numbered} */ { html }) {
  const isVote = html.includes('data-ballot="vote"');
  const moments = isVote ? '<p>My guess</p><i></i><i></i><p>It was</p><i></i><i></i>' : LINES;
  return `<div class="room">${moments}</div>`;
}

function paper(sheets, name, { recordings, ...setting }) {
  return page(`Forkshop: ${name}`, setting, {
    styles: ['web/client/theme.css', 'deck/client/paper.css', 'deck/client/sheets.css'],
    script: 'deck/client/print.js',
    bodyClass: name,
    body:
      `<main>${sheets.join('\n')}</main>\n` +
      `<script type="application/json" id="recordings">${asData(recordings)}</script>`,
  });
}

/** @typedef {{ perPage: number, has: (slide: Numbered) => boolean, beside: (slide: Numbered) => string }} Layout */

function sheetsOf(
  /** @type {Chapter[]} */ chapters,
  /** @type {Layout} */ { perPage, has, beside },
) {
  let number = 0;
  return chapters.flatMap(({ title, pages }) => {
    const numbered = pages.map((slide) => ({
      ...slide,
      number: slide.isReading ? undefined : (number += 1),
    }));
    const printed = numbered.filter((slide) => !slide.isOpener && has(slide)); // an opener's title is in the page's header
    return printed.flatMap((one, index) => {
      if (index % perPage > 0) return [];
      const level = index === 0 ? 'h1' : 'p';
      const parts = printed
        .slice(index, index + perPage)
        .map((slide) => partOf(slide, beside(slide)));
      const head = `<header><${level}>${escapeHtml(title)}</${level}><p>Forkshop</p></header>`;
      return [`<div class="sheet">${head}${parts.join('')}</div>`];
    });
  });
}

/** Level 2 puts a slide below its chapter in the PDF's bookmarks. */
function partOf(/** @type {Numbered} */ one, /** @type {string} */ beside) {
  const { id, html, number } = one;
  const slide = html.replace('<h1>', '<h1 aria-level="2">');
  return (
    `<section id="${id}"><div class="frame"><div class="${classOf(one)}">\n${slide}</div></div>` +
    `<p class="number">${number ?? 'To read'}</p>${beside}</section>`
  );
}
