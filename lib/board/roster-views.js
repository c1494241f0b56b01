/**
 * Views of a class for its board, as pure functions.
 *
 * @typedef {import('./class-roster.js').Subject} Subject
 * @typedef {object} Seat
 * @property {number} id @property {string} name
 * @property {string} from  an address
 * @property {boolean} away
 * @property {any} [handMs]  when the hand was raised
 * @property {any} [report]  the last Report
 * @property {any} [kept]  by the key of a lesson: ids of the promises that held when they were last judged
 */
import { tasksOf } from '../lessons/tasks.js';

const byName = new Intl.Collator('en', { numeric: true }).compare;

/** What the wall shows. @param {Seat[]} seats @param {Subject[]} lessons */
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
  const learners = seats.map(({ name, away, report: { state, failed, hand, stood } }) => ({
    ...{ name, away, state, failed: failed.length, hand, stood },
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
 * The progress of a class in numbers, without names.
 * @param {Seat[]} seats
 * @param {Subject[]} lessons
 * @returns {{ here: number, tasks: Record<string, { number: number, name: string, count: number }[]> }}  here: how many
 *   machines; tasks: by the key of a lesson, how many of these have completed each task
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

/** The seats by address, those with the most first, for the instructor. @param {Seat[]} all */
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
