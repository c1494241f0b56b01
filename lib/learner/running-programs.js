/** The programs of a check or an experiment, as the page is told of them: their names, and the evidence that each is. */
import { allVisible } from '../verdict/visible.js';
import { evidenceOf } from '../web/evidence.js';

const MOST_PROGRAMS = 32;

/**
 * @param {(number: number) => import('../verdict/outcome.js').Moment[]} momentsIn  those of a program: what is near them is kept
 */
export function createRunningPrograms(momentsIn = () => []) {
  /** @type {{ name: string, isReference: boolean, program?: { events: any[] }, evidence?: import('../web/evidence.js').Evidence }[]} */
  let programs = [];
  const lookAt = (/** @type {number} */ number) => {
    const { evidence, program } = programs[number];
    return evidence ?? evidenceOf(program?.events ?? [], momentsIn(number));
  };
  return {
    /** @param {{ name: string, isReference?: boolean, program: { events: any[] } }} started */
    add({ name, isReference = false, program }) {
      if (programs.length < MOST_PROGRAMS) programs.push({ name, isReference, program });
    },
    has: (/** @type {number} */ number) => number in programs,
    told: () => programs.map(({ name, isReference }) => ({ name: allVisible(name), isReference })),
    /** Of a program that is not there it is undefined. */
    evidence: (/** @type {number} */ number) => (programs[number] ? lookAt(number) : undefined),
    /** They have ended: what is shown of them is kept, and nothing else. */
    settle() {
      programs = programs.map(({ name, isReference }, number) => ({
        ...{ name, isReference },
        evidence: lookAt(number),
      }));
    },
  };
}
