/** A scene under load, in slices of time, for its picture. */
import { quantile } from '../measure/stats.js';
import { fewestServing } from './cluster.js';

const SLICES = 60; // at most
const STEP_MS = 50;

/** @typedef {import('../observe/client.js').Answer} Answer */

/**
 * @param {{ program: import('../observe/program.js').Program, startMs: number, endMs: number, answers: Answer[], isGood: (answer: Answer) => boolean,
 *   blows: import('./strike.js').Blow[], most: number }} seen  answers: one for each request; most: workers in calm
 * @returns {import('../verdict/scene-strip.js').Scene}
 */
export function sceneOf({ program, startMs, endMs, answers, isGood, blows, most }) {
  const sliceMs = STEP_MS * Math.ceil((endMs - startMs) / SLICES / STEP_MS);
  const count = Math.ceil((endMs - startMs) / sliceMs);
  const indexOf = (/** @type {number} */ t) => Math.floor((t - startMs) / sliceMs);
  const asked = Array.from({ length: count }, () => /** @type {Answer[]} */ ([]));
  for (const answer of answers) asked[indexOf(answer.sentMs)]?.push(answer);
  const { events } = program;
  const firstOf = (/** @type {number} */ index) => firstFrom(events, startMs + index * sliceMs);
  const fewestIn = (/** @type {number} */ index) =>
    fewestServing(events.slice(0, firstOf(index + 1)), firstOf(index));
  return {
    ...{ startMs, sliceMs, most },
    slices: asked.map((some, index) => ({ ...sliceOf(some, isGood), workers: fewestIn(index) })),
    blows: blows.map(({ name, how, isDone, fromMs, toMs }) => ({
      ...{ name, how, isBack: isDone, fromMs: fromMs - startMs, toMs: toMs - startMs },
    })),
  };
}

function sliceOf(
  /** @type {Answer[]} */ answers,
  /** @type {(answer: Answer) => boolean} */ isGood,
) {
  const good = answers.filter(isGood).map(({ sentMs, doneMs }) => doneMs - sentMs);
  const at = (/** @type {number} */ share) => (good.length > 0 ? quantile(good, share) : null);
  const [asked, failed] = [answers.length, answers.length - good.length];
  return { asked, failed, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The index of the first event from a time on. */
function firstFrom(events, /** @type {number} */ fromMs) {
  const first = events.findIndex(({ t }) => t >= fromMs);
  return first < 0 ? events.length : first;
}
