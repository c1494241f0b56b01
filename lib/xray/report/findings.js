/**
 * All findings about a server, worst first. A finding that a busy machine may have caused, that occurred too seldom, or that the
 * owner may intend has a doubt: it is undecided. Pure.
 * @typedef {import('./facts.js').Facts} Facts
 * @typedef {{ id: string, weight: number, says: string, evidence: string[], doubt?: string, see?: [lesson: number, experiment: string],
 *   moments?: { pid: number, t: number, toMs?: number, says: string }[] }} Finding  weight: larger is worse; says: one sentence;
 *   evidence: pid, request, time; doubt: a full sentence; moments: in the timeline
 */
import { loopFindings } from './findings-loops.js';
import { processFindings } from './findings-processes.js';
import { failedIn, requestFindings } from './findings-requests.js';

const MOST_UNEXPLAINED = 0.01; // of the requests
const EXPLAIN = new Set(['crash', 'hangs', 'lost', 'unanswered', 'not-taken', 'errors', 'behind']);

/** The findings of a look at a server under load. @param {Facts} facts @returns {Finding[]} */
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

/** Many requests failed, and no finding explains them. @param {Facts} facts @param {Finding[]} found @returns {Finding[]} */
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
      doubt: 'The cause was not seen.',
    },
  ];
}
