/**
 * What a colleague would say after a look at a server, worst first. Pure. Each finding rests on what was observed. What a busy
 * machine may have caused, what was seen too seldom, and what the owner may have meant, is not decided: it is said with its
 * doubt, and is neither a finding nor an acquittal.
 *
 * @typedef {import('./facts.js').Facts} Facts
 *
 * @typedef {object} Finding
 * @property {string} id
 * @property {number} weight  the more, the worse
 * @property {string} says  one sentence
 * @property {string[]} evidence  pid, request, time
 * @property {string} [doubt]  why this is not decided, in a full sentence
 * @property {{ pid: number, t: number, toMs?: number, says: string }[]} [moments]  where it is to be seen in the timeline
 * @property {[lesson: number, experiment: string]} [see]  the lesson that explains it, and its experiment that shows it
 */
import { loopFindings } from './findings-loops.js';
import { processFindings } from './findings-processes.js';
import { failedIn, requestFindings } from './findings-requests.js';

const MOST_UNEXPLAINED = 0.01; // of the requests
const EXPLAIN = new Set(['crash', 'hangs', 'lost', 'unanswered', 'not-taken', 'errors', 'behind']);

/** What a look at a server under load finds. @param {Facts} facts @returns {Finding[]} */
export function findingsOf(facts) {
  const found = [...processFindings(facts), ...requestFindings(facts), ...loopFindings(facts)];
  return sorted([...found, ...unexplained(facts, found)]);
}

/** @param {Finding[]} findings */
export const sorted = (findings) => findings.sort((a, b) => b.weight - a.weight);

/** @param {Finding[]} all @returns {{ findings: Finding[], undecided: Finding[] }} */
export const sift = (all) => ({
  findings: all.filter(({ doubt }) => doubt === undefined),
  undecided: all.filter(({ doubt }) => doubt !== undefined),
});

/**
 * More requests failed than can be passed over, and no finding says why: then the server is not acquitted.
 * @param {Facts} facts
 * @param {Finding[]} found
 * @returns {Finding[]}
 */
export function unexplained(facts, found) {
  const { requests } = facts.report;
  const failed = failedIn(facts.report);
  const isToldOf = found.some(({ id }) => EXPLAIN.has(id));
  if (isToldOf || failed <= MOST_UNEXPLAINED * requests) return [];
  return [
    {
      id: 'unexplained',
      weight: 10,
      says: `${failed} of ${requests} requests failed or were left unanswered.`,
      evidence: [],
      doubt: 'What did that was not seen.',
    },
  ];
}
