/**
 * The outcome of judging one promise, as it is reported: what the error means, with what the program printed.
 * @typedef {Omit<import('../verdict/outcome.js').PromiseRecord, 'id' | 'task' | 'sentence'>} Outcome
 */
import { isOutcome } from './interpret-error.js';
import { Broken } from '../verdict/outcome.js';
import { addMeaning, addSyntaxErrorPlace, describeHandlerError } from '../verdict/thrown-errors.js';

const MOST_OUTPUT = 4_000; // characters, of the program that failed a promise

/**
 * Several promises may need the same look: its error is reported for the first of them and skips the others.
 * @param {() => Promise<void>} body  judges the promise: it throws unless the promise holds
 * @param {import('./look-graph.js').Look<any>[]} looks  of the promise
 * @param {any} session  what runSession() gives the judge, and `reported`, the set of errors that earlier promises have reported
 * @returns {Promise<Outcome>}  rejects with a bug of ours
 */
export async function outcomeOf(body, looks, { reported, numberOf, meaning, printedBy }) {
  try {
    await body();
    return { verdict: 'passed' };
  } catch (thrown) {
    const error = meaning(thrown, looks);
    if (!isOutcome(error)) throw error;
    if (reported.has(error)) return { verdict: 'skipped' };
    reported.add(error);
    const verdict = error instanceof Broken ? 'failed' : 'inconclusive';
    const {
      shows,
      output = shows?.program.output?.() ?? printedBy(looks) ?? '',
      ...story
    } = error.story;
    const thrownThere = verdict === 'failed' ? describeHandlerError(output) : undefined;
    const why = addMeaning(thrownThere ?? addSyntaxErrorPlace(story.why, output));
    return {
      ...{ verdict, ...story, why },
      ...{ output: output.slice(-MOST_OUTPUT), ...showsOf(shows, numberOf) },
    };
  }
}

/** The program, by its number, and the moments that the learner's page marks. */
function showsOf(shows, numberOf) {
  const program = shows ? numberOf(shows.program) : -1;
  if (program < 0) return {};
  const { events } = shows.program;
  const moments = shows.moments
    .filter(Boolean)
    .map((one) => ({ ...one, what: whatHappened(one, events) }));
  return { shows: { program, moments } };
}

const whatHappened = ({ pid, t, toMs }, events) =>
  events.find((one) => [t, toMs].includes(one.t) && (one.pid === pid || one.workerPid === pid))
    ?.what;
