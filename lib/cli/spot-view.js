/** What `spot` prints. */
import { changesOf } from '../lessons/answer-programs.js';
import { createStyle } from '../verdict/style.js';
import { promiseDetails, promiseLine, wrap } from '../verdict/terminal.js';
import { allVisible } from '../verdict/visible.js';

/** @typedef {import('../lessons/answers.js').Answer} Answer */

/**
 * @param {import('../lessons/catalog.js').Lesson} lesson @param {Record<string, string>} promises  id → sentence
 * @param {import('./saved/progress.js').Io} io
 */
export function createSpotView(lesson, promises, io) {
  const style = createStyle(io.stdout, io.env);
  const columns = Math.min(io.stdout.columns ?? 100, 100);
  const print = (/** @type {string[]} */ ...lines) => io.stdout.write(`${lines.join('\n')}\n`);
  const { number } = lesson;
  return {
    change(/** @type {Answer} */ answer, { number: at, of }) {
      const head = `Lesson ${number}: ${lesson.title}  Spot the fault, ${at} of ${of}`;
      print('', style.bold(head), '');
      for (const { file, hunks } of changesOf(io.root, lesson.key, answer))
        for (const { line, lines } of hunks)
          print(`  ${style.cyan(`${file}, from line ${line}`)}`, ...colouredDiff(lines, style), '');
      print(...questionLines(Object.values(promises), columns), '');
    },
    verdict(/** @type {Answer} */ answer, /** @type {boolean} */ isSeen, result) {
      const ids = Object.keys(promises);
      print(...judgedLines(allVisible(result), ids, style, columns));
      const numbers = answer.breaks.map((id) => ids.indexOf(id) + 1).join(' and ');
      const truth = answer.isRight ? 'It is right.' : `It breaks ${numbers}.`;
      const verdict = isSeen
        ? style.green(`  You saw it. ${truth}`)
        : style.yellow(`  Not quite. ${truth}`);
      const head = answer.isRight
        ? 'What is different in it:'
        : 'Why someone writes this, and what clients notice:';
      const why = wrap(answer.why.replaceAll(/\s+/g, ' '), columns - 2).map((line) => `  ${line}`);
      print('', verdict, '', `  ${style.dim(head)}`, ...why, '');
    },
    end(seen, of, /** @type {Answer[]} */ all, /** @type {Record<string, boolean>} */ spotted) {
      const known = all.filter(({ name }) => spotted[name]).length;
      print(`You saw ${seen} of ${of}; ${known} of the ${all.length} of this lesson so far.`);
      print(`More: npm run spot lesson-${number}`);
    },
  };
}

const colouredDiff = (/** @type {string[]} */ lines, style) =>
  lines.map((line) => {
    const paint = line.startsWith('+') ? style.green : line.startsWith('-') ? style.red : String;
    return `    ${paint(line.trimEnd())}`.trimEnd();
  });

function questionLines(/** @type {string[]} */ sentences, /** @type {number} */ columns) {
  const numbered = sentences.flatMap((sentence, index) => {
    const [first, ...rest] = wrap(sentence, columns - 6);
    return [`  ${String(index + 1).padStart(2)}  ${first}`, ...rest.map((line) => `      ${line}`)];
  });
  return ['  Which promise does it break?', '   0  none: this is right', ...numbered];
}

function judgedLines({ promises, fault }, /** @type {string[]} */ ids, style, columns) {
  const lines = promises.map((one) =>
    promiseLine(one, { number: ids.indexOf(one.id) + 1, of: ids.length }, style, columns),
  );
  const decisive =
    promises.find((one) => one.verdict === 'failed') ??
    promises.find((one) => one.verdict === 'inconclusive');
  const details = decisive ? promiseDetails(decisive, { isTold: true }, style, columns) : [];
  return [
    ...lines,
    ...(decisive ? ['', ...details] : []),
    ...(fault ? ['', `  This is a bug in Forkshop: ${fault}`] : []),
  ];
}
