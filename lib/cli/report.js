import { join, relative } from 'node:path';
import { explainMissing, findTool } from '../tools.js';
import { createStyle } from '../verdict/style.js';
import { chartLines, measurementLines, openedUp, promiseLine } from '../verdict/terminal.js';
import { nextLesson } from './place.js';

const OUTPUT_LINES = 12;
const ABOVE_ERROR = 4; // the place in the source, and the line itself

/**
 * Prints a check for a person: its promises as they are decided, then what to mend first, the numbers, and what next.
 *
 * @param {object} options
 * @param {import('../catalog.js').Lesson} options.lesson
 * @param {import('../catalog.js').Lesson[]} options.lessons
 * @param {import('./progress.js').Io} options.io
 * @param {number} [options.prediction]
 * @param {Record<string, number>} [options.before]  what was measured the last time, by name
 * @param {string} [options.subject]
 */
export function createReporter({ lesson, lessons, io, prediction, before, subject }) {
  const { stdout, env, root } = io;
  const style = createStyle(stdout, env);
  const columns = Math.min(stdout.columns ?? 100, 110);
  const print = (...lines) => stdout.write(`${lines.join('\n')}\n`);
  const place = relative(root, subject ?? join(root, 'lessons', lesson.key));
  return {
    begin: () =>
      print(`${style.bold(`Lesson ${lesson.number}: ${lesson.title}`)}  ${style.dim(place)}`, ''),
    promise: ({ promise, number, of }) => print(promiseLine(promise, { number, of }, style)),
    end(result, progress) {
      const { promises, measurements, charts, output, fault } = result;
      const first =
        promises.find(({ verdict }) => verdict === 'failed') ??
        promises.find(({ verdict }) => verdict === 'inconclusive');
      print('');
      if (fault) print(...faultLines(fault), '');
      if (first) print(...openedUp(first, style, columns), '');
      const printed = first?.output ?? output;
      if (first && printed.trim()) print(...outputLines(printed, style), '');
      for (const one of measurements)
        print(...measurementLines(one, { prediction, before: before?.[one.name], style }), '');
      for (const chart of charts) print(...chartLines(chart, style), '');
      print(summary(result, style), next({ result, lesson, lessons, progress, subject }));
    },
  };
}

function faultLines(fault) {
  return [
    '  This is a fault in Forkshop, not in your code. Please report it with these lines:',
    indent(fault),
  ];
}

function outputLines(output, style) {
  const all = output.trimEnd().split('\n');
  const error = all.findLastIndex((line) => /^(Uncaught )?\w*Error\b/.test(line));
  const last = all.length - OUTPUT_LINES;
  const first = error < 0 ? last : Math.min(last, error - ABOVE_ERROR);
  const lines = all.slice(Math.max(0, first)).slice(0, OUTPUT_LINES);
  return [`  ${style.dim('Your program printed:')}`, indent(lines.join('\n'))];
}

const indent = (text) => text.replace(/^/gm, '    ');

function summary({ verdict, seconds, conditions, promises }, style) {
  const held = promises.filter((one) => one.verdict === 'passed').length;
  const words = {
    passed: style.green(style.bold('Passed.')),
    failed: style.red(style.bold('Not yet.')),
    inconclusive: style.yellow(style.bold('Undecided.')),
  };
  const machine = conditions ? ` ${conditions.cores} cores, Node ${conditions.node}.` : '';
  return `${words[verdict]} ${held} of ${promises.length} promises hold. ${seconds.toFixed(1)} s.${machine}`;
}

/** The next command, always in the last line. */
function next({ result: { verdict }, lesson, lessons, progress, subject }) {
  const name = `lesson-${lesson.number}`;
  if (verdict === 'inconclusive') {
    const missing = lesson.needs.find((tool) => !findTool(tool));
    return missing
      ? `Install it first: ${explainMissing(missing).try}`
      : `Check again: npm run check ${name}`;
  }
  if (verdict === 'failed') return `A hint: npm run hint ${name}`;
  if (subject) return `Your own: npm run check ${name}`;
  const following = nextLesson(lessons, progress);
  if (following !== lesson) {
    return `Next: read lessons/${following.key}/README.md, then npm run check lesson-${following.number}`;
  }
  return `Compare with ours: npm run diff ${name}`;
}
