/** The first slide of a chapter, made of what is known of it: its number, its title, its question, and how far the class is. */
import { escapeHtml } from './code.js';

const NAME = 'Forkshop';
const [WIDTH, HEIGHT, GAP] = [1168, 14, 10];

/**
 * @param {object} chapter
 * @param {string} chapter.key
 * @param {string} chapter.title
 * @param {string} chapter.question
 * @param {string[]} chapter.lessons  the keys of all lessons of the deck
 * @param {import('../lessons/about.js').About} [chapter.about]  of a lesson
 * @returns {import('./deck.js').Slide}  of no minutes, with the id NN-slug-0: all others keep their numbers
 */
export function openerOf({ key, title, question, lessons, about }) {
  const place = lessons.indexOf(key);
  const number = place < 0 ? '' : `<p class="number">${Number(key.slice(0, 2))}</p>`;
  const [brand, heading] = place < 0 ? [title, NAME] : [NAME, title];
  const html =
    `<div class="opener"><p class="brand">${escapeHtml(brand)}</p>${number}<h1>${escapeHtml(heading)}</h1>` +
    `<p class="question">${escapeHtml(question)}</p>${place < 0 ? '' : progress(place, lessons.length)}</div>\n`;
  const notes = `<p><strong>Ask</strong> the question, and wait for two answers before you go on.</p>${about ? notesOf(about) : ''}`;
  return { id: `${key}-0`, heading, minutes: 0, html, notes, demos: [], isOpener: true };
}

function progress(place, count) {
  const width = (WIDTH - GAP * (count - 1)) / count;
  const bars = Array.from({ length: count }, (_, index) => {
    const look = index < place ? 'fill-blue past' : index === place ? 'fill-blue' : 'fill-line';
    const x = Math.round(index * (width + GAP));
    return `<rect x="${x}" y="0" width="${Math.round(width)}" height="${HEIGHT}" rx="5" class="${look}"/>`;
  });
  const label = `Lesson ${place + 1} of ${count}`;
  const box = `viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  return `<svg class="way" ${box} role="img" aria-label="${label}">${bars.join('')}</svg>`;
}

function notesOf(
  /** @type {import('../lessons/about.js').About} */ { goal, concepts, minutes, needs = [] },
) {
  const install = needs.length > 0 ? ` It needs ${needs.map(escapeHtml).join(' and ')}.` : '';
  return (
    `<p><strong>What for:</strong> ${escapeHtml(goal)}</p>` +
    `<p><strong>Words of this lesson:</strong> ${concepts.map(escapeHtml).join(', ')}.</p>` +
    `<p>Studied alone, it takes about ${minutes} minutes.${install}</p>`
  );
}
