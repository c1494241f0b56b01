/**
 * A check throws Broken, Missing or Undecided unless the promise holds.
 * @typedef {'passed' | 'failed' | 'inconclusive' | 'skipped'} Verdict  skipped: it depends on a promise that failed
 * @typedef {{ expected?: string, got?: string, why?: string, try?: string, output?: string }} Words  sentences; output: what the
 *   deciding program printed
 * @typedef {Words & { shows?: Shows }} Story
 * @typedef {Words & { id: string, task: number, sentence: string, verdict: Verdict, shows?: Shown }} PromiseRecord
 * @typedef {{ program: number, moments: Moment[] }} Shown  which program of the check, and when
 * @typedef {{ program: object, moments: (Moment | undefined)[], byLength?: boolean }} Shows  byLength: the moment's length decides
 * @typedef {{ pid: number, t: number, toMs?: number, says: string, what?: string }} Moment  t, toMs: its begin and end in ms, on the
 *   timeline's clock; says: in a few words; what: the kind of the timeline's event
 */

/** The learner's program breaks a promise. */
export class Broken extends Error {
  /** @param {Story} story */
  constructor(story) {
    super(story.got);
    this.name = 'Broken';
    this.story = story;
  }
}

/** @param {unknown} holds @param {Story} story @throws {Broken}  unless it holds */
export function demand(holds, story) {
  if (!holds) throw new Broken(story);
}

/** Something is missing or late. On a busy machine the session repeats the look with a fresh program before this is a failure. */
export class Missing extends Broken {}

/**
 * For a demand that a longer wait could have met; a wrong answer, an event too many or a wrong exit code needs demand().
 * @param {unknown} holds @param {Story & { isFinal?: unknown }} story  isFinal: no wait would have been long enough, for
 *   example because the program rests
 * @throws {Missing | Broken}  unless it holds; Broken if this is final
 */
export function demandInTime(holds, { isFinal = false, ...story }) {
  if (!holds) throw isFinal ? new Broken(story) : new Missing(story);
}

/**
 * The row of a table of faults whose condition the facts meet first; empty if there is none.
 * @param {readonly (readonly any[])[]} faults  each begins with its condition, a function @param {any} facts @returns {readonly any[]}
 */
export const firstOf = (faults, facts) => faults.find(([isSo]) => isSo(facts)) ?? [];

/** The promise can't be decided here and now, because of the machine rather than the program. */
export class Undecided extends Error {
  /** @param {Story & { got: string, why: string, try: string }} story */
  constructor(story) {
    super(story.got);
    this.name = 'Undecided';
    this.story = story;
  }
}

/**
 * @param {{ pid: number, t?: number, startMs?: number, endMs?: number } | undefined} seen  an event or a request
 * @param {string} says  in a few words @returns {Moment | undefined}
 */
export function momentOf(seen, says) {
  const t = seen?.t ?? seen?.startMs;
  if (!seen || t === undefined) return undefined;
  const { pid, endMs: toMs } = seen;
  return toMs === undefined ? { pid, t, says } : { pid, t, toMs, says };
}

/** A line for each part of a story. @param {Partial<PromiseRecord>} record @returns {string} */
export function asText({ expected, got, why, try: command }) {
  const parts = Object.entries({ expected, got, why, try: command });
  return parts.flatMap(([name, text]) => (text ? [`${name}: ${text}`] : [])).join('\n');
}

/** Exit code 2 is left for wrong usage. */
export const EXIT_CODES = { passed: 0, failed: 1, inconclusive: 3 };

/** Failed if a promise failed, passed if all passed. @param {Verdict[]} verdicts @returns {'passed' | 'failed' | 'inconclusive'} */
export function verdictOf(verdicts) {
  if (verdicts.includes('failed')) return 'failed';
  const isWhole = verdicts.length > 0 && verdicts.every((verdict) => verdict === 'passed');
  return isWhole ? 'passed' : 'inconclusive';
}
