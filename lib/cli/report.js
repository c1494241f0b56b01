import { join, relative } from 'node:path';
import { explainMissing, findTool } from '../tools/tools.js';
import { aroundLines, headingOf } from '../verdict/around.js';
import { explanationOf } from '../verdict/explanation.js';
import { createStyle } from '../verdict/style.js';
import { countsInWords, openOnes, tallyOf } from '../verdict/tally.js';
import { chartLines, measurementLines, promiseLine } from '../verdict/terminal.js';
import { allVisible, visible } from '../verdict/visible.js';
import { nothingYet } from './last-time.js';
import { nextLesson } from './current-lesson.js';

/**
 * Prints a check for a person: its promises as they are decided, then the numbers, and at the end, where the eye is, what to
 * fix first and what next.
 *
 * @param {object} options
 * @param {import('../lessons/catalog.js').Lesson} options.lesson
 * @param {import('../lessons/catalog.js').Lesson[]} options.lessons
 * @param {import('./progress.js').Io} options.io
 * @param {number} [options.prediction]
 * @param {import('./last-time.js').LastTime} [options.before]
 * @param {string} [options.subject]
 * @param {boolean} [options.isLonger]  it was measured longer already
 * @param {boolean} [options.isHelped]  it says at once what to try, not when a promise fails a second time
 * @param {boolean} [options.hasKeys]  its reader has the keys of `npm start`
 */
export function createReporter({ lesson, lessons, io, prediction, before = nothingYet, ...more }) {
  const { subject, isLonger, isHelped = false, hasKeys = false } = more;
  const { stdout, env, root } = io;
  const style = createStyle(stdout, env);
  const columns = Math.min(stdout.columns ?? 100, 110);
  let used = 0;
  let shown = 0; // the task whose name stands above the promises
  const named = new Set(); // tasks whose name has been above some
  const print = (/** @type {string[]} */ ...lines) => {
    const text = lines.join('\n');
    used += text.split('\n').length;
    stdout.write(`${text}\n`);
  };
  const longer = isLonger ? '' : `npm run check lesson-${lesson.number} -- --longer`;
  const place = visible(relative(root, subject ?? join(root, 'lessons', lesson.key)));
  return {
    begin: () =>
      print(`${style.bold(`Lesson ${lesson.number}: ${lesson.title}`)}  ${style.dim(place)}`, ''),
    promise({ promise, number, of, task }) {
      const rest = named.has(task?.number) ? ' (the rest)' : ''; // what failed last time comes first, with what it needs
      if (task && task.number !== shown) print(`  ${style.dim(visible(headingOf(task) + rest))}`);
      shown = task?.number ?? 0;
      named.add(task?.number);
      print(promiseLine(allVisible(promise), { number, of }, style, stdout.columns));
    },
    end(told, progress) {
      const result = allVisible(told);
      const { measurements, charts, spared = [], fault } = result;
      const tally = tallyOf(result, before.verdicts);
      const [first, ...others] = openOnes(result);
      const around = aroundLines(result, tally, style);
      if (around.length > 0) print(...around);
      print('');
      if (fault) print(...faultLines(fault), '');
      for (const one of measurements)
        print(
          ...measurementLines(one, {
            prediction: prediction ?? progress.predictions?.[lesson.key], // made meanwhile, on the page
            before: before.measured[one.name],
            longer,
            style,
          }),
          '',
        );
      for (const chart of charts) print(...chartLines(chart, style), '');
      if (spared.length > 0) print(...spared.map((text) => `  ${text}`), '');
      const isTold = isHelped || isAgain(first, before);
      const explained = explanationOf(result, { isTold, used, root, columns, style });
      if (explained.length > 0) print(...explained);
      const keys = hasKeys && keysLine({ first, others, isTold });
      print(
        summary(result, tally, style),
        keys || next({ result, lesson, lessons, progress, subject }),
      );
    },
  };
}

/**
 * Does the promise that is opened fail as it did last time?
 * @param {import('../verdict/outcome.js').PromiseRecord | undefined} promise
 * @param {import('./last-time.js').LastTime} before
 */
export const isAgain = (promise, before) =>
  promise?.verdict === 'failed' && before.verdicts[promise.id] === 'failed';

function keysLine({ first, others, isTold }) {
  if (first?.verdict !== 'failed') return '';
  const keys = [
    !isTold && first.try && 't what to try',
    others.length > 0 && 'n the next failure',
    'h a hint',
  ];
  return `Keys: ${keys.filter(Boolean).join(', ')}`;
}

function faultLines(fault) {
  return [
    '  This is a bug in Forkshop, not in your code. Please report it with these lines:',
    indent(fault),
  ];
}

const indent = (text) => text.replace(/^/gm, '    ');

function summary({ verdict, isWhole, seconds, conditions, of = 0 }, { counts }, style) {
  const words = {
    passed: style.green(style.bold(isWhole ? 'Passed.' : 'Good so far.')),
    failed: style.red(style.bold('Not yet.')),
    inconclusive: style.yellow(style.bold('Undecided.')),
  };
  const isDone = verdict === 'passed' && isWhole;
  const said = isDone ? `${counts.held} of ${of} promises hold` : countsInWords(counts);
  const machine = conditions ? ` ${conditions.cores} cores, Node ${conditions.node}.` : '';
  return `${words[verdict]} ${said}. ${seconds.toFixed(1)} s.${machine}`;
}

/** The next command, always in the last line. */
function next({ result: { verdict, isWhole }, lesson, lessons, progress, subject }) {
  const name = `lesson-${lesson.number}`;
  if (verdict === 'inconclusive') {
    const missing = lesson.needs.find((tool) => !findTool(tool));
    return missing
      ? `Install it first: ${explainMissing(missing).try}`
      : `Check again: npm run check ${name}`;
  }
  if (verdict === 'failed') return `A hint: npm run hint ${name}`;
  if (!isWhole) return `Judge all promises: npm run check ${name}`;
  if (subject) return `Your own: npm run check ${name}`;
  const following = nextLesson(lessons, progress);
  if (following !== lesson) {
    return `Next: read lessons/${following.key}/README.md, then npm run check lesson-${following.number}`;
  }
  return `Compare with ours: npm run diff ${name}`;
}
