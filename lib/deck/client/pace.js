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
 * @param {{ id: string, minute: number }} now  id: of a slide of the plan; minute: since the beginning
 * @returns {Pace}
 */
export function paceOf(plan, { id, minute }) {
  const index = indexOf(plan, id);
  const one = plan[index];
  const after = plan[index + 1]?.id === undefined ? plan[index + 1] : undefined;
  const early = Math.max(0, one.fromMinute - minute);
  const late = Math.max(0, minute - endOf(after ?? one));
  const pause = after && minute >= endOf(one) && late === 0 ? after : undefined;
  const next = plan.slice(index).find((item) => item.id === undefined);
  return { early, late, pause, finish: endOf(plan[plan.length - 1]) + late - early, next };
}

const endOf = (/** @type {Planned} */ { fromMinute, minutes }) => fromMinute + minutes;

/** Where a slide is in the plan; one that it no longer has, since an author is writing, counts as its first. */
const indexOf = (/** @type {Planned[]} */ plan, /** @type {string} */ id) =>
  Math.max(
    0,
    plan.findIndex((one) => one.id === id),
  );

/**
 * The minute at which a slide's time begins: where you stand when you say "I'm on time here".
 * @param {Planned[]} plan
 * @param {string} id  of a slide of the plan
 * @returns {number}
 */
export const minuteOf = (plan, id) => plan[indexOf(plan, id)].fromMinute;

/** "1:05:09", or "5:09" below an hour; below zero with a minus. @param {number} ms */
export function stopwatch(ms) {
  const seconds = Math.floor(Math.abs(ms) / 1_000);
  const two = (/** @type {number} */ number) => String(number % 60).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60);
  const text = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${ms < 0 && seconds > 0 ? '-' : ''}${text}:${two(seconds)}`;
}
