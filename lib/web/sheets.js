/**
 * The deck on A4, two slides a page, a chapter beginning on a new one: the script, which has what is said to each slide, and the
 * handout for learners, which has room to write instead, and gives no answer away. Numbers are those on the wall.
 */
import { escapeHtml } from './code.js';
import { classOf } from './pages.js';
import { asData, page } from './shell.js';

/** @typedef {import('./deck.js').Chapter} Chapter */
/** @typedef {import('./deck.js').Slide & { number?: number }} Numbered */

const LINES = '<i></i>'.repeat(6);

/**
 * For the trainer.
 * @param {Chapter[]} chapters
 * @param {import('./shell.js').Setting & { recordings: Record<string, any[]> }} setting
 */
export const scriptPage = (chapters, setting) => paper(scriptSheets(chapters), 'script', setting);

/**
 * For learners.
 * @param {Chapter[]} chapters
 * @param {import('./shell.js').Setting} [setting]
 */
export const handoutPage = (chapters, setting = {}) =>
  paper(handoutSheets(chapters), 'handout', { ...setting, recordings: {} });

/** @param {Chapter[]} chapters @returns {string[]}  a page each */
export const scriptSheets = (chapters) =>
  sheetsOf(
    chapters,
    ({ notes }) => `<div class="talk">${notes}</div>`,
    () => true,
  );

/** @param {Chapter[]} chapters @returns {string[]}  a page each */
export const handoutSheets = (chapters) =>
  sheetsOf(chapters, roomFor, ({ isAnswer, isSolution }) => !isAnswer && !isSolution);

/** Lines to write on; for a vote, one for each of its two moments. */
function roomFor(/** @type {Numbered} */ { html }) {
  const isVote = html.includes('data-ballot="vote"');
  const moments = isVote ? '<p>My guess</p><i></i><i></i><p>It was</p><i></i><i></i>' : LINES;
  return `<div class="room">${moments}</div>`;
}

function paper(sheets, name, { recordings, ...setting }) {
  return page(`Forkshop: ${name}`, setting, {
    styles: ['client/theme.css', 'client/sheets.css'],
    script: 'client/print.js',
    bodyClass: name,
    body:
      `<main>${sheets.join('\n')}</main>\n` +
      `<script type="application/json" id="recordings">${asData(recordings)}</script>`,
  });
}

/**
 * @param {Chapter[]} chapters
 * @param {(slide: Numbered) => string} beside  what stands beside a slide
 * @param {(slide: Numbered) => boolean} has  is this slide on paper?
 */
function sheetsOf(chapters, beside, has) {
  let number = 0;
  return chapters.flatMap(({ title, pages }) => {
    const numbered = pages.map((slide) => ({
      ...slide,
      number: slide.isReading ? undefined : (number += 1),
    }));
    const printed = numbered.filter((slide) => !slide.isOpener && has(slide)); // the page has its title
    return printed.flatMap((one, index) => {
      if (index % 2 > 0) return [];
      const level = index === 0 ? 'h1' : 'p';
      const halves = printed.slice(index, index + 2).map((slide) => halfOf(slide, beside(slide)));
      const head = `<header><${level}>${escapeHtml(title)}</${level}><p>Forkshop</p></header>`;
      return [`<div class="sheet">${head}${halves.join('')}</div>`];
    });
  });
}

/** In the bookmarks a slide stands below its chapter. */
function halfOf(/** @type {Numbered} */ one, /** @type {string} */ beside) {
  const { id, html, number } = one;
  const slide = html.replace('<h1>', '<h1 aria-level="2">');
  return (
    `<section id="${id}"><div class="frame"><div class="${classOf(one)}">\n${slide}</div></div>` +
    `<p class="number">${number ?? 'To read'}</p>${beside}</section>`
  );
}
