/**
 * The timetable of a day, computed from its slides' minutes: there is a break after 75 to 90 minutes, inside a chapter if need be.
 *
 * @typedef {object} Item  a slide or a break, in the order of the day
 * @property {'talk' | 'demo' | 'do' | 'break' | 'lunch'} kind
 * @property {string} title
 * @property {number} minutes
 * @property {number} fromMinute  since the beginning of the day
 * @property {string} [id]  of a slide
 * @property {string} [key]  of its chapter
 */
const SHORTEST = 75; // minutes between two breaks
const LONGEST = 90;
const REST = 30; // less than that is not worth coming back for
const BREAK = /** @type {const} */ ({ kind: 'break', title: 'Break', minutes: 15 });
const LUNCH = /** @type {const} */ ({ kind: 'lunch', title: 'Lunch', minutes: 60 });
const LUNCH_AFTER = 150;

/**
 * @param {import('./read-deck.js').Chapter[]} chapters
 * @param {boolean} hasLunch
 * @returns {Item[]}
 */
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

/**
 * What is done while a slide is shown: `do` is in the class's hands.
 * @param {Pick<import('./read-deck.js').Slide, 'heading' | 'demos'>} slide
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
