/** The generated first slide of a chapter: its question, what the class builds, its minutes, and its place in the day. */
import { escapeHtml } from '../web/code.js';
import { kindOf } from './timetable.js';

const [WIDTH, HEIGHT, GAP] = [1168, 56, 6];
const [LETTER, PADDING] = [14, 14]; // of the ribbon's words, in px

/** The title's picture: a primary deals connections to four workers. */
const LANES = [0, 1, 2, 3, 4].map(
  (row) => `<rect class="lane" y="${row * 68}" width="460" height="46" rx="6"/>`,
);
const DEALT = [
  { x: 40, worker: 1, width: 150 },
  { x: 70, worker: 2, width: 190 },
  { x: 100, worker: 3, width: 130 },
  { x: 130, worker: 4, width: 230 },
  { x: 230, worker: 1, width: 110 },
  { x: 300, worker: 2, width: 160 },
  { x: 270, worker: 3, width: 190 },
].map(({ x, worker, width }) => {
  const y = worker * 68 + 10;
  return `<path d="M${x} 23 V${y}"/><circle cx="${x}" cy="23" r="5"/><rect class="work" x="${x}" y="${y}" width="${width}" height="26" rx="4"/>`;
});
const PICTURE = `<svg class="picture" viewBox="0 0 460 330" aria-hidden="true">${[...LANES, ...DEALT].join('')}</svg>`;

/**
 * @param {import('./read-deck.js').Front} front
 * @param {object} day
 * @param {import('./read-deck.js').Chapter} day.chapter
 * @param {import('./day.js').Stretch[]} day.stretches
 * @param {string[]} day.lessons  the keys of its lessons
 * @param {boolean} day.isDay  false: the whole deck
 * @param {import('../lessons/lesson-yml.js').LessonYml} [day.about]  of a lesson
 * @returns {import('./read-deck.js').Slide}  with the id NN-slug-0, so that the other slides keep their numbers
 */
export function openerOf(front, { chapter, stretches, lessons, isDay, about }) {
  const { key, title, build, question = '' } = front;
  const place = lessons.indexOf(key);
  const isLesson = place >= 0;
  const brand = isLesson ? `Lesson ${Number(key.slice(0, 2))}: ${title}` : title;
  const turn = isLesson ? `${place + 1} of ${lessons.length}${isDay ? ' today' : ''}, ` : '';
  const ribbon = stretches.length > 1 ? ribbonOf(key, stretches, `${brand}, ${turn}`) : '';
  const html =
    `<div class="opener${isLesson ? '' : ' first'}"><p class="brand">${escapeHtml(brand)}</p>` +
    `<h1>${escapeHtml(isLesson ? question : 'Forkshop')}</h1>` +
    `<p class="build">${escapeHtml(isLesson ? (build ? `You build ${build}.` : '') : question)}</p>` +
    `<p class="when"><b class="now"></b> ${turn}${timeOf(chapter)}</p>${ribbon}${isLesson ? '' : PICTURE}</div>\n`;
  const notes = `<p><strong>Ask</strong> the question, and wait for two answers before you go on.</p>${about ? notesOf(about) : ''}`;
  const heading = isLesson ? title : 'Forkshop';
  return { id: `${key}-0`, heading, minutes: 0, html, notes, demos: [], isOpener: true };
}

/** "54 minutes, 34 of them yours". */
function timeOf(/** @type {import('./read-deck.js').Chapter} */ { slides, minutes }) {
  const yours = slides.filter((slide) => kindOf(slide) === 'do');
  const sum = yours.reduce((total, slide) => total + slide.minutes, 0);
  return `${minutes} minutes${sum > 0 ? `, ${sum} of them yours` : ''}`;
}

/** The day as a ribbon, in which every minute has the same width. */
function ribbonOf(
  /** @type {string} */ key,
  /** @type {import('./day.js').Stretch[]} */ stretches,
  /** @type {string} */ label,
) {
  const whole = stretches.reduce((sum, { minutes }) => sum + minutes, 0);
  const here = stretches.findIndex((one) => one.key === key);
  let from = 0;
  const parts = stretches.map(({ kind, minutes, name, ...one }, index) => {
    const x = (from / whole) * WIDTH;
    const width = Math.max(2, (minutes / whole) * WIDTH - GAP);
    from += minutes;
    const look = kind !== 'chapter' ? 'pause' : one.key === key ? 'here' : index < here ? 'past' : 'ahead'; // prettier-ignore
    const fits = [name, name.split(' ')[0]].find((words) => words.length * LETTER + PADDING < width) ?? ''; // prettier-ignore
    const words = `<text x="${Math.round(x + width / 2)}" y="37" text-anchor="middle">${escapeHtml(fits)}</text>`;
    return `<g class="${look}"><rect x="${x.toFixed(1)}" y="1" width="${width.toFixed(1)}" height="${HEIGHT - 2}" rx="6"/>${fits ? words : ''}</g>`;
  });
  const box = `viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  return `<svg class="way" ${box} role="img" aria-label="${escapeHtml(label.replace(/, $/, ''))}">${parts.join('')}</svg>`;
}

function notesOf(
  /** @type {import('../lessons/lesson-yml.js').LessonYml} */ {
    goal,
    concepts,
    minutes,
    needs = [],
  },
) {
  const install = needs.length > 0 ? ` It needs ${needs.map(escapeHtml).join(' and ')}.` : '';
  return (
    `<p><strong>What for:</strong> ${escapeHtml(goal)}</p>` +
    `<p><strong>Words of this lesson:</strong> ${concepts.map(escapeHtml).join(', ')}.</p>` +
    `<p>Studied alone, it takes about ${minutes} minutes.${install}</p>`
  );
}
