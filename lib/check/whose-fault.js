/**
 * Whose fault it is that something did not come in time: before the machine is blamed, what the program's own processes did in
 * that very interval is looked at.
 *
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {import('../observe/own-work.js').Span} Span
 * @typedef {import('../verdict/outcome.js').Story} Story
 */
import { shareOf } from '../observe/own-work.js';
import { Broken, Missing, Undecided } from '../verdict/outcome.js';
import { storyOfWork } from '../verdict/own-work.js';

const WAITED = 0.25; // of a moment: a right program would have been in time without it
const UNTOUCHED = 0.1; // of a moment: so little of it was spent in waiting for a core that others made no difference

const TOO_BUSY = {
  why: 'The machine is too busy: what did not come in time, twice, may still have been on its way.',
  try: 'close other programs, then check again',
};

/**
 * What a promise comes to when something is missing for good.
 * @param {Story} story  what was missing
 * @param {object} seen
 * @param {Program[]} seen.programs  of the learner, that were looked at
 * @param {boolean} [seen.isAgain]  it was missing twice: the machine was not idle
 * @param {boolean} [seen.isCrowded]  others took so much of the machine that what was missing may have been on its way
 * @returns {Broken | Undecided}
 */
export function verdictOnMissing(story, { programs, isAgain = false, isCrowded = false }) {
  const own = programs
    .map((program) => program.ownWork({ spans: spansIn(story, program) }))
    .find(Boolean);
  if (own) return new Broken({ ...story, ...storyOfWork(own) });
  const isWeather = isAgain && hadWeather(story, isCrowded);
  return isWeather ? new Undecided({ got: '', ...story, ...TOO_BUSY }) : new Missing(story);
}

/** A moment that lasted is the interval itself. @returns {Span[]} */
function spansIn(/** @type {Story} */ { shows }, /** @type {Program | undefined} */ program) {
  if (!shows || (program && shows.program !== program)) return [];
  return shows.moments.flatMap((one) =>
    one?.toMs === undefined ? [] : [{ pid: one.pid, fromMs: one.t, toMs: one.toMs }],
  );
}

/** Did the process wait for a core in the moment that decides? Where there is none, the whole machine has to tell. */
function hadWeather(/** @type {Story} */ story, /** @type {boolean} */ isCrowded) {
  const program = /** @type {Program | undefined} */ (story.shows?.program);
  const spans = spansIn(story, program);
  if (!program || spans.length === 0) return isCrowded;
  const stretches = program.stretches();
  const shares = spans.map((span) => shareOf(stretches, span)).map((s) => s.queuedMs / s.ms);
  return Math.max(...shares) >= (isCrowded ? UNTOUCHED : WAITED);
}
