import { join, relative } from 'node:path';
import { explainMissing, findTool } from '../tools/tools.js';
import { createStyle } from '../verdict/style.js';
import { chartLines, measurementLines, openedUp, promiseLine } from '../verdict/terminal.js';
import { allVisible, cutLine, visible } from '../verdict/visible.js';
import { nothingYet } from './last-time.js';
import { nextLesson } from './place.js';

const OUTPUT_LINES = 12;
const ABOVE_ERROR = 4; // the place in the source, and the line itself

/**
 * Prints a check for a person: its promises as they are decided, then what to fix first, the numbers, and what next.
 *
 * @param {object} options
 * @param {import('../lessons/catalog.js').Lesson} options.lesson
 * @param {import('../lessons/catalog.js').Lesson[]} options.lessons
 * @param {import('./progress.js').Io} options.io
 * @param {number} [options.prediction]
 * @param {import('./last-time.js').LastTime} [options.before]
 * @param {string} [options.subject]
 * @param {boolean} [options.isLonger]  it was measured longer already
 */
export function createReporter({
  lesson,
  lessons,
  io,
  prediction,
  before = nothingYet,
  subject,
  isLonger,
}) {
  const { stdout, env, root } = io;
  const style = createStyle(stdout, env);
  const columns = Math.min(stdout.columns ?? 100, 110);
  const print = (...lines) => stdout.write(`${lines.join('\n')}\n`);
  const longer = isLonger ? '' : `npm run check lesson-${lesson.number} -- --longer`;
  const place = visible(relative(root, subject ?? join(root, 'lessons', lesson.key)));
  return {
    begin: () =>
      print(`${style.bold(`Lesson ${lesson.number}: ${lesson.title}`)}  ${style.dim(place)}`, ''),
    promise: ({ promise, number, of }) =>
      print(promiseLine(allVisible(promise), { number, of }, style, stdout.columns)),
    end(told, progress) {
      const result = allVisible(told);
      const { promises, measurements, charts, output, spared = [], fault } = result;
      const first =
        promises.find(({ verdict }) => verdict === 'failed') ??
        promises.find(({ verdict }) => verdict === 'inconclusive');
      print('');
      if (fault) print(...faultLines(fault), '');
      if (first) print(...openedUp(first, style, columns), '');
      const printed = first?.output ?? output;
      if (first && printed.trim()) print(...outputLines(printed, style), '');
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
      if (!result.isWhole && !fault && result.of > 0)
        print(...notAgain(result, before, lesson), '');
      if (spared.length > 0) print(...spared.map((text) => `  ${text}`), '');
      print(summary(result, style), next({ result, lesson, lessons, progress, subject }));
    },
  };
}

/** What was not judged, and how it was last time: never reported as if it were new. */
function notAgain({ promises, of, conditions }, { verdicts }, { number }) {
  const judged = new Set(promises.map(({ id }) => id));
  const old = Object.entries(verdicts).flatMap(([id, verdict]) =>
    judged.has(id) ? [] : [verdict],
  );
  const count = (verdict) => old.filter((one) => one === verdict).length;
  const held = count('passed') > 0 ? ` Last time ${count('passed')} of them held.` : '';
  const were = `${of - judged.size} of ${of} promises were not judged`;
  if (conditions?.overrunBy)
    return [`  ${were}. ${conditions.overrunBy} programs want each core of this machine.`];
  return [
    `  ${were} this time.${held}`,
    `  To judge them all: npm run check lesson-${number} -- --all (under npm start: key a)`,
  ];
}

function faultLines(fault) {
  return [
    '  This is a bug in Forkshop, not in your code. Please report it with these lines:',
    indent(fault),
  ];
}

function outputLines(output, style) {
  const all = output.trimEnd().split('\n');
  const error = all.findLastIndex((line) => /^(Uncaught )?\w*Error\b/.test(line));
  const last = all.length - OUTPUT_LINES;
  const first = error < 0 ? last : Math.min(last, error - ABOVE_ERROR);
  const lines = all.slice(Math.max(0, first)).slice(0, OUTPUT_LINES).map(cutLine);
  return [`  ${style.dim('Your program printed:')}`, indent(lines.join('\n'))];
}

const indent = (text) => text.replace(/^/gm, '    ');

function summary({ verdict, isWhole, seconds, conditions, promises }, style) {
  const held = promises.filter((one) => one.verdict === 'passed').length;
  const words = {
    passed: style.green(style.bold(isWhole ? 'Passed.' : 'Good so far.')),
    failed: style.red(style.bold('Not yet.')),
    inconclusive: style.yellow(style.bold('Undecided.')),
  };
  const machine = conditions ? ` ${conditions.cores} cores, Node ${conditions.node}.` : '';
  return `${words[verdict]} ${held} of ${promises.length} ${isWhole ? '' : 'judged '}promises hold. ${seconds.toFixed(1)} s.${machine}`;
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
