/**
 * The plans that the slides can be taught by, computed from their minutes: a half day, a full day, two days. Every exercise
 * has its full minutes, and there is a break after 75 to 90 minutes, inside a chapter if need be.
 *
 * @typedef {object} Item  a slide or a break, in the order of the day
 * @property {'talk' | 'demo' | 'do' | 'break' | 'lunch'} kind
 * @property {string} title
 * @property {number} minutes
 * @property {number} fromMinute  since the beginning of the day
 * @property {string} [id]  of a slide
 * @property {string} [key]  of its chapter
 *
 * @typedef {object} Day
 * @property {string} name  half, full, day-1, day-2
 * @property {string} title
 * @property {string} lessons  which, in words
 * @property {string[]} keys  the chapters
 * @property {number} minutes  with its breaks
 * @property {Item[]} items
 */
const SHORTEST = 75; // minutes between two breaks
const LONGEST = 90;
const REST = 30; // less than that is not worth coming back for
const BREAK = /** @type {const} */ ({ kind: 'break', title: 'Break', minutes: 15 });
const LUNCH = /** @type {const} */ ({ kind: 'lunch', title: 'Lunch', minutes: 60 });
const LUNCH_AFTER = 150;
const OPENING = 0;
const CLOSING = 99;
const among = (/** @type {number[]} */ ...numbers) => numbers.includes.bind(numbers);

/** @type {{ name: string, title: string, lessons: string, has: (number: number) => boolean, hasLunch: boolean }[]} */
const DAYS = [
  {
    name: 'half',
    title: 'Half day',
    lessons: 'lessons 1, 2 and 5',
    has: among(OPENING, 1, 2, 5, CLOSING),
    hasLunch: false,
  },
  {
    name: 'full',
    title: 'Full day',
    lessons: 'lessons 1, 2, 3, 5 and 8',
    has: among(OPENING, 1, 2, 3, 5, 8, CLOSING),
    hasLunch: true,
  },
  {
    name: 'day-1',
    title: 'Two days, the first',
    lessons: 'lessons 1 to 6',
    has: (number) => number <= 6,
    hasLunch: true,
  },
  {
    name: 'day-2',
    title: 'Two days, the second',
    lessons: 'the lessons from 7 on',
    has: (number) => number > 6,
    hasLunch: true,
  },
];

/** The names of all plans' days. */
export const dayNames = DAYS.map(({ name }) => name);

/**
 * @param {import('./deck.js').Chapter[]} chapters
 * @returns {Day[]}  those that have a chapter
 */
export function planDays(chapters) {
  return DAYS.map(({ name, title, lessons, has, hasLunch }) => {
    const taught = chapters.filter(({ key }) => has(Number(key.slice(0, 2))));
    const slides = taught.flatMap(({ key, slides: all }) => all.map((slide) => itemOf(slide, key)));
    const items = timed(slides, breaksBefore(slides), hasLunch);
    const last = items.at(-1);
    const minutes = last ? last.fromMinute + last.minutes : 0;
    return { name, title, lessons, keys: taught.map(({ key }) => key), minutes, items };
  }).filter(({ items }) => items.length > 0);
}

/** @typedef {Omit<Item, 'fromMinute'>} Untimed */

/** @returns {Untimed} */
function itemOf(/** @type {import('./deck.js').Slide} */ slide, /** @type {string} */ key) {
  const { id, heading, minutes } = slide;
  return { kind: kindOf(slide), title: heading, minutes, id, key };
}

/**
 * What is done while a slide is shown.
 * @param {Pick<import('./deck.js').Slide, 'heading' | 'demos'>} slide
 * @returns {'talk' | 'demo' | 'do'}
 */
export function kindOf({ heading, demos }) {
  if (/^Your turn\b/.test(heading)) return 'do';
  return demos.length > 0 ? 'demo' : 'talk';
}

/** Each with the minute at which it begins, and with the breaks between them; one of these is lunch. */
function timed(
  /** @type {Untimed[]} */ slides,
  /** @type {number[]} */ breaks,
  /** @type {boolean} */ hasLunch,
) {
  /** @type {Item[]} */
  const items = [];
  let [fromMinute, isLunchDue] = [0, hasLunch];
  const add = (/** @type {Untimed} */ item) => {
    items.push({ ...item, fromMinute });
    fromMinute += item.minutes;
  };
  for (const [index, slide] of slides.entries()) {
    if (breaks.includes(index)) {
      const isLunch = isLunchDue && fromMinute >= LUNCH_AFTER;
      add(isLunch ? LUNCH : BREAK);
      isLunchDue &&= !isLunch;
    }
    add(slide);
  }
  return items;
}

/**
 * The slides before which there is a break: of all ways to place them the one with the least against it.
 * @returns {number[]}
 */
function breaksBefore(/** @type {Untimed[]} */ slides) {
  /** Up to each slide: what is against the best way, and its breaks. */
  const best = [{ fault: 0, breaks: /** @type {number[]} */ ([]) }];
  for (let to = 1; to <= slides.length; to += 1) {
    let minutes = 0;
    best[to] = { fault: Infinity, breaks: [] };
    for (let from = to - 1; from >= 0; from -= 1) {
      minutes += slides[from].minutes;
      if (minutes > LONGEST && from < to - 1) break;
      const fault = best[from].fault + faultOf(slides, to, minutes);
      const breaks = from > 0 ? [...best[from].breaks, from] : [];
      if (fault < best[to].fault) best[to] = { fault, breaks };
    }
  }
  return best[slides.length].breaks;
}

/** What is against going on without a break for so many minutes, and having one before this slide. */
function faultOf(
  /** @type {Untimed[]} */ slides,
  /** @type {number} */ to,
  /** @type {number} */ minutes,
) {
  if (to === slides.length) return Math.max(0, REST - minutes);
  const tooShort = 100 * Math.max(0, SHORTEST - minutes);
  const [before, after] = [slides[to - 1], slides[to]];
  if (before.key !== after.key) return tooShort;
  return tooShort + ([before, after].some(({ kind }) => kind === 'do') ? 6 : 12);
}
