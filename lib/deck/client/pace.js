/**
 * The pace of a talk against its plan.
 *
 * @typedef {{ kind: string, title: string, id?: string, fromMinute: number, minutes: number }} Planned  a break has no id
 *
 * @typedef {object} Pace
 * @property {number} early  minutes until the slide's time begins
 * @property {number} late  minutes since it ended
 * @property {Planned} [pause]  the break that is due now
 * @property {number} finish  the minute at which the day will end if the rest takes its planned time
 * @property {Planned} [next]  the next break
 */

/**
 * The pace at a slide: late only after its planned end (and that of a break after it), early only before its beginning.
 * @param {Planned[]} plan
 * @param {{ id: string, minute: number }} now  id: of a slide; minute: since the day began
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

/** A slide that an author has just removed counts as the first. */
const indexOf = (/** @type {Planned[]} */ plan, /** @type {string} */ id) =>
  Math.max(
    0,
    plan.findIndex((one) => one.id === id),
  );

/** The minute at which a slide's time begins. @param {Planned[]} plan @param {string} id  of the slide @returns {number} */
export const minuteOf = (plan, id) => plan[indexOf(plan, id)].fromMinute;

/** "1:05:09", "5:09", "-0:30". @param {number} ms */
export function stopwatch(ms) {
  const seconds = Math.floor(Math.abs(ms) / 1_000);
  const two = (/** @type {number} */ number) => String(number % 60).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60);
  const text = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${ms < 0 && seconds > 0 ? '-' : ''}${text}:${two(seconds)}`;
}
