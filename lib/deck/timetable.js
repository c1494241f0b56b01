/**
 * The timetable of a day, computed from its slides' minutes, with a break every 75 to 90 minutes, if need be inside a chapter.
 *
 * @typedef {object} Item  a slide or a break, in the order of the day
 * @property {'talk' | 'demo' | 'do' | 'break' | 'lunch'} kind
 * @property {string} title
 * @property {number} minutes
 * @property {number} fromMinute  since the beginning of the day
 * @property {string} [id]  of a slide
 * @property {string} [key]  of its chapter
 */
const SHORTEST = 75; // minutes without a break
const LONGEST = 90;
const REST = 30; // the least after the last break
const BREAK = /** @type {const} */ ({ kind: 'break', title: 'Break', minutes: 15 });
const LUNCH = /** @type {const} */ ({ kind: 'lunch', title: 'Lunch', minutes: 60 });
const LUNCH_AFTER = 150;

/** @param {import('./read-deck.js').Chapter[]} chapters  @param {boolean} hasLunch  @returns {Item[]} */
export function timetableOf(chapters, hasLunch) {
  const slides = chapters.flatMap(({ key, slides: all }) => all.map((slide) => itemOf(slide, key)));
  return timed(slides, breaksBefore(slides), hasLunch);
}

/** @typedef {Omit<Item, 'fromMinute'>} Untimed */

/** @returns {Untimed} */
function itemOf(/** @type {import('./read-deck.js').Slide} */ slide, /** @type {string} */ key) {
  const { id, heading, minutes } = slide;
  return { kind: kindOf(slide), title: heading, minutes, id, key };
}

/** do: the class works. @param {{ heading: string, demos: string[] }} slide  @returns {'talk' | 'demo' | 'do'} */
export function kindOf({ heading, demos }) {
  if (/^Your turn\b/.test(heading)) return 'do';
  return demos.length > 0 ? 'demo' : 'talk';
}

/** Adds the breaks, one of which is lunch, and the minute at which each item begins. */
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

/** The indexes of slides after a break, placed with the least sum of faults. @returns {number[]} */
function breaksBefore(/** @type {Untimed[]} */ slides) {
  /** For the slides before each index: the least fault, and its breaks. */
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

/** Rates a stretch of that many minutes that ends with a break before slide `to`. */
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
