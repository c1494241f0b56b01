/** The run of show: for every plan the time of each exercise and demo, and what to prepare. */
import { planDays } from './plans.js';

const WIDTH = 62; // of the words between the time and the minutes

/** @typedef {{ key: string, title: string, install: string, isHere: boolean }} Need  of a lesson, besides `npm ci` */

/**
 * @param {import('./read-deck.js').Chapter[]} chapters
 * @param {{ needs?: Need[], startMinute?: number, plan?: string }} [options]  startMinute: of the day, 540 for 9:00, default 0;
 *   plan: the name of one, default: all
 * @returns {string}
 */
export function agenda(chapters, { needs = [], startMinute = 0, plan } = {}) {
  const wanted = planDays(chapters).filter(({ name }) => plan === undefined || name === plan);
  const titles = new Map(chapters.map(({ key, title }) => [key, title]));
  const days = wanted.map((day) => [
    `${day.title}: ${day.lessons} (${hours(day.minutes)}, ${shareOf(day)} % hands-on)`,
    '',
    ...rowsOf(day, titles).map((row) => lineOf(row, startMinute)),
    `  ${clock(startMinute + day.minutes)}  end`,
    '',
    ...preparation(needs.filter(({ key }) => day.keys.includes(key))),
    '',
  ]);
  return days.flat().join('\n');
}

/** The exercises' share of a day's slides, in per cent. */
function shareOf(/** @type {import('./plans.js').Day} */ { items }) {
  const slides = items.filter(({ id }) => id !== undefined);
  return Math.floor((100 * sum(slides.filter(({ kind }) => kind === 'do'))) / sum(slides));
}

/** @typedef {{ fromMinute: number, minutes: number, words: string, isHead?: boolean }} Row */

/** A row for each chapter (again after a break), and below it for demos, exercises and the slides between. @returns {Row[]} */
function rowsOf(
  /** @type {import('./plans.js').Day} */ { items },
  /** @type {Map<string, string>} */ titles,
) {
  /** @type {Row[]} */
  const rows = [];
  const taught = items.filter(({ minutes }) => minutes > 0);
  const seen = new Set();
  for (const part of grouped(taught, (one, next) => one.key === next.key)) {
    const [{ key, title, fromMinute }] = part;
    const words = key ? `${headOf(key, titles)}${seen.has(key) ? ', continued' : ''}` : title;
    rows.push({ fromMinute, minutes: sum(part), words, isHead: true });
    if (!key) continue;
    seen.add(key);
    for (const group of grouped(part, (one, next) => one.kind === 'talk' && next.kind === 'talk')) {
      const [first] = group;
      const more = group.length > 1 ? ` (${group.length} slides)` : '';
      const text = `${first.kind.padEnd(4)}  ${first.title}${more}`;
      rows.push({ fromMinute: first.fromMinute, minutes: sum(group), words: text });
    }
  }
  return rows;
}

/** Opening and closing have no number. */
function headOf(/** @type {string} */ key, /** @type {Map<string, string>} */ titles) {
  const number = Number(key.slice(0, 2));
  return `${number > 0 && number < 99 ? `${number}. ` : ''}${titles.get(key)}`;
}

function grouped(
  /** @type {import('./plans.js').Item[]} */ items,
  /** @type {(one: import('./plans.js').Item, next: import('./plans.js').Item) => boolean} */ isOne,
) {
  /** @type {import('./plans.js').Item[][]} */
  const groups = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last && isOne(last[last.length - 1], item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

const sum = (/** @type {{ minutes: number }[]} */ parts) =>
  Math.round(parts.reduce((total, { minutes }) => total + minutes, 0));

function lineOf(
  /** @type {Row} */ { fromMinute, minutes, words, isHead },
  /** @type {number} */ start,
) {
  const indent = isHead ? '' : '  ';
  const text = `${indent}${words}`.padEnd(WIDTH);
  return `  ${clock(start + fromMinute)}  ${text} ${String(minutes).padStart(3)} min`;
}

function preparation(/** @type {Need[]} */ needs) {
  const lines = needs.map(({ key, title, install, isHere }) => {
    const state = isHere ? 'it is installed here' : `here it is not: ${install}`;
    return `  - ${title} for lesson ${Number(key.slice(0, 2))}; ${state}`;
  });
  return ['  To prepare, on every machine:', '  - Node.js, and npm ci in the repository', ...lines];
}

function clock(/** @type {number} */ minutes) {
  const [hour, minute] = split(minutes);
  return `${hour % 24}:${String(minute).padStart(2, '0')}`.padStart(5);
}

function hours(/** @type {number} */ minutes) {
  const [hour, minute] = split(minutes);
  return `${hour} h ${minute} min`;
}

function split(/** @type {number} */ minutes) {
  const whole = Math.round(minutes);
  return [Math.floor(whole / 60), whole % 60];
}
