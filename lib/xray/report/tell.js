/**
 * The facts in sections, for a terminal of 80 columns or the page. Pure; the caller escapes them.
 * @typedef {import('./facts.js').Facts} Facts @typedef {import('../../verdict/style.js').Style} Style
 */
import { chartLines, wrap } from '../../verdict/terminal.js';
import {
  busy,
  byProcess,
  evenness,
  failures,
  latency,
  loops,
  outcome,
  remarks,
  silences,
} from './tell-load.js';
import { blind, listening, memory, treeLines } from './tell-processes.js';

/**
 * @typedef {{ head: string, says?: string[], charts?: import('../../verdict/terminal.js').Chart[], lines?: string[], adds?: string[] }}
 *   Section  in the order shown; says, adds: sentences; lines: kept as they are
 * @param {Facts} facts @returns {Section[]}
 */
export function sectionsOf(facts) {
  const since = facts.load.isOpen ? 'from when each was due' : 'from when each was sent';
  /** @type {Section[]} */
  const all = [
    { head: 'Processes', lines: treeLines(facts) },
    { head: 'Listening and accepting', says: listening(facts) },
    {
      head: 'Requests',
      ...{
        says: outcome(facts),
        charts: byProcess(facts),
        adds: [...evenness(facts), ...failures(facts)],
      },
    },
    { head: `Latency, ${since}`, charts: latency(facts) },
    { head: 'Event loops', charts: [...busy(facts), ...silences(facts)], adds: loops(facts) },
    { head: 'Memory, the most under load', lines: memory(facts) },
    { head: 'Remarks', says: remarks(facts) },
    { head: 'What was not observed', says: blind(facts) },
  ];
  return all.filter(({ says, charts, lines, adds }) =>
    [says, charts, lines, adds].some((part) => part && part.length > 0),
  );
}

/** @param {Section} section @param {Style} style @param {number} columns @returns {string[]} */
export function sectionLines(
  { head, says = [], charts = [], lines = [], adds = [] },
  style,
  columns,
) {
  const say = (/** @type {string[]} */ sentences) =>
    sentences.flatMap((one) => wrap(one, columns - 2).map((line) => `  ${line}`));
  const drawn = charts.flatMap((chart) => chartLines(chart, style));
  const space = says.length > 0 && drawn.length > 0 ? [''] : [];
  return [style.bold(head), ...say(says), ...space, ...drawn, ...lines, ...say(adds)];
}
