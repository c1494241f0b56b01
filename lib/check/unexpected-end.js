/**
 * What an error in the middle of a check really says. A check expects a program that lives, and a machine that has enough for
 * both; where one is missing, an error is not what it seems.
 */
import { Stranger } from '../observe/program.js';
import { Shortage, noteShortage, shortOf, shortageIn } from '../observe/shortage.js';
import { explainNotReady, explainStranger } from '../verdict/diagnosis.js';
import { Broken, Missing, Undecided, momentOf } from '../verdict/outcome.js';
import { whyOfCrash } from '../verdict/thrown.js';

/** @typedef {import('../observe/program.js').Program} Program */

const EXPECTED = 'The program goes on until the check ends it.';
const OUTCOMES = [Broken, Undecided, Shortage];

/** A demand threw this by mistake. It only looks at what was seen, so no end of a program is the reason. */
export class DemandFault extends Error {
  /** @param {unknown} cause */
  constructor(cause) {
    super(String(cause), { cause });
    this.name = 'DemandFault';
  }
}

/** Does it say what a promise has come to? Else it is a fault of ours. @param {unknown} error */
export const isOutcome = (error) => OUTCOMES.some((kind) => error instanceof kind);

/**
 * @param {unknown} error  what a look or a demand threw
 * @param {object} seen
 * @param {Program[]} seen.programs  those of the learner that the look may have looked at
 * @param {() => Shortage | undefined} seen.shortage  what the check itself was short of
 * @param {(program: Program) => Parameters<typeof explainNotReady>[0]} seen.factsOf
 * @returns {any}  what is to be told: a failure was no failure where something was short, and what would be a fault of
 *   a look is the program's where it ended unasked; else the error itself
 */
export function meaningOf(error, { programs, shortage, factsOf }) {
  if (error instanceof DemandFault) return error.cause;
  if (error instanceof Stranger) return explainStranger(error.pid);
  const isThere = error instanceof Broken && !(error instanceof Missing);
  const excess = programs.find(({ fate }) => fate?.kind === 'excess');
  if (excess && !isThere) return explainNotReady(factsOf(excess), EXPECTED); // for that the rest is missing
  if (isOutcome(error) && !(error instanceof Broken)) return error;
  if (!isOutcome(error)) noteShortage(error);
  const short = shortage() ?? programs.map(shortageOf).find(Boolean); // the cause before what came of it: a keeper that is gone
  if (short) return short;
  if (isOutcome(error)) return error;
  return programs.map((program) => endOf(program, factsOf)).find(Boolean) ?? error;
}

/** What a program lacked, or what watches over it. @returns {Shortage | undefined} */
function shortageOf(/** @type {Program} */ program) {
  const { fate, events } = program;
  if (fate?.kind === 'orphaned') return hasKilledKeeper(events) ? undefined : shortOf('KEEPER');
  const crashes = events.filter(({ what }) => what === 'crash').map((event) => event.error);
  return shortageIn([fate?.error, program.output(), ...crashes].join('\n'));
}

/** Did a process of the program signal the one that had started it? The probe tells of that before it is done. */
const hasKilledKeeper = (/** @type {import('../observe/timeline.js').Event[]} */ events) =>
  events.some(({ what, target }) => what === 'kill' && target === 'keeper');

/** How a program that had listened ended, or a process of it, though the check had not asked for it. @returns {Broken | undefined} */
function endOf(/** @type {Program} */ program, factsOf) {
  const { events, toldMs, hasEndedUnasked } = program;
  const hasListened = events.some(({ what }) => what === 'listening');
  if (hasEndedUnasked && hasListened) return explainNotReady(factsOf(program), EXPECTED);
  const crash = events.find(({ what }) => what === 'crash');
  const exit = events.find(
    ({ what, t, planned }) => what === 'worker-exit' && t < toldMs && !planned,
  );
  if (!crash && !exit) return undefined;
  const how = exit?.signal ? `by ${exit.signal}` : `with exit code ${exit?.code}`;
  return new Broken({
    expected: EXPECTED,
    got: exit
      ? `Its worker ${exit.workerPid} ended ${how} in the middle of the check.`
      : 'One of its processes threw an error in the middle of the check.',
    why: whyOfCrash(events),
    shows: { program, moments: [momentOf(crash, 'throws'), momentOf(exit, 'ended')] },
  });
}
