/**
 * Leaks: listeners, open files and connections, and memory after garbage collection that grow in every part of the load. A
 * cache that fills looks the same, so enough requests must have left something, and memory must have grown by much. Pure.
 * @typedef {import('../../observe/timeline.js').Event} Event
 * @typedef {{ pid: number, of: 'listeners' | 'descriptors' | 'memory', event?: string, from: number, to: number, requests: number,
 *   times: number }} Growth  event: that the listeners are for; from, to: its first and last value under load; requests: that the
 *   process executed, at most; times: how often a look found more
 * @typedef {{ t: number, value: number }[]} Samples  by time
 */
import { groupBy } from '../../observe/timeline.js';

const PARTS = 4; // of the load
const LEAST = 20; // listeners, or descriptors
const SHARE = 0.5; // of the requests left one
const MOST_APART = 4; // times as much in one part as in another
const LEAST_BYTES = 16 * 2 ** 20;
const STEP_BYTES = 2 ** 20;

/**
 * @param {{ events: Event[], fromMs: number, toMs: number, descriptors: Map<number, Samples>,
 *   requestsOf: (pid: number) => number }} seen  under load; descriptors: open ones by pid, the last sample after all answers
 * @returns {Growth[]}
 */
export function growthsOf({ events, fromMs, toMs, descriptors, requestsOf }) {
  const beats = events.filter(({ what, tid }) => what === 'beat' && tid === undefined);
  return [...groupBy(beats, ({ pid }) => pid)].flatMap(([pid, own]) => {
    const about = { pid, requests: requestsOf(pid) };
    const [event] = own.filter(({ crowded }) => crowded).map(({ crowded }) => crowded);
    const crowds = own.filter(({ crowded }) => crowded === event);
    const listeners = samplesOf(crowds, 'listeners');
    const counts = { listeners, descriptors: descriptors.get(pid) ?? [] };
    const handles = Object.entries(counts).flatMap(([of, samples]) => {
      const steps = partsOf(samples, fromMs, toMs);
      const grown = (steps.at(-1) ?? 0) - steps[0];
      const isClear = steps.length === PARTS && rises(steps, 1);
      if (!isClear || grown < LEAST || grown < SHARE * about.requests * (1 - 1 / PARTS)) return [];
      const ends = { from: steps[0], to: steps[PARTS - 1], times: PARTS - 1 };
      return { ...about, of, ...ends, ...(of === 'listeners' && { event }) };
    });
    return /** @type {Growth[]} */ ([...handles, ...memoryOf(own, about, { fromMs, toMs })]);
  });
}

/** Growing memory that is still alive after each full garbage collection. @returns {Growth[]} */
function memoryOf(/** @type {Event[]} */ beats, about, { fromMs, toMs }) {
  const parts = partsOf(samplesOf(beats, 'rss'), fromMs, toMs);
  const steps = parts.slice(1).map((bytes, index) => bytes - parts[index]);
  const grown = steps.reduce((sum, step) => sum + step, 0);
  const isEven = Math.min(...steps) >= Math.max(...steps) / MOST_APART;
  if (parts.length < PARTS || !rises(parts, STEP_BYTES) || grown < LEAST_BYTES || !isEven)
    return [];
  const alive = samplesOf(beats, 'live').filter(({ t }) => t <= toMs);
  const [first, last] = [alive[0], alive[alive.length - 1]];
  const bytes = alive.map(({ value }) => value);
  if (alive.length < 2 || !rises(bytes, STEP_BYTES)) return [];
  const perMs = (last.value - first.value) / (last.t - first.t);
  if (perMs * (toMs - fromMs) < SHARE * grown) return [];
  return [{ ...about, of: 'memory', from: first.value, to: last.value, times: PARTS - 1 }];
}

/** @returns {Samples} */
const samplesOf = (/** @type {Event[]} */ events, /** @type {string} */ field) =>
  events.flatMap(({ t, ...one }) => (one[field] === undefined ? [] : { t, value: one[field] }));

/** The lowest sample in each part, so that descriptors that are open for a moment don't count; in the last part the last sample. */
function partsOf(/** @type {Samples} */ samples, fromMs, toMs) {
  const parts = groupBy(samples, ({ t }) =>
    Math.max(0, Math.min(PARTS - 1, Math.floor(((t - fromMs) / (toMs - fromMs)) * PARTS))),
  );
  return [...parts.values()].map((some, index) =>
    index === PARTS - 1 ? some[some.length - 1].value : Math.min(...some.map(({ value }) => value)),
  );
}

const rises = (/** @type {number[]} */ values, /** @type {number} */ by) =>
  values.every((value, index) => index === 0 || value - values[index - 1] >= by);
