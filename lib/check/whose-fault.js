/**
 * Whose fault it is that something did not come in time: before the machine is blamed, what the program's own processes did in
 * that very interval is looked at.
 *
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {import('../observe/own-work.js').Span} Span
 * @typedef {import('../verdict/outcome.js').Story} Story
 * @typedef {import('../measure/conditions.js').Crowd} Crowd
 */
import { shareOf } from '../observe/own-work.js';
import { Broken, Missing, Undecided } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';

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
 * @param {Partial<Crowd>} [seen.machine]  who wanted the cores then
 * @returns {Broken | Undecided}
 */
export function verdictOnMissing(story, { programs, isAgain = false, machine = {} }) {
  const own = programs
    .map((program) => program.ownWork({ spans: spansIn(story, program) }))
    .find(Boolean);
  if (own) return new Broken({ ...story, ...blockedByOwnWork(own) });
  const isWeather = isAgain && hadWeather(story, machine);
  return isWeather ? new Undecided({ got: '', ...story, ...TOO_BUSY }) : new Missing(story);
}

/** Where the length of a moment decides, that is the interval. @returns {Span[]} */
function spansIn(/** @type {Story} */ { shows }, /** @type {Program | undefined} */ program) {
  if (!shows?.byLength || shows.program !== program) return [];
  return shows.moments.flatMap((one) =>
    one?.toMs === undefined ? [] : [{ pid: one.pid, fromMs: one.t, toMs: one.toMs }],
  );
}

/** Did the process wait for a core while it took too long? Where the length of no moment decides, the whole machine has to tell. */
function hadWeather(/** @type {Story} */ story, /** @type {Partial<Crowd>} */ machine) {
  const { isCrowded = false, areOthers, isStolen } = machine;
  const program = /** @type {Program | undefined} */ (story.shows?.program);
  const spans = spansIn(story, program);
  if (isStolen || !program || spans.length === 0) return isStolen || isCrowded;
  const stretches = program.stretches();
  if (!stretches.some(({ queuedMs }) => queuedMs > 0)) return isCrowded; // the system does not tell
  const shares = spans.map((span) => shareOf(stretches, span)).map((s) => s.queuedMs / s.ms);
  const waited = Math.max(...shares);
  return isCrowded ? waited >= UNTOUCHED : Boolean(areOthers) && waited >= WAITED;
}
