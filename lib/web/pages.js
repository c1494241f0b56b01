/** The pages of the deck, as HTML: for the wall, for the speaker, for paper. */
import { escapeHtml } from './code.js';
import { asData, page } from './shell.js';

/** @typedef {import('./deck.js').Chapter} Chapter */
/** @typedef {import('./shell.js').Setting} Setting */

/**
 * @param {Chapter[]} chapters
 * @param {Setting} setting
 */
export function deckPage(chapters, setting) {
  return page('Forkshop', setting, {
    styles: ['reveal/reset.css', 'reveal/reveal.css', 'client/theme.css'],
    script: 'client/deck.js',
    body: `<main class="reveal"><div class="slides">\n${sections(chapters)}\n</div></main>`,
  });
}

/**
 * @param {Chapter[]} chapters
 * @param {Setting} setting
 */
export function speakerPage(chapters, setting) {
  return page('Forkshop: speaker', setting, {
    styles: ['client/theme.css', 'client/speaker.css'],
    script: 'client/speaker.js',
    body: `<header><h1>Speaker</h1><p id="place"></p><p><span id="clock">0:00</span> <span id="pace"></span></p>
<p class="buttons"><button type="button" id="back">Back</button><button type="button" id="forward">Forward</button>
<button type="button" id="restart">Start the clock again</button></p></header>
<main><section aria-label="Now on the wall"><h2>Now</h2><div id="now" class="view" inert></div></section>
<section aria-label="Next"><h2>Next</h2><div id="next" class="view" inert></div></section>
<section aria-label="Notes" class="talk"><h2>Notes</h2><div id="talk" tabindex="0"></div></section></main>
<div id="slides" hidden>${sections(chapters)}</div>`,
  });
}

/**
 * One page a slide, with all its steps shown; with notes, the notes below a smaller slide.
 * @param {Chapter[]} chapters
 * @param {Setting & { hasNotes?: boolean, recordings: Record<string, any[]> }} setting
 */
export function printPage(chapters, { hasNotes = false, recordings, ...setting }) {
  return page('Forkshop', setting, {
    styles: ['client/theme.css', 'client/print.css'],
    script: 'client/print.js',
    bodyClass: hasNotes ? 'print with-notes' : 'print',
    body:
      `<main>${sections(chapters, ({ notes }) => (hasNotes ? `<div class="talk">${notes}</div>` : ''))}</main>\n` +
      `<script type="application/json" id="recordings">${asData(recordings)}</script>`,
  });
}

function sections(chapters, after = ({ notes }) => `<aside class="notes">${notes}</aside>`) {
  const all = chapters.flatMap(({ key, title, slides }) =>
    slides.map((slide) => ({ ...slide, key, title })),
  );
  let plannedMinutes = 0;
  return all
    .map((slide, index) => {
      const { id, key, title, minutes, html } = slide;
      const planned = `data-minutes="${minutes}" data-planned="${plannedMinutes}"`;
      plannedMinutes += minutes;
      return (
        `<section id="${id}" class="chapter-${key.slice(0, 2)}" data-chapter="${escapeHtml(title)}" ${planned}>` +
        `<div class="slide">\n${html}</div>` +
        `<footer><span>${escapeHtml(title)}</span><span>${index + 1} / ${all.length}</span></footer>` +
        `${after(slide)}</section>`
      );
    })
    .join('\n');
}
