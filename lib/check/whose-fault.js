/**
 * Who is to blame for what is missing or late: the program, if its own work kept the event loop busy then, otherwise perhaps the machine.
 * @typedef {import('../observe/program.js').Program} Program @typedef {import('../observe/own-work.js').Span} Span
 * @typedef {import('../verdict/outcome.js').Story} Story @typedef {import('../measure/conditions.js').Crowd} Crowd
 */
import { workWithin } from '../observe/own-work.js';
import { Broken, Missing, Undecided } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';
import { namesCrash } from '../verdict/thrown-errors.js';

const WAITED = 0.25; // share of an interval spent waiting for a core, beside other programs
const UNTOUCHED = 0.1; // the same share, on a crowded machine

const TOO_BUSY = {
  why: 'The machine is too busy: what was late, twice, may only have been delayed.',
  try: 'close other programs, then check again',
};

/**
 * @param {Story} story  what was missing
 * @param {{ programs: Program[], isAgain?: boolean, machine?: Partial<Crowd> }} seen  programs: the learner's; isAgain: missing twice, on a
 *   machine that wasn't idle; machine: its load at the second attempt
 * @returns {Broken | Undecided}
 */
export function verdictOnMissing(story, { programs, isAgain = false, machine = {} }) {
  const own = programs
    .map((program) => program.ownWork({ spans: spansIn(story, program) }))
    .find(Boolean);
  if (own) return new Broken({ ...story, ...blockedByOwnWork(own) });
  const isUndecided = isAgain && !isCertain(story) && isMachineToBlame(story, machine);
  return isUndecided ? new Undecided({ got: '', ...story, ...TOO_BUSY }) : new Missing(story);
}

/** A busy machine throws no errors: after a crash nothing that is missing is only late. @param {Story} story */
export const isCertain = ({ why }) => namesCrash(why);

/** The intervals whose length decides. @returns {Span[]} */
function spansIn(/** @type {Story} */ { shows }, /** @type {Program | undefined} */ program) {
  if (!shows?.byLength || shows.program !== program) return [];
  return shows.moments.flatMap((one) =>
    one?.toMs === undefined ? [] : [{ pid: one.pid, fromMs: one.t, toMs: one.toMs }],
  );
}

/** Was it the machine? If the length of an interval decides, only waits for a core in that interval count. */
function isMachineToBlame(/** @type {Story} */ story, /** @type {Partial<Crowd>} */ machine) {
  const { isCrowded = false, areOthers, isStolen } = machine;
  const program = /** @type {Program | undefined} */ (story.shows?.program);
  const spans = spansIn(story, program);
  if (isStolen || !program || spans.length === 0) return isStolen || isCrowded;
  const stretches = program.stretches();
  if (!stretches.some(({ queuedMs }) => queuedMs > 0)) return isCrowded; // this system doesn't report waits for a core
  const shares = spans.map((span) => workWithin(stretches, span)).map((s) => s.queuedMs / s.ms);
  const waited = Math.max(...shares);
  return isCrowded ? waited >= UNTOUCHED : Boolean(areOthers) && waited >= WAITED;
}
