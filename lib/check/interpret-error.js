/** Interprets an error in the middle of a check: a program that exited, or a machine short of something, can look like any error. */
import { Stranger } from '../observe/program.js';
import { Shortage, noteShortage, shortOf, shortageIn } from '../observe/shortage.js';
import { explainNotReady, explainStranger } from '../verdict/startup-failure.js';
import { Broken, Missing, Undecided, momentOf } from '../verdict/outcome.js';
import { describeCrash } from '../verdict/thrown-errors.js';

/** @typedef {import('../observe/program.js').Program} Program */

const EXPECTED = 'The program runs until the check stops it.';
const OUTCOMES = [Broken, Undecided, Shortage];

/** A demand threw this by mistake. Demands only judge what the looks saw, so no exit of a program is the reason. */
export class DemandFault extends Error {
  constructor(cause) {
    super(String(cause), { cause });
    this.name = 'DemandFault';
  }
}

/** Does it decide a promise? Any other error is a bug of ours. @param {unknown} error */
export const isOutcome = (error) => OUTCOMES.some((kind) => error instanceof kind);

/**
 * @param {unknown} error  thrown by a look or a demand
 * @param {{ programs: Program[], shortage: () => Shortage | undefined, factsOf: (program: Program) => Parameters<typeof explainNotReady>[0] }} seen
 *   programs: the learner's, as far as the look used them; shortage: of the check itself
 * @returns {any}  a Shortage instead of a failure; Broken instead of a bug of ours, if the program exited unasked; else the error
 */
export function interpretError(error, { programs, shortage, factsOf }) {
  if (error instanceof DemandFault) return error.cause;
  if (error instanceof Stranger) return explainStranger(error.pid);
  const isThere = error instanceof Broken && !(error instanceof Missing);
  const excess = programs.find(({ fate }) => fate?.kind === 'excess');
  if (excess && !isThere) return explainNotReady(factsOf(excess), EXPECTED); // the program was killed for its excess, so the rest is missing
  if (isOutcome(error) && !(error instanceof Broken)) return error;
  if (!isOutcome(error)) noteShortage(error);
  const short = shortage() ?? programs.map(shortageOf).find(Boolean); // a shortage is the cause, a missing keeper its consequence
  if (short) return short;
  if (isOutcome(error)) return error;
  return programs.map((program) => endOf(program, factsOf)).find(Boolean) ?? error;
}

/** @returns {Shortage | undefined}  of the program, or of its keeper */
function shortageOf(/** @type {Program} */ program) {
  const { fate, events } = program;
  if (fate?.kind === 'orphaned') return hasKilledKeeper(events) ? undefined : shortOf('KEEPER');
  const crashes = events.filter(({ what }) => what === 'crash').map((event) => event.error);
  return shortageIn([fate?.error, program.output(), ...crashes].join('\n'));
}

/** Has a process of the program killed its own keeper? The probe reports a signal before it sends it. */
const hasKilledKeeper = (/** @type {import('../observe/timeline.js').Event[]} */ events) =>
  events.some(({ what, target }) => what === 'kill' && target === 'keeper');

/** The unasked exit of a listening program, or of one of its processes. @returns {Broken | undefined} */
function endOf(/** @type {Program} */ program, factsOf) {
  const { events, firstSignalMs, hasEndedUnasked } = program;
  const hasListened = events.some(({ what }) => what === 'listening');
  if (hasEndedUnasked && hasListened) return explainNotReady(factsOf(program), EXPECTED);
  const crash = events.find(({ what }) => what === 'crash');
  const exit = events.find(
    ({ what, t, planned }) => what === 'worker-exit' && t < firstSignalMs && !planned,
  );
  if (!crash && !exit) return undefined;
  const how = exit?.signal ? `was killed by ${exit.signal}` : `exited with exit code ${exit?.code}`;
  return new Broken({
    expected: EXPECTED,
    got: exit
      ? `Its worker ${exit.workerPid} ${how} in the middle of the check.`
      : 'One of its processes threw an error in the middle of the check.',
    why: describeCrash(events),
    shows: { program, moments: [momentOf(crash, 'throws'), momentOf(exit, 'exits')] },
  });
}
