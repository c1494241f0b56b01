// Verifies the plans of a day: the lessons, the hands-on share, the breaks, the print, and a talk's progress against the
// plan; and that the deck of a plan describes that plan correctly.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { lessonFiles, rootFolder } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';
import { agenda } from '../lib/deck/agenda.js';
import { minuteOf, paceOf, stopwatch } from '../lib/deck/client/pace.js';
import { readDeck } from '../lib/deck/read-deck.js';
import { deckPage } from '../lib/deck/pages.js';
import { dayOf, planDays, planTitles } from '../lib/deck/plans.js';
import { handoutSheets, scriptSheets } from '../lib/deck/sheets.js';
import { kindOf } from '../lib/deck/timetable.js';
import { plainText } from './plain-text.js';

/** @param {string} key @param {[heading: string, minutes: number, demo?: string][]} slides @returns {any} */
const chapter = (key, slides) => ({
  key,
  title: key.slice(3),
  slides: slides.map(([heading, minutes, demo], index) => {
    const id = `${key}-${index + 1}`;
    return { id, heading, minutes, demos: demo ? [demo] : [] };
  }),
});

/** The items between two breaks. @param {import('../lib/deck/plans.js').Item[]} items */
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

  test('there is a break after 75 to 90 minutes, and one lunch in a day that has one', () => {
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

  test('a lesson has at most 11 slides, 30 minutes of exercise in two rounds, and one thing that the whole class runs', () => {
    for (const { key, slides } of chapters.filter((one) => isLesson(one.key))) {
      assert.ok(slides.length <= 11, `${key}: ${slides.length} slides`);
      const rounds = slides.filter(isExercise);
      const looks = slides.filter((slide) => kindOf(slide) === 'do' && !isExercise(slide));
      assert.deepEqual([rounds.length, looks.length], [2, 1], key);
      const minutes = rounds.reduce((sum, slide) => sum + slide.minutes, 0);
      assert.ok(minutes >= 30, `${key}: ${minutes} min`);
    }
  });

  test('no solution is shown before its exercise', () => {
    for (const { key, slides } of chapters.filter((one) => isLesson(one.key))) {
      const from = slides.findLastIndex(isExercise);
      const early = slides.slice(0, from);
      const shown = early.flatMap(({ id, html }) => linesOf(html).map((line) => ({ id, line })));
      const answer = solutionLines(key);
      assert.ok(answer.size > 5, key);
      assert.deepEqual(
        shown.filter(({ line }) => answer.has(line)),
        [],
      );
      assert.ok(!early.some(({ isSolution }) => isSolution), key);
    }
  });
});

const isLesson = (/** @type {string} */ key) => !/^(00|99)/.test(key);

/** Does the class write code there, or only watch an experiment? @param {import('../lib/deck/read-deck.js').Slide} slide */
const isExercise = (slide) => kindOf(slide) === 'do' && !/^Your turn to look/.test(slide.heading);

/** The lines of code on a slide. @param {string} html */
const linesOf = (html) =>
  [...html.matchAll(/<span class="line[^"]*">([^\n]*)<\/span>/g)].map(([, line]) => plain(line));

/** Lines of a lesson's solution that its starter lacks, except lines that any program may have. @param {string} key */
function solutionLines(key) {
  const { solution, starter } = lessonPaths(key);
  const read = (/** @type {string} */ folder) =>
    lessonFiles(rootFolder, key).flatMap((name) => {
      const text = readFileSync(join(rootFolder, folder, name), 'utf8');
      return text.split('\n').map((line) => line.trim());
    });
  const given = new Set(read(starter));
  return new Set(read(solution).filter((line) => line.length > 12 && !given.has(line)));
}

const plain = (/** @type {string} */ html) => plainText(html).trim();

describe('the deck of a plan', () => {
  /** The numbers that a text names, as in "lessons 1, 2 and 5", "lesson 3", "lesson-4". @param {string} text */
  const named = (text) =>
    [...plain(text).matchAll(/lessons?[- ](\d+(?:(?:, | and | to )\d+)*)/gi)].flatMap(([, list]) =>
      list.split(/\D+/).map(Number),
    );

  for (const { name } of planTitles()) {
    const chapters = readDeck(rootFolder, name);
    const day = dayOf(chapters, name);
    const slides = chapters.flatMap((chapter) => chapter.slides);
    const numbers = chapters.map(({ key }) => Number(key.slice(0, 2)));

    test(`${name}: the class works for at least 60 % of it, and writes code by minute 20`, () => {
      const minutes = slides.reduce((sum, slide) => sum + slide.minutes, 0);
      const hands = slides.filter((slide) => kindOf(slide) === 'do');
      const theirs = hands.reduce((sum, slide) => sum + slide.minutes, 0);
      assert.ok(theirs >= 0.6 * minutes, `${theirs} of ${minutes} minutes`);
      const ids = chapters
        .filter(({ key }) => isLesson(key))
        .flatMap((chapter) => chapter.slides.filter(isExercise).map(({ id }) => id));
      const first = day.items.find(({ id }) => id !== undefined && ids.includes(id));
      assert.ok(Number(first?.fromMinute) <= 20, `minute ${first?.fromMinute}`);
    });

    test(`${name}: names no lesson that it lacks`, () => {
      const known = name.startsWith('day-') ? Array.from({ length: 12 }, (_, index) => index + 1) : numbers; // prettier-ignore
      const strangers = slides.flatMap(({ id, html, notes }) =>
        named(`${html} ${notes}`)
          .filter((number) => !known.includes(number))
          .map((number) => `${id}: lesson ${number}`),
      );
      assert.deepEqual(strangers, []);
    });

    test(`${name}: announces and sums up its own lessons, and each leads to the next`, () => {
      const lists = slides.filter(({ html }) => html.includes('<table') && /lesson|built|answer at/.test(html)); // prettier-ignore
      assert.ok(lists.length > 0 || name === 'day-1');
      const lessons = numbers.filter((number) => number > 0 && number < 99);
      for (const { heading, html } of slides)
        if (/^What you (can answer|have built)/.test(heading))
          assert.deepEqual(
            [...html.matchAll(/<tr><td>(\d+)<\/td><td>[^<]+/g)].map(([, number]) => Number(number)),
            lessons,
          );
      for (const [index, { key, slides: own }] of chapters.entries()) {
        const next = numbers[index + 1];
        const bridge = /<strong>Bridge:<\/strong>([^]*?)<\/p>/.exec(own.at(-1)?.notes ?? '')?.[1];
        if (!isLesson(key)) continue;
        assert.ok(bridge, key);
        for (const number of named(bridge)) assert.equal(number, next, `${key}:${bridge}`);
        if (next === 99) assert.match(bridge, /closing/);
        if (next === undefined) assert.match(bridge, /all for today/);
      }
    });

    test(`${name}: is numbered from 1 to its last slide, on the projector and in the handout`, () => {
      const html = deckPage(chapters, {});
      const told = [...html.matchAll(/<span>(\d+) \/ (\d+)<\/span>/g)].map(([, ...pair]) => pair.map(Number)); // prettier-ignore
      assert.deepEqual(
        told,
        slides.map((_, index) => [index + 1, slides.length]),
      );
      const paper = handoutSheets(chapters).join('');
      for (const [, id, number] of paper.matchAll(
        /<section id="([^"]+)">[^]*?<p class="number">(.*?)<\/p>/g,
      )) {
        const index = slides.findIndex((slide) => slide.id === id);
        assert.equal(number, index < 0 ? 'To read' : String(index + 1), id);
      }
    });

    test(`${name}: its openers show the time, and their position in the day`, () => {
      for (const { key, minutes, slides: own } of chapters.filter((one) => isLesson(one.key))) {
        const [{ html }, ...rest] = own;
        const yours = rest.filter((slide) => kindOf(slide) === 'do');
        const sum = yours.reduce((total, slide) => total + slide.minutes, 0);
        assert.ok(html.includes(`${minutes} minutes, ${sum} of them yours`), html);
        assert.match(html, /You build \w/);
        assert.equal(html.match(/<g class="here">/g)?.length, day.items.filter((item, index) => item.key === key && day.items[index - 1]?.key !== key).length, 'its parts, on both sides of a break'); // prettier-ignore
      }
    });
  }

  test('the whole deck has all chapters, and its bridges appear as written', () => {
    const chapters = readDeck(rootFolder);
    assert.ok(chapters.every(({ slides }) => !/Next comes|all for today/.test(slides.at(-1)?.notes ?? ''))); // prettier-ignore
    assert.throws(() => readDeck(rootFolder, 'week'), /no plan "week"/);
  });

  test('the handout gives no answer away, and has the slides for reading; the script has every note', () => {
    const chapters = readDeck(rootFolder, 'half');
    const paper = handoutSheets(chapters).join('');
    const pages = chapters.flatMap((chapter) => chapter.pages);
    for (const { id, isAnswer, isSolution, isOpener, notes } of pages) {
      const isSecret = isAnswer || isSolution || isOpener;
      assert.equal(paper.includes(`id="${id}"`), !isSecret, id);
      assert.ok(!paper.includes(notes), id);
    }
    assert.ok(!paper.includes('data-ballot="answer"') && !paper.includes('class="talk"'));
    assert.match(paper, /<p class="number">To read<\/p>/);
    const script = scriptSheets(chapters).join('');
    for (const { id, isOpener, notes } of pages) assert.ok(isOpener || script.includes(notes), id);
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

test('a slide longer than any stretch forms its own stretch', () => {
  const [{ items }] = planDays([chapter('01-a', [['a', 20], ['b', 120], ['c', 50]])]); // prettier-ignore
  assert.deepEqual(stretches(items), [20, 120, 50]);
});

test('the run of show has a line for each demo and exercise, and lists the preparations', () => {
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
      'Half day: lessons 1, 2 and 5 (1 h 21 min, 86 % hands-on)',
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

describe("a talk's progress against its plan", () => {
  const slide = (/** @type {string} */ id, fromMinute, minutes) =>
    ({ id, kind: 'talk', title: id, fromMinute, minutes }); // prettier-ignore
  const pause = { kind: 'break', title: 'Break', fromMinute: 30, minutes: 15 };
  const plan = [slide('a', 0, 10), slide('b', 10, 20), pause, slide('d', 45, 5)];
  const at = (/** @type {string} */ id, /** @type {number} */ minute) => {
    const { early, late, finish, pause: due } = paceOf(plan, { id, minute });
    return [early, late, finish, due?.title];
  };

  test('within its stretch it is on time; before it ahead, after it behind', () => {
    assert.deepEqual(at('a', 9), [0, 0, 50, undefined]);
    assert.deepEqual(at('a', 13), [0, 3, 53, undefined]);
    assert.deepEqual(at('b', 4), [6, 0, 44, undefined]);
    assert.deepEqual(at('d', 52), [0, 2, 52, undefined]);
    assert.deepEqual(
      ['a', 'b', 'd'].map((id) => minuteOf(plan, id)),
      [0, 10, 45],
    );
  });

  test('a break after the slide is no delay until it is over', () => {
    assert.deepEqual(at('b', 30), [0, 0, 50, 'Break']);
    assert.deepEqual(at('b', 44), [0, 0, 50, 'Break']);
    assert.deepEqual(at('b', 47), [0, 2, 52, undefined]);
    assert.equal(paceOf(plan, { id: 'a', minute: 0 }).next, pause);
    assert.equal(paceOf(plan, { id: 'd', minute: 46 }).next, undefined);
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
