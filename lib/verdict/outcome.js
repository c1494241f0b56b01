/**
 * What a promise can come to. A check throws one of these where a promise does not simply hold.
 *
 * @typedef {'passed' | 'failed' | 'inconclusive' | 'skipped'} Verdict  skipped: not reached, because an earlier one failed
 *
 * @typedef {object} PromiseRecord
 * @property {string} id
 * @property {number} task  the number that its task has in the text
 * @property {string} sentence
 * @property {Verdict} verdict
 * @property {string} [expected]
 * @property {string} [got]
 * @property {string} [why]
 * @property {string} [try]  a command or a change to try
 * @property {string} [output]  what the program that decided it printed, where it does not hold
 * @property {{ program: number, moments: Moment[] }} [shows]  what decided it: in which program of the check, and when
 *
 * @typedef {object} Moment  one that decided a promise
 * @property {number} pid  the process in which it happened
 * @property {number} t  on the timeline's clock
 * @property {number} [toMs]  its end, of what lasted
 * @property {string} says  in a few words
 * @property {string} [what]  the kind of event that the timeline has there
 *
 * @typedef {object} Story  in full sentences
 * @property {string} [expected]
 * @property {string} [got]
 * @property {string} [why]
 * @property {string} [try]
 * @property {string} [output]
 * @property {Shows} [shows]
 *
 * @typedef {{ program: object, moments: (Moment | undefined)[], byLength?: boolean }} Shows  program: as launch() gave it; a
 *   moment that is not there is left out; byLength: how long it lasted is what decides
 */

/** The learner's program does not do what was promised. */
export class Broken extends Error {
  /** @param {Story} story */
  constructor(story) {
    super(story.got);
    this.name = 'Broken';
    this.story = story;
  }
}

/** Throws Broken unless it holds. @param {unknown} holds @param {ConstructorParameters<typeof Broken>[0]} story */
export function demand(holds, story) {
  if (!holds) throw new Broken(story);
}

/**
 * Something did not come, or came late. On a machine that others use it may still have been on its way: the session makes the
 * scene once more, with a fresh program, before this becomes a failure.
 */
export class Missing extends Broken {}

/**
 * Throws Missing unless it holds: for a demand that waiting longer could have met. A wrong answer, an event too many, a wrong
 * exit code are there to be seen: use demand() for those.
 * @param {unknown} holds @param {ConstructorParameters<typeof Broken>[0]} story
 */
export function demandInTime(holds, story) {
  if (!holds) throw new Missing(story);
}

/** It cannot be decided here and now; the machine is the cause, not the learner. */
export class Undecided extends Error {
  /** @param {Story & { got: string, why: string, try: string }} story */
  constructor(story) {
    super(story.got);
    this.name = 'Undecided';
    this.story = story;
  }
}

/**
 * The moment of an event, or of a request, to be marked in an X-ray.
 * @param {{ pid: number, t?: number, startMs?: number, endMs?: number } | undefined} seen  undefined: there is none
 * @param {string} says  in a few words
 * @returns {Moment | undefined}
 */
export function momentOf(seen, says) {
  const t = seen?.t ?? seen?.startMs;
  if (!seen || t === undefined) return undefined;
  const { pid, endMs: toMs } = seen;
  return toMs === undefined ? { pid, t, says } : { pid, t, toMs, says };
}

/** A record's story in words, a line for each part. @param {Partial<PromiseRecord>} record @returns {string} */
export function asText({ expected, got, why, try: command }) {
  const parts = Object.entries({ expected, got, why, try: command });
  return parts.flatMap(([name, text]) => (text ? [`${name}: ${text}`] : [])).join('\n');
}

/** Exit codes; 2, usage, is the command line's. */
export const EXIT_CODES = { passed: 0, failed: 1, inconclusive: 3 };

/**
 * The verdict on a lesson: failed if any promise is, else inconclusive if any is or none was decided, else passed.
 * @param {Verdict[]} verdicts
 * @returns {'passed' | 'failed' | 'inconclusive'}
 */
export function verdictOf(verdicts) {
  if (verdicts.includes('failed')) return 'failed';
  const isWhole = verdicts.length > 0 && verdicts.every((verdict) => verdict === 'passed');
  return isWhole ? 'passed' : 'inconclusive';
}
