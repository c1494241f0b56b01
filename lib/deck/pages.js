/** The pages of the deck: for the wall, for the speaker, for PDF. */
import { escapeHtml } from '../web/code.js';
import { dayOf, planTitles } from './plans.js';
import { asData, page } from '../web/page-shell.js';
import { kindOf } from './timetable.js';

/** @typedef {import('./read-deck.js').Chapter} Chapter */
/** @typedef {import('../web/page-shell.js').Setting} Setting */

/** @typedef {Setting & { board?: { address: string, code: string } }} ClassSetting */

/** @param {Chapter[]} chapters  @param {ClassSetting} setting */
export function deckPage(chapters, setting) {
  return page('Forkshop', setting, {
    styles: ['reveal/reset.css', 'reveal/reveal.css', 'web/client/theme.css'],
    script: 'deck/client/deck.js',
    body: `<main class="reveal"><div class="slides">\n${sections(withJoin(chapters, setting))}\n</div></main>`,
  });
}

/** @param {Chapter[]} chapters  of the setting's plan  @param {ClassSetting} setting */
export function speakerPage(chapters, setting) {
  const { plan = '', isStatic } = setting;
  const all = [{ name: '', title: 'none, all slides' }, ...planTitles()];
  const choices = all
    .filter(({ name }) => !isStatic || name === plan)
    .map(({ name, title }) => {
      const isChosen = name === plan ? ' selected' : '';
      return `<option value="${name}"${isChosen}>${escapeHtml(title)}</option>`;
    });
  const items = plan === '' ? null : dayOf(chapters, plan).items;
  return page('Forkshop: speaker', setting, {
    styles: ['web/client/theme.css', 'deck/client/speaker.css'],
    script: 'deck/client/speaker.js',
    body:
      `${cockpit(choices.join(''), setting.base)}\n<div id="slides" hidden>${sections(withJoin(chapters, setting))}</div>\n` +
      `<script type="application/json" id="day">${asData(items)}</script>`,
  });
}

/** The speaker's window, which client/speaker.js fills. */
function cockpit(choices, base = '/') {
  return `<header><div><h1>Speaker</h1><p id="alone" role="status">The deck is not open in this browser. <a href="${base}" target="forkshop-wall">Open it</a></p><p id="place"></p></div>
<p class="times"><span class="quiet">now <span id="time"></span></span>
<span class="quiet">elapsed <span id="clock">0:00</span></span>
<span class="quiet">this slide <span id="slide-time"></span></span>
<span id="pace"></span><span id="finish"></span></p>
<div class="tools"><label>Plan <select id="plan">${choices}</select></label>
<label>Start <input id="start" type="time"></label><button type="button" id="on-time">I’m on time here</button>
${button('pause', 'Pause')}${button('reset', 'Reset')}<span class="gap"></span>${button('back', 'Back')}
${button('forward', 'Forward')}${button('find', 'Find')}${button('overview', 'Overview')}${button('black', 'Black')}</div>
</header>
<main><div class="slides"><section class="shown" aria-label="Now on the wall"><h2>Now</h2>${view('now')}</section>
<section aria-label="Next step"><h2>Next step</h2>${view('step')}</section>
<section aria-label="Next slide"><h2>Next slide</h2>${view('next')}</section></div>
<div class="right"><div class="notes-head"><h2>Notes</h2>
<button type="button" id="smaller" aria-label="A−: smaller notes">A−</button>
<button type="button" id="larger" aria-label="A+: larger notes">A+</button></div>
<div id="talk" role="region" aria-label="Notes" tabindex="0"></div>
<section class="desk" aria-label="For the class"><div id="demo"><p id="says"></p><p id="presses" class="row"></p></div>
<div id="hands"><h2>Votes: what you type here counts in place of taps</h2><div id="boxes"></div></div>
<p class="row"><label>Minutes <input id="minutes" type="number" min="1" max="180"></label>${button('turn', 'Count down')}
${button('break', 'Break')}${button('more', '+1 min')}${button('end', 'End')}<span id="left" role="timer"></span></p></section></div></main>
<dialog id="finder" aria-label="Find a slide"><form>
<label>A number, or words of the slide <input type="search" autocomplete="off"></label><ol></ol></form></dialog>`;
}

const button = (id, words) => `<button type="button" id="${id}">${words}</button>`;
const view = (id) => `<div id="${id}" class="view" inert></div>`;

/**
 * A page for each slide, with all its steps; with notes, beside a smaller slide.
 * @param {Chapter[]} chapters  @param {Setting & { hasNotes?: boolean, recordings: Record<string, any[]> }} setting
 */
export function printPage(chapters, { hasNotes = false, recordings, ...setting }) {
  return page('Forkshop', setting, {
    styles: ['web/client/theme.css', 'deck/client/paper.css', 'deck/client/print.css'],
    script: 'deck/client/print.js',
    bodyClass: hasNotes ? 'print with-notes' : 'print',
    body:
      `<main>${sections(chapters, ({ notes }) => (hasNotes ? `<div class="talk">${notes}</div>` : ''))}</main>\n` +
      `<script type="application/json" id="recordings">${asData(recordings)}</script>`,
  });
}

/** A slide's classes: each moment of a lesson has its look. @param {import('./read-deck.js').Slide} slide @returns {string} */
export function classOf(slide) {
  const { isLarge, isOpener, html } = slide;
  const isTurn = kindOf(slide) === 'do';
  const isVote = html.includes('data-ballot="vote"');
  const isMeasured = html.includes('class="headline');
  const moments = { opening: isOpener, turn: isTurn, vote: isVote, measured: isMeasured };
  const [moment = ''] = Object.entries(moments).flatMap(([name, is]) => (is ? ` ${name}` : []));
  return `slide${isLarge ? ' large' : ''}${moment}`;
}

/** The first and the last slide say how to join the board of the class. @returns {Chapter[]} */
function withJoin(/** @type {Chapter[]} */ chapters, /** @type {ClassSetting} */ { board }) {
  if (!board) return chapters;
  const command = `npm start -- --join ${board.address} ${board.code}`;
  const join = `<p class="join">Join the board: <code>${escapeHtml(command)}</code></p>\n`;
  const all = chapters.flatMap(({ slides }) => slides);
  const ends = [all[0], all.at(-1)];
  return chapters.map(({ slides, ...chapter }) => ({
    ...chapter,
    slides: slides.map((one) => (ends.includes(one) ? { ...one, html: one.html + join } : one)),
  }));
}

function sections(chapters, after = ({ notes }) => `<aside class="notes">${notes}</aside>`) {
  const all = chapters.flatMap(({ key, title, slides }) =>
    slides.map((slide) => ({ ...slide, key, title })),
  );
  return all
    .map((slide, index) => {
      const { id, key, title, minutes, html } = slide;
      const planned = `data-minutes="${minutes}" data-kind="${kindOf(slide)}"`;
      return (
        `<section id="${id}" class="chapter-${key.slice(0, 2)}" data-chapter="${escapeHtml(title)}" ${planned}>` +
        `<div class="${classOf(slide)}">\n${html}</div>` +
        `<footer><span>${escapeHtml(title)}</span><span>${index + 1} / ${all.length}</span></footer>` +
        `${after(slide)}</section>`
      );
    })
    .join('\n');
}
