/** How a talk stands against its plan. */

/**
 * @typedef {object} Planned  a slide of a plan, or a break (which has no id)
 * @property {string} kind
 * @property {string} title
 * @property {string} [id]
 * @property {number} fromMinute
 * @property {number} minutes
 *
 * @typedef {object} Pace
 * @property {boolean} isPlanned  is this slide in the plan?
 * @property {number} early  minutes before its time begins
 * @property {number} late  minutes after it has ended
 * @property {Planned} [pause]  the break that it would be time for
 * @property {number} finish  the minute at which the day ends if all that is left takes its planned time
 * @property {Planned} [next]  the break after this slide, whenever that is
 */

/**
 * A slide has a stretch of time: you are behind only after its end, ahead only before its beginning. A break that follows
 * belongs to it.
 * @param {Planned[]} plan
 * @param {{ ids: string[], id: string, minute: number }} now  ids: of the whole deck, in order; minute: since the beginning
 * @returns {Pace}
 */
export function paceOf(plan, { ids, id, minute }) {
  const at = plan.findIndex((one) => one.id === id);
  const isPlanned = at >= 0;
  const index = isPlanned ? at : nextPlanned(plan, ids, id);
  const one = plan[index];
  const last = plan[plan.length - 1];
  const end = endOf(last);
  const begin = one?.fromMinute ?? end;
  const over = one && isPlanned ? endOf(one) : begin;
  const after = isPlanned && plan[index + 1]?.id === undefined ? plan[index + 1] : undefined;
  const early = Math.max(0, begin - minute);
  const late = Math.max(0, minute - (after ? endOf(after) : over));
  const pause = after && minute >= over && late === 0 ? after : undefined;
  const next = plan.slice(Math.max(0, index)).find((item) => item.id === undefined);
  return { isPlanned, early, late, pause, finish: end + late - early, next };
}

const endOf = (/** @type {Planned} */ { fromMinute, minutes }) => fromMinute + minutes;

/** Of a slide that is not in the plan: the first planned one after it in the deck; the plan's length if there is none. */
function nextPlanned(/** @type {Planned[]} */ plan, /** @type {string[]} */ ids, id) {
  const rest = new Set(ids.slice(ids.indexOf(id)));
  const found = plan.findIndex(({ id: one }) => one !== undefined && rest.has(one));
  return found < 0 ? plan.length : found;
}

/**
 * The minute at which a slide's time begins: where you stand when you say "I'm on time here".
 * @param {Planned[]} plan
 * @param {{ ids: string[], id: string }} now
 * @returns {number}
 */
export function minuteOf(plan, { ids, id }) {
  const at = plan.findIndex((one) => one.id === id);
  const one = plan[at >= 0 ? at : nextPlanned(plan, ids, id)];
  return one ? one.fromMinute : endOf(plan[plan.length - 1]);
}

/** "1:05:09", or "5:09" below an hour; below zero with a minus. @param {number} ms */
export function stopwatch(ms) {
  const seconds = Math.floor(Math.abs(ms) / 1_000);
  const two = (/** @type {number} */ number) => String(number % 60).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60);
  const text = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${ms < 0 && seconds > 0 ? '-' : ''}${text}:${two(seconds)}`;
}
