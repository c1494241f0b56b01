/** Fits each chapter into the day on which it is taught: its opener, and the bridge to the next chapter. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLessonYml } from '../lessons/lesson-yml.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { escapeHtml } from '../web/code.js';
import { openerOf } from './opener.js';
import { dayOf } from './plans.js';

/** @typedef {import('./read-deck.js').Chapter} Chapter */
/** @typedef {import('./read-deck.js').Front} Front */

const BRIDGE = /<p><strong>Bridge:<\/strong>.*?<\/p>/s;
const numberOf = (/** @type {string} */ key) => Number(key.slice(0, 2));
const isLesson = (/** @type {string} */ key) => numberOf(key) > 0 && numberOf(key) < 99;

/**
 * @param {Chapter[]} chapters  of the plan
 * @param {{ root: string, plan?: string, keys: string[], fronts: Front[] }} deck  plan: its name; keys, fronts: of all chapters
 * @returns {Chapter[]}
 */
export function fitIntoDay(chapters, { root, plan, keys, fronts }) {
  const taught = chapters.map(({ key }) => key);
  const stretches = stretchesOf(chapters, plan, fronts);
  const lessons = taught.filter(isLesson);
  return chapters.map((chapter, index) => {
    const { key } = chapter;
    const front = fronts.find((one) => one.key === key);
    const next = taught[index + 1];
    const isAsWritten = next === keys[keys.indexOf(key) + 1];
    const bridged = isAsWritten ? chapter : withBridge(chapter, bridgeTo(next, fronts));
    if (!front?.question) return bridged;
    const about = isLesson(key) ? aboutOf(root, key) : undefined;
    const opener = openerOf(front, { chapter, stretches, lessons, about, isDay: Boolean(plan) });
    const [slides, pages] = [bridged.slides, bridged.pages].map((all) => [opener, ...all]);
    return { ...bridged, slides, pages };
  });
}

function aboutOf(root, key) {
  const { about } = lessonPaths(key);
  try {
    return parseLessonYml(readFileSync(join(root, about), 'utf8'), about);
  } catch (/** @type {any} */ error) {
    if (error.code === 'ENOENT') return undefined; // an author may write slides before their lesson
    throw error;
  }
}

function withBridge(/** @type {Chapter} */ chapter, /** @type {string} */ words) {
  const bridge = () => `<p><strong>Bridge:</strong> ${words}</p>`;
  const lead = (/** @type {import('./read-deck.js').Slide} */ slide) => ({
    ...slide,
    notes: slide.notes.replace(BRIDGE, bridge),
  });
  return { ...chapter, slides: chapter.slides.map(lead), pages: chapter.pages.map(lead) };
}

function bridgeTo(/** @type {string | undefined} */ next, /** @type {Front[]} */ fronts) {
  const front = fronts.find(({ key }) => key === next);
  if (!front) return 'That is all for today.';
  if (!isLesson(front.key)) return 'That was the last lesson of today; the closing is next.';
  return `Next comes lesson ${numberOf(front.key)}: “${escapeHtml(front.question ?? front.title)}”`;
}

/** @typedef {{ key?: string, kind: 'chapter' | 'break' | 'lunch', minutes: number, name: string }} Stretch  of the day */

/** Chapters, divided by breaks; the whole deck has none. @returns {Stretch[]} */
function stretchesOf(chapters, plan, fronts) {
  const nameOf = (key) => {
    const { short = '' } = fronts.find((one) => one.key === key) ?? {};
    return `${isLesson(key) ? numberOf(key) : ''} ${short}`.trim();
  };
  const kind = /** @type {const} */ ('chapter');
  if (!plan) return chapters.map(({ key, minutes }) => ({ key, kind, minutes, name: nameOf(key) }));
  /** @type {Stretch[]} */
  const stretches = [];
  for (const { key, minutes, title, ...item } of dayOf(chapters, plan).items) {
    const last = stretches.at(-1);
    if (!key) stretches.push({ kind: /** @type {any} */ (item.kind), minutes, name: title });
    else if (last?.key === key) last.minutes += minutes;
    else stretches.push({ key, kind, minutes, name: '' });
  }
  for (const key of new Set(stretches.map((one) => one.key))) {
    const parts = stretches.filter((one) => one.key === key);
    const longest = parts.reduce((most, one) => (one.minutes > most.minutes ? one : most));
    if (key) longest.name = nameOf(key);
  }
  return stretches;
}
