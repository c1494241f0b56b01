// Verifies the plans of a day: what is taught, where its breaks are, how it is printed, and how a talk stands against it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rootFolder } from '../lib/lessons/catalog.js';
import { agenda } from '../lib/web/agenda.js';
import { minuteOf, paceOf, stopwatch } from '../lib/web/client/pace.js';
import { readDeck } from '../lib/web/deck.js';
import { planDays } from '../lib/web/plans.js';

/** @param {string} key @param {[heading: string, minutes: number, demo?: string][]} slides @returns {any} */
const chapter = (key, slides) => ({
  key,
  title: key.slice(3),
  slides: slides.map(([heading, minutes, demo], index) => {
    const id = `${key}-${index + 1}`;
    return { id, heading, minutes, demos: demo ? [demo] : [] };
  }),
});

/** What stands between two breaks. @param {import('../lib/web/plans.js').Item[]} items */
function stretches(items) {
  const minutes = [0];
  for (const item of items)
    if (item.id) minutes[minutes.length - 1] += item.minutes;
    else minutes.push(0);
  return minutes;
}

describe('the plans of the deck itself', () => {
  const chapters = readDeck(rootFolder);
  const days = planDays(chapters);
  const numbers = (/** @type {string} */ name) =>
    days.find((day) => day.name === name)?.keys.map((key) => Number(key.slice(0, 2)));

  test('a half day has lessons 1, 2 and 5, a full day also 3 and 8, two days have all', () => {
    assert.deepEqual(numbers('half'), [0, 1, 2, 5, 99]);
    assert.deepEqual(numbers('full'), [0, 1, 2, 3, 5, 8, 99]);
    const two = [...(numbers('day-1') ?? []), ...(numbers('day-2') ?? [])];
    assert.deepEqual(
      two,
      chapters.map(({ key }) => Number(key.slice(0, 2))),
    );
  });

  test('there is a break after 75 to 90 minutes, and one lunch where a day has one', () => {
    for (const { name, items, minutes } of days) {
      const parts = stretches(items);
      const firsts = items.filter((item, index) => index > 0 && !items[index - 1].id);
      assert.ok(parts.length > 1, name);
      assert.equal(firsts.length, parts.length - 1);
      for (const [index, part] of parts.entries()) {
        const isLast = index === parts.length - 1;
        const isFull = part >= 75 || isLast;
        assert.ok(part <= 90 && isFull, `${name}: ${parts}`);
      }
      const lunches = items.filter(({ kind }) => kind === 'lunch').length;
      assert.equal(lunches, name === 'half' ? 0 : 1, name);
      assert.equal(
        minutes,
        items.reduce((sum, item) => sum + item.minutes, 0),
      );
    }
  });

  test('each lesson has one exercise, with its full minutes', () => {
    for (const { name, keys, items } of days)
      for (const key of keys.filter((one) => !/^(00|99)/.test(one))) {
        const exercises = items.filter((item) => item.key === key && item.kind === 'do');
        assert.equal(exercises.length, 1, `${name}, ${key}`);
        assert.ok(exercises[0].minutes >= 20, `${name}, ${key}: ${exercises[0].minutes} min`);
      }
  });
});

test('a break falls at the beginning of a chapter if one is near, else beside an exercise', () => {
  const long = (/** @type {string} */ key, /** @type {number} */ count) =>
    chapter(
      key,
      Array.from({ length: count }, () => ['a', 5]),
    );
  const [{ items }] = planDays([long('01-a', 16), long('02-b', 10)]);
  const pause = items.findIndex(({ kind }) => kind === 'break');
  assert.deepEqual([items[pause + 1].id, items[pause].fromMinute], ['02-b-1', 80]);
  const [day] = planDays([
    chapter('01-a', [['a', 40], ['b', 8], ['c', 2], ['Your turn', 30], ['d', 5], ['e', 60]]), // prettier-ignore
  ]);
  const before = day.items[day.items.findIndex(({ kind }) => kind === 'break') - 1];
  assert.equal(before.title, 'Your turn');
  assert.deepEqual(stretches(day.items), [80, 65]);
});

test('a slide longer than any stretch is a stretch of its own', () => {
  const [{ items }] = planDays([chapter('01-a', [['a', 20], ['b', 120], ['c', 50]])]); // prettier-ignore
  assert.deepEqual(stretches(items), [20, 120, 50]);
});

test('the run of show has a line for each demo and exercise, and says what to prepare', () => {
  const chapters = [
    chapter('01-one', [['Vote', 2], ['Law', 3], ['See it', 4, 'show'], ['Your turn', 70], ['Back', 2]]), // prettier-ignore
    chapter('09-two', [['Only', 30]]),
  ];
  const needs = [
    { key: '09-two', title: 'A Redis server', install: 'get redis', isHere: false },
    { key: '11-three', title: 'Nitro', install: 'get nitro', isHere: true },
  ];
  const text = agenda(chapters, { needs, startMinute: 540 });
  const [half] = text.split('\nFull day');
  assert.deepEqual(
    half.trim().split(/\s*\n/).map((line) => line.trim().replace(/\s{2,}/g, ' ')), // prettier-ignore
    [
      'Half day: lessons 1, 2 and 5 (1 h 21 min)',
      '9:00 1. one 81 min',
      '9:00 talk Vote (2 slides) 5 min',
      '9:05 demo See it 4 min',
      '9:09 do Your turn 70 min',
      '10:19 talk Back 2 min',
      '10:21 end',
      'To prepare, on every machine:',
      '- Node.js, and npm ci in the repository',
    ],
  );
  assert.match(text, /the second[^]*- A Redis server for lesson 9; here it is not: get redis\n/);
  assert.doesNotMatch(text, /Nitro/);
  assert.ok(text.split('\n').every((line) => line.length <= 80));
});

describe('how a talk stands against its plan', () => {
  const slide = (/** @type {string} */ id, fromMinute, minutes) =>
    ({ id, kind: 'talk', title: id, fromMinute, minutes }); // prettier-ignore
  const pause = { kind: 'break', title: 'Break', fromMinute: 30, minutes: 15 };
  const plan = [slide('a', 0, 10), slide('b', 10, 20), pause, slide('d', 45, 5)];
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const at = (/** @type {string} */ id, /** @type {number} */ minute) => {
    const { isPlanned, early, late, finish, ...rest } = paceOf(plan, { ids, id, minute });
    return [isPlanned, early, late, finish, rest.pause?.title];
  };

  test('within its stretch it is on time; before it ahead, after it behind', () => {
    assert.deepEqual(at('a', 9), [true, 0, 0, 50, undefined]);
    assert.deepEqual(at('a', 13), [true, 0, 3, 53, undefined]);
    assert.deepEqual(at('b', 4), [true, 6, 0, 44, undefined]);
    assert.deepEqual(at('d', 52), [true, 0, 2, 52, undefined]);
  });

  test('a break after the slide is no delay until it is over', () => {
    assert.deepEqual(at('b', 30), [true, 0, 0, 50, 'Break']);
    assert.deepEqual(at('b', 44), [true, 0, 0, 50, 'Break']);
    assert.deepEqual(at('b', 47), [true, 0, 2, 52, undefined]);
    assert.equal(paceOf(plan, { ids, id: 'a', minute: 0 }).next, pause);
    assert.equal(paceOf(plan, { ids, id: 'd', minute: 46 }).next, undefined);
  });

  test('a slide that is not in the plan stands where the next planned one begins', () => {
    assert.deepEqual(at('c', 46), [false, 0, 1, 51, undefined]);
    assert.deepEqual(at('e', 48), [false, 2, 0, 48, undefined]);
    assert.deepEqual(
      ids.map((id) => minuteOf(plan, { ids, id })),
      [0, 10, 45, 45, 50],
    );
  });

  test('a stopwatch shows hours only when there are some', () => {
    assert.deepEqual([0, 61_999, 3_600_000, 36_065_000, -61_000].map(stopwatch), [
      '0:00',
      '1:01',
      '1:00:00',
      '10:01:05',
      '-1:01',
    ]);
  });
});
