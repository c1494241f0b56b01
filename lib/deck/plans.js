/**
 * The plans for teaching: a half day, a full day, two days.
 *
 * @typedef {import('./timetable.js').Item} Item
 *
 * @typedef {object} Day
 * @property {string} name  half, full, day-1, day-2
 * @property {string} title
 * @property {string} lessons  in words
 * @property {string[]} keys  of its chapters
 * @property {number} minutes  including breaks
 * @property {Item[]} items
 */
import { UsageError } from '../common/usage-error.js';
import { timetableOf } from './timetable.js';

const OPENING = 0;
const CLOSING = 99;
const among = (/** @type {number[]} */ ...numbers) => numbers.includes.bind(numbers);

/** @type {{ name: string, title: string, lessons: string, has: (number: number) => boolean, hasLunch: boolean }[]} */
const PLANS = [
  {
    name: 'half',
    title: 'Half day',
    lessons: 'lessons 1, 2 and 5',
    has: among(OPENING, 1, 2, 5, CLOSING),
    hasLunch: false,
  },
  {
    name: 'full',
    title: 'Full day',
    lessons: 'lessons 1, 2, 3, 5 and 8',
    has: among(OPENING, 1, 2, 3, 5, 8, CLOSING),
    hasLunch: true,
  },
  {
    name: 'day-1',
    title: 'Two days, the first',
    lessons: 'lessons 1 to 6',
    has: (number) => number <= 6,
    hasLunch: true,
  },
  {
    name: 'day-2',
    title: 'Two days, the second',
    lessons: 'the lessons from 7 on',
    has: (number) => number > 6,
    hasLunch: true,
  },
];

const planNames = PLANS.map(({ name }) => name);

/** @returns {{ name: string, title: string }[]}  shortest first */
export const planTitles = () => PLANS.map(({ name, title }) => ({ name, title }));

/** @param {string} name  @throws {UsageError}  if there is no such plan */
export function planNamed(name) {
  const found = PLANS.find((plan) => plan.name === name);
  if (found) return found;
  throw new UsageError(`There is no plan "${name}".`, `The plans are: ${planNames.join(', ')}.`);
}

/** The days of all plans. @param {import('./read-deck.js').Chapter[]} chapters  of the whole deck @returns {Day[]} */
export const planDays = (chapters) =>
  PLANS.map(({ name, has }) =>
    dayOf(
      chapters.filter(({ key }) => has(Number(key.slice(0, 2)))),
      name,
    ),
  ).filter(({ items }) => items.length > 0);

/** @param {import('./read-deck.js').Chapter[]} taught  of the plan  @param {string} plan  its name  @returns {Day} */
export function dayOf(taught, plan) {
  const { name, title, lessons, hasLunch } = planNamed(plan);
  const items = timetableOf(taught, hasLunch);
  const last = items.at(-1);
  const minutes = last ? last.fromMinute + last.minutes : 0;
  return { name, title, lessons, keys: taught.map(({ key }) => key), minutes, items };
}
