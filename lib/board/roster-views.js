/**
 * A class as its board shows it: pure.
 *
 * @typedef {import('./class-roster.js').Subject} Subject
 * @typedef {object} Seat
 * @property {number} id
 * @property {string} name
 * @property {string} from  an address
 * @property {boolean} away
 * @property {any} [handMs]  when the hand was raised
 * @property {any} [report]  a Report, what was said last, if anything was
 * @property {any} [kept]  by the key of a lesson: the promises that held when they were judged last
 */
import { tasksOf } from '../lessons/tasks.js';

const byName = new Intl.Collator('en', { numeric: true }).compare;

/**
 * What everybody sees.
 * @param {Seat[]} seats
 * @param {Subject[]} lessons
 */
export function classOf(seats, lessons) {
  const shown = seats.filter(({ report }) => report);
  const here = shown.filter(({ away }) => !away);
  const numberOf = (key) => lessons.find((one) => one.key === key)?.number;
  const hands = here.filter(({ report }) => report.hand).sort((a, b) => a.handMs - b.handMs);
  return {
    here: here.length,
    away: shown.length - here.length,
    hands: hands.map(({ name, report }) => ({ name, number: numberOf(report.lesson) })),
    lessons: lessons.flatMap((lesson) => {
      const mine = shown.filter(({ report }) => report.lesson === lesson.key);
      return mine.length > 0 ? [rowOf(lesson, mine)] : [];
    }),
  };
}

function rowOf({ number, title, promises }, seats) {
  const learners = seats.map(({ name, away, report: { state, failed, hand } }) => ({
    ...{ name, away, state, failed: failed.length, hand },
  }));
  const failing = seats.filter(({ away }) => !away).flatMap(({ report }) => report.failed);
  const fails = Object.entries(promises).flatMap(([id, sentence]) => {
    const count = failing.filter((one) => one === id).length;
    return count > 0 ? [{ sentence, count }] : [];
  });
  return {
    ...{ number, title },
    learners: learners.sort((a, b) => byName(a.name, b.name)),
    fails: fails.sort((a, b) => b.count - a.count),
  };
}

/**
 * How far a class has come, in numbers alone.
 * @param {Seat[]} seats
 * @param {Subject[]} lessons
 * @returns {{ here: number, tasks: Record<string, { number: number, name: string, count: number }[]> }}  here: how many
 *   machines; tasks: by the key of a lesson: how many of these have each of its tasks
 */
export function progressOf(seats, lessons) {
  const here = seats.filter(({ report, away }) => report && !away);
  const countOf = ({ promises }, key) =>
    here.filter(({ kept }) => promises.every((id) => kept[key]?.includes(id))).length;
  const tasks = lessons.map(({ key, taskOf = {} }) => [
    key,
    tasksOf(taskOf, '').map(({ number, name, promises }) => {
      return { number, name, count: countOf({ promises }, key) };
    }),
  ]);
  return { here: here.length, tasks: Object.fromEntries(tasks) };
}

/**
 * What only the instructor sees: who sits where, by address, those with most seats first.
 * @param {Seat[]} all
 */
export function seatsOf(all) {
  const groups = [...new Set(all.map(({ from }) => from))].map((from) => {
    const mine = all.filter((one) => one.from === from).sort((a, b) => byName(a.name, b.name));
    const seats = mine.map(({ id, name, away, report }) => ({
      ...{ id, name, state: away ? 'away' : report ? 'here' : 'silent' },
    }));
    return { from, seats };
  });
  return groups.sort((a, b) => b.seats.length - a.seats.length || byName(a.from, b.from));
}
