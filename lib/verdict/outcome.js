/**
 * What a promise can come to. A check throws one of these where a promise does not simply hold.
 *
 * @typedef {'passed' | 'failed' | 'inconclusive' | 'skipped'} Verdict  skipped: not reached, because an earlier one failed
 *
 * @typedef {object} PromiseRecord
 * @property {string} id
 * @property {string} sentence
 * @property {Verdict} verdict
 * @property {string} [expected]
 * @property {string} [got]
 * @property {string} [why]
 * @property {string} [try]  a command or a change to try
 * @property {string} [output]  what the program of this promise printed, when it is not the check's first
 */

/** The learner's program does not do what was promised. */
export class Broken extends Error {
  /** @param {{ expected?: string, got?: string, why?: string, try?: string, output?: string }} story  in full sentences */
  constructor(story) {
    super(story.got);
    this.name = 'Broken';
    this.story = story;
  }
}

/**
 * Throws Broken unless it holds.
 * @param {unknown} holds
 * @param {ConstructorParameters<typeof Broken>[0]} story
 */
export function demand(holds, story) {
  if (!holds) throw new Broken(story);
}

/** It cannot be decided here and now; the machine is the cause, not the learner. */
export class Undecided extends Error {
  /** @param {{ expected?: string, got: string, why: string, try: string }} story */
  constructor(story) {
    super(story.got);
    this.name = 'Undecided';
    this.story = story;
  }
}

/**
 * A record's story in words, a line for each part.
 * @param {Partial<PromiseRecord>} record
 * @returns {string}
 */
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
