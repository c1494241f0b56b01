/**
 * The deck on A4, a chapter beginning on a new page: the script, two slides a page, which has what is said to each, and the
 * handout for learners, three a page, which has room to write instead and gives no answer away. Numbers are those on the wall.
 */
import { escapeHtml } from '../web/code.js';
import { classOf } from './pages.js';
import { asData, page } from '../web/page-shell.js';

/** @typedef {import('./read-deck.js').Chapter} Chapter */
/** @typedef {import('./read-deck.js').Slide & { number?: number }} Numbered */

const LINES = '<i></i>'.repeat(6);

/**
 * For the trainer.
 * @param {Chapter[]} chapters
 * @param {import('../web/page-shell.js').Setting & { recordings: Record<string, any[]> }} setting
 */
export const scriptPage = (chapters, setting) => paper(scriptSheets(chapters), 'script', setting);

/**
 * For learners.
 * @param {Chapter[]} chapters
 * @param {import('../web/page-shell.js').Setting} [setting]
 */
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

/** Lines to write on; for a vote, one for each of its two moments. */
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

/**
 * @param {Chapter[]} chapters
 * @param {{ perPage: number, has: (slide: Numbered) => boolean, beside: (slide: Numbered) => string }} paper  has: is this
 *   slide on it? beside: what stands beside it
 */
function sheetsOf(chapters, { perPage, has, beside }) {
  let number = 0;
  return chapters.flatMap(({ title, pages }) => {
    const numbered = pages.map((slide) => ({
      ...slide,
      number: slide.isReading ? undefined : (number += 1),
    }));
    const printed = numbered.filter((slide) => !slide.isOpener && has(slide)); // the page has its title
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

/** In the bookmarks a slide stands below its chapter. */
function partOf(/** @type {Numbered} */ one, /** @type {string} */ beside) {
  const { id, html, number } = one;
  const slide = html.replace('<h1>', '<h1 aria-level="2">');
  return (
    `<section id="${id}"><div class="frame"><div class="${classOf(one)}">\n${slide}</div></div>` +
    `<p class="number">${number ?? 'To read'}</p>${beside}</section>`
  );
}
