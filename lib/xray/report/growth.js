/**
 * What grows with each request and is not given back: listeners, open files and connections, memory after a garbage
 * collection. Pure. Told is only what is clear: it has grown in every part of the load. A cache that fills looks the same for
 * as long as it fills, so a share of the requests must have left something, and memory must have grown by much.
 *
 * @typedef {import('../../observe/timeline.js').Event} Event
 *
 * @typedef {object} Growth
 * @property {number} pid
 * @property {'listeners' | 'descriptors' | 'memory'} of
 * @property {string} [event]  that the listeners are for
 * @property {number} from  the first that was seen, under load
 * @property {number} to  the last
 * @property {number} requests  that the process executed meanwhile, or more
 * @property {number} times  that it was found to have grown
 *
 * @typedef {{ t: number, value: number }[]} Samples  in order of time
 */
import { groupBy } from '../../observe/timeline.js';

const PARTS = 4; // of the load
const LEAST = 20; // listeners, or descriptors
const SHARE = 0.5; // of the requests left one
const MOST_APART = 4; // times as much in one part as in another
const LEAST_BYTES = 16 * 2 ** 20;
const STEP_BYTES = 2 ** 20;

/**
 * @param {object} seen
 * @param {Event[]} seen.events  under load
 * @param {number} seen.fromMs  the load
 * @param {number} seen.toMs
 * @param {Map<number, Samples>} seen.descriptors  pid → how many it had open; the last sample when all was answered
 * @param {(pid: number) => number} seen.requestsOf  how many a process executed
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

/**
 * The memory of a process grows in every part of the load, by about as much; and what was alive after each collection of all
 * garbage says that this is no garbage.
 * @returns {Growth[]}
 */
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

/** The least in each part of the load that has any: what is open for a moment is in none. The last sample counts by itself. */
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
