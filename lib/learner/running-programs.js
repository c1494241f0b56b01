/** The programs of a check or an experiment, for the page: their names, and the evidence that each of them is. */
import { allVisible } from '../verdict/visible.js';
import { evidenceOf } from '../web/evidence.js';

/** @typedef {Pick<import('../observe/program.js').Program, 'events'> & Partial<import('../observe/program.js').Program>} Running */

const MOST_PROGRAMS = 32;

/**
 * @param {() => { shows?: { program: number, moments: import('../verdict/outcome.js').Moment[] } }[]} promises  judged so far:
 *   the evidence keeps what happened near their moments
 */
export function createRunningPrograms(promises) {
  /** @type {{ name: string, isReference: boolean, program?: Running, evidence?: import('../web/evidence.js').Evidence }[]} */
  let programs = [];
  const momentsOf = (/** @type {number} */ number) =>
    promises().flatMap(({ shows }) => (shows?.program === number ? shows.moments : []));
  const evidenceIn = (/** @type {number} */ number) => {
    const { evidence, program } = programs[number];
    return evidence ?? evidenceOf(program ? eventsOf(program) : [], momentsOf(number));
  };
  return {
    /** @param {{ name: string, isReference?: boolean, program: Running }} started */
    add({ name, isReference = false, program }) {
      if (programs.length < MOST_PROGRAMS) programs.push({ name, isReference, program });
    },
    has: (/** @type {number} */ number) => number in programs,
    /** Starts that were alike are counted: `server.js`, `server.js (2)`. */
    list: () =>
      programs.map(({ name, isReference }, index) => {
        const before = programs.slice(0, index).filter((one) => one.name === name).length;
        return { name: allVisible(before ? `${name} (${before + 1})` : name), isReference };
      }),
    /** Of an unknown program it is undefined. */
    evidence: (/** @type {number} */ number) => (programs[number] ? evidenceIn(number) : undefined),
    /** All have exited: their evidence replaces their timelines. */
    settle() {
      programs = programs.map(({ name, isReference }, number) => ({
        ...{ name, isReference },
        evidence: evidenceIn(number),
      }));
    },
  };
}

/** The program's timeline, with the exit of a first process that a signal killed: it could not report that itself. */
function eventsOf(/** @type {Running} */ { events, pid, fate, killedMs: t }) {
  if (t === undefined || pid === undefined) return events;
  const exit = { t, pid, what: 'exit', signal: fate?.signal };
  return [...events, exit].sort((a, b) => a.t - b.t);
}
