import { conditionsNow } from '../../measure/conditions.js';
import { runAndClose } from '../../common/run-and-close.js';
import { createRunner } from '../../observe/runner.js';
import { Shortage } from '../../observe/shortage.js';
import { EXIT_CODES } from '../../verdict/outcome.js';
import { createStyle } from '../../verdict/style.js';
import { allVisible, cutLine, visible } from '../../verdict/visible.js';
import { conclude, conclusionLines } from '../../xray/report/conclusion.js';
import { crashLoops } from '../../xray/report/crash-loops.js';
import { trialFindings } from '../../xray/report/findings-trials.js';
import { findingsOf, sorted } from '../../xray/report/findings.js';
import { NotUp } from '../../xray/launch.js';
import { look } from '../../xray/look.js';
import { costSection, scaleSection, trialSection } from '../../xray/report/tell-trials.js';
import { sectionLines, sectionsOf } from '../../xray/report/tell.js';
import { traceOf } from '../../xray/report/trace.js';
import { interruptible } from '../interrupt.js';
import { writeNewFile } from '../new-file.js';
import { planOf, parseXray, trialsOf } from '../xray-options.js';

/** @typedef {import('../saved/progress.js').Io} Io */

const INTERRUPTED = 130;
const COLUMNS = 80;
const LAST_LINES = 12; // of the program's output

/**
 * `xray server.js` or `xray -- command`: starts any Node.js server, puts load on it, and reports what it does and what a colleague
 * would say. Exit code 1: findings; 3: something is undecided. @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const { values, order } = parseXray(argv, io);
  const plan = planOf(values);
  const trials = trialsOf(values, order, io);
  const runner = createRunner();
  const work = () => see({ runner, order, plan, trials, values, io });
  return interruptible(async (signal) => {
    try {
      return await runAndClose(() => Promise.race([work(), whenAborted(signal)]));
    } catch (error) {
      if (signal.aborted) return INTERRUPTED;
      return explain(error, values, io);
    } finally {
      await runner.close();
    }
  });
}

const whenAborted = (/** @type {AbortSignal} */ signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** Observes the program under load, then runs each trial on a fresh one, and prints findings before details. */
async function see({ runner, order, plan, trials, values, io }) {
  const style = createStyle(io.stdout, io.env);
  const columns = Math.min(io.stdout.columns ?? COLUMNS, 100);
  const print = (/** @type {string[]} */ lines) => {
    if (!values.json) io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  };
  print([style.dim(`${aboutLoad(plan)}, on 127.0.0.1. Ctrl-C stops it.`)]);
  const { facts, events } = await look(runner, order, plan);
  const { done, tried, doubts } = await tryAll(trials, { runner, order, plan }, (head) =>
    print([style.dim(`${head} ...`)]),
  );
  const sections = [...sectionsOf(allVisible(facts)), ...tried];
  const conclusion = conclude({
    ...{ facts, plan, kinds: done.map(({ kind }) => kind) },
    asked: trials.map(({ kind }) => kind),
    all: sorted([
      ...findingsOf(facts),
      ...crashLoops(events, facts.zeroMs),
      ...done.filter(({ kind }) => !['scale', 'cost'].includes(kind)).flatMap(trialFindings),
      ...doubts,
    ]),
  });
  const { findings, undecided } = conclusion;
  const unwritten = await writeFiles({ values, order, plan, facts, events, sections, conclusion });
  if (values.json) printJson({ facts, trials: done, ...conclusion }, io);
  else {
    const shown = conclusionLines(allVisible(conclusion), style, columns);
    print(['', ...shown, '']);
    print(sections.flatMap((one) => [...sectionLines(one, style, columns), '']));
  }
  for (const fault of unwritten) io.stderr.write(`${visible(fault)}\n`);
  if (findings.length > 0) return EXIT_CODES.failed;
  const isOpen = undecided.length > 0 || unwritten.length > 0;
  return isOpen ? EXIT_CODES.inconclusive : EXIT_CODES.passed;
}

/** @param {(head: string) => void} begin */
async function tryAll(trials, { runner, order, plan }, begin) {
  const done = [];
  /** @type {import('../../xray/report/tell.js').Section[]} */
  const tried = [];
  /** @type {import('../../xray/report/findings.js').Finding[]} */
  const doubts = [];
  for (const { head, attempt } of trials) {
    begin(head);
    try {
      const trial = await attempt(runner, order, plan);
      if (trial) done.push(trial);
      tried.push(sectionOf(trial && allVisible(trial), head));
    } catch (error) {
      if (!(error instanceof Shortage)) throw error;
      const { got, why } = error.story;
      doubts.push({
        id: 'trial',
        weight: 0,
        says: `${head}.`,
        evidence: [],
        doubt: `${got} ${why}`,
      });
    }
  }
  return { done, tried, doubts };
}

/** @returns {Promise<string[]>}  a sentence for each file that could not be written */
async function writeFiles({ values, order, plan, facts, events, sections, conclusion }) {
  const unwritten = [];
  if (values.trace)
    unwritten.push(...writeNewFile(values.trace, JSON.stringify(traceOf({ ...facts, events }))));
  if (values.html) {
    const { titleOf, xrayPage } = await import('../../xray/page.js');
    const about = `${aboutLoad(plan)}; ${conditionsWords()}`;
    const shown = { sections, conclusion: allVisible(conclusion), events, facts };
    const page = xrayPage({ name: visible(titleOf(order)), about, ...shown });
    unwritten.push(...writeNewFile(values.html, page));
  }
  return unwritten;
}

/** @returns {import('../../xray/report/tell.js').Section} */
const sectionOf = (trial, /** @type {string} */ head) => {
  if (!trial) return { head, says: [ALONE] };
  if (trial.kind === 'scale') return scaleSection(trial, head);
  return trial.kind === 'cost' ? costSection(trial, head) : trialSection(trial, head);
};

const ALONE = 'Only one process listens there: no other could replace it, so it was not killed.';

const conditionsWords = () => {
  const { cpu, cores, node } = conditionsNow();
  return `${new Date().toISOString().slice(0, 10)}, ${cpu}, ${cores} cores, Node.js ${node}`;
};

const printJson = (/** @type {unknown} */ record, /** @type {Io} */ io) =>
  void io.stdout.write(`${JSON.stringify(record, null, 2)}\n`);

const aboutLoad = ({ rate, connections, seconds, method, path }) =>
  `${method} ${visible(path)}, ${rate === undefined ? `${connections} connections` : `${rate} requests a second`} for ${seconds} s`;

async function explain(/** @type {unknown} */ error, values, /** @type {Io} */ io) {
  if (error instanceof Shortage) {
    io.stderr.write(`It cannot be decided now. ${error.story.got} ${error.story.why}\n`);
    return EXIT_CODES.inconclusive;
  }
  if (!(error instanceof NotUp)) throw error;
  const { program, message } = error;
  const findings = crashLoops(program.events, program.sinceMs);
  if (values.json) printJson({ obstacle: message, output: program.output(), findings }, io);
  else {
    const printed = visible(program.output()).trim().split('\n').slice(-LAST_LINES);
    const output = printed.map(cutLine).join('\n');
    const said = output && `It printed:\n${output.replace(/^/gm, '  ')}\n`;
    io.stdout.write(`${visible(message)}\n${said}`);
    const shown = { findings: allVisible(findings), undecided: [], looked: '' };
    const lines = conclusionLines(shown, createStyle(io.stdout, io.env), COLUMNS);
    if (findings.length > 0) io.stdout.write(`\n${lines.join('\n')}\n`);
  }
  return findings.length > 0 ? EXIT_CODES.failed : EXIT_CODES.inconclusive;
}
