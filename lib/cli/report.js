import { join, relative } from 'node:path';
import { explainMissing, findTool } from '../tools/tools.js';
import { unjudgedTaskLines, taskHeading } from '../verdict/other-promises.js';
import { failureLines } from '../verdict/failure-lines.js';
import { firstBroken, sceneLines } from '../verdict/scene-strip.js';
import { createStyle } from '../verdict/style.js';
import { countsInWords, openPromises, tallyOf } from '../verdict/tally.js';
import { chartLines, measurementLines, promiseLine } from '../verdict/terminal.js';
import { allVisible, visible } from '../verdict/visible.js';
import { noHistory } from './saved/lesson-history.js';
import { lessonToDo } from './current-lesson.js';

/**
 * Prints a check at a terminal: promises as they are decided, then the numbers, and at the end, where the reader looks, what to
 * fix first and the next command.
 * @param {object} options @param {import('../lessons/catalog.js').Lesson} options.lesson
 * @param {import('../lessons/catalog.js').Lesson[]} options.lessons @param {import('./saved/progress.js').Io} options.io
 * @param {number} [options.prediction] @param {import('./saved/lesson-history.js').LessonHistory} [options.before]
 * @param {string} [options.subject] @param {boolean} [options.isLonger]  it ran with --longer
 * @param {boolean} [options.isHelped]  print what to try at the first failure, not only at the second
 * @param {boolean} [options.hasKeys]  the reader has the keys of `npm start`
 */
export function createReporter({ before = noHistory, ...options }) {
  const { lesson, io, subject } = options;
  const paper = createPaper(io);
  const { print, style } = paper;
  const headingOf = createHeadings(style);
  return {
    begin() {
      const path = visible(relative(io.root, subject ?? join(io.root, 'lessons', lesson.key)));
      print(`${style.bold(`Lesson ${lesson.number}: ${lesson.title}`)}  ${style.dim(path)}`, '');
    },
    promise({ promise, number, of, task }) {
      const line = promiseLine(allVisible(promise), { number, of }, style, io.stdout.columns);
      print(...headingOf(task), line);
    },
    end: (checked, progress, picture = /** @type {string | undefined} */ (undefined)) =>
      printEnd(checked, progress, { ...options, before, paper, picture }),
  };
}

/** The terminal, and how many lines of it are used. */
function createPaper(/** @type {import('./saved/progress.js').Io} */ { stdout, env }) {
  let used = 0;
  return {
    style: createStyle(stdout, env),
    columns: Math.min(stdout.columns ?? 100, 110),
    used: () => used,
    print(/** @type {string[]} */ ...lines) {
      const text = lines.join('\n');
      used += text.split('\n').length;
      stdout.write(`${text}\n`);
    },
  };
}

/** The heading of a task before its first promise, and again after those of another: a promise that failed last time comes first. */
function createHeadings(style) {
  let last = 0; // number of the task whose heading was printed last
  const named = new Set();
  return (/** @type {import('../lessons/tasks.js').Task | undefined} */ task) => {
    const rest = named.has(task?.number) ? ' (the rest)' : '';
    const isNew = task && task.number !== last;
    last = task?.number ?? 0;
    named.add(task?.number);
    return isNew ? [`  ${style.dim(visible(taskHeading(task) + rest))}`] : [];
  };
}

/** @param {any} checked @param {any} progress @param {any} options  of createReporter(), and its paper */
function printEnd(checked, progress, { lesson, lessons, io, prediction, before, paper, ...more }) {
  const { subject, isLonger, isHelped = false, hasKeys = false, picture } = more;
  const { print, style, columns } = paper;
  const result = allVisible(checked);
  const tally = tallyOf(result, before.verdicts);
  const [first, ...others] = openPromises(result);
  const predicted = prediction ?? progress.predictions?.[lesson.key]; // perhaps on the page, during the check
  const longer = isLonger ? '' : `npm run check lesson-${lesson.number} -- --longer`;
  const help = { prediction: predicted, measured: before.measured, longer, style };
  const seen = [...sceneOf(result, style, columns), ...numberLines(result, help)];
  print(...unjudgedTaskLines(result, tally, style), '', ...faultLines(result.fault), ...seen);
  const isTold = isHelped || failsAgain(first, before);
  const used = paper.used();
  const explained = failureLines(result, { isTold, used, root: io.root, columns, style });
  if (explained.length > 0) print(...explained);
  const keys = hasKeys && keysLine({ first, others, isTold });
  const command = keys || next({ result, lesson, lessons, progress, subject });
  const again = sceneNotes(result, { lesson, isLonger, picture, root: io.root });
  print(summary(result, tally, style), ...again, command);
}

function sceneOf({ scene, promises }, style, columns) {
  return scene ? [...sceneLines(scene, firstBroken(promises)?.ms, style, columns), ''] : [];
}

function numberLines(
  { measurements, charts, spared = [] },
  { prediction, measured, longer, style },
) {
  const numbers = measurements.map((one) =>
    measurementLines(one, { prediction, before: measured[one.name], longer, style }),
  );
  const drawn = charts.map((chart) => chartLines(chart, style));
  const notes = spared.length > 0 ? [spared.map((text) => `  ${text}`)] : [];
  return [...numbers, ...drawn, ...notes].flatMap((lines) => [...lines, '']);
}

/**
 * @param {import('../verdict/outcome.js').PromiseRecord | undefined} promise
 * @param {import('./saved/lesson-history.js').LessonHistory} before
 */
const failsAgain = (promise, before) =>
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
  if (!fault) return [];
  const head = '  This is a bug in Forkshop, not in your code. Please report it with these lines:';
  return [head, indent(fault), ''];
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

/** How to have the same order of faults again, and where the picture of the scene is. */
function sceneNotes({ seed }, { lesson: { number }, isLonger, picture, root }) {
  if (seed === undefined) return [];
  const flags = `--seed ${seed}${isLonger ? ' --longer' : ''}`;
  const again = `Seed ${seed}. The same again: npm run check lesson-${number} -- ${flags}`;
  return picture ? [again, `The scene as a picture: ${visible(relative(root, picture))}`] : [again];
}

/** The last line: the next command. */
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
  const following = lessonToDo(lessons, progress);
  if (following !== lesson) {
    return `Next: read lessons/${following.key}/README.md, then npm run check lesson-${following.number}`;
  }
  return `Compare with ours: npm run diff ${name}`;
}
