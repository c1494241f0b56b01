/**
 * The end of an X-ray: the findings, undecided ones, and the parts that were examined. An X-ray never acquits a server. Pure.
 * @typedef {import('./findings.js').Finding} Finding
 * @typedef {{ findings: Finding[], undecided: Finding[], looked: string }} Conclusion  looked: full sentences
 */
import { wrap } from '../../verdict/terminal.js';
import { sift } from './findings.js';
import { counted } from './words.js';

const TRIALS = {
  kill: ['a kill', '--kill'],
  stop: ['a stop', '--stop'],
  reload: ['a reload', '--reload SIGHUP'],
  scale: ['more workers', '--scale'],
};

/**
 * @param {{ all: Finding[], facts: import('./facts.js').Facts, plan: import('../load.js').Plan, kinds: string[], asked: string[] }} seen
 *   all: worst first; kinds: of the trials that were made; asked: of the trials that the user asked for
 * @returns {Conclusion}
 */
export function conclude({ all, facts, plan, kinds, asked }) {
  const { report, load } = facts;
  const seconds = ((load.toMs - load.fromMs) / 1000).toFixed(1);
  const names = Object.entries(TRIALS);
  const tried = names.flatMap(([kind, [name]]) => (kinds.includes(kind) ? name : []));
  const left = names.flatMap(([kind, [name, flag]]) =>
    kinds.includes(kind) ? [] : asked.includes(kind) ? name : `${name} (${flag})`,
  );
  const did = `Looked at: ${[`${counted(report.requests, 'request')}, ${plan.method} ${plan.path}, in ${seconds} s`, ...tried].join(', ')}.`;
  const rest = `Not looked at: ${['other requests', 'what takes longer', ...left].join(', ')}.`;
  return { ...sift(all), looked: `${did} ${rest}` };
}

/** @param {Finding[]} findings */
export const headOf = ({ length }) =>
  length === 1 ? 'One finding' : `${length} findings, worst first`;

export const NOTHING = 'No findings in the parts that were examined.';

/** @param {Finding} finding */
export const doubtOf = ({ says, doubt }) => `Not decided: ${says} ${doubt}`;

/** @param {Conclusion} conclusion @param {import('../../verdict/style.js').Style} style @param {number} columns */
export function conclusionLines({ findings, undecided, looked }, style, columns) {
  const isClear = findings.length + undecided.length === 0;
  return [
    ...(isClear ? [style.green(NOTHING)] : []),
    ...(findings.length > 0 ? [style.bold(headOf(findings))] : []),
    ...findings.flatMap((one, index) => lines(one, { style, columns, index })),
    ...undecided.flatMap((one) => [
      ...wrap(doubtOf(one), columns).map((line) => style.yellow(line)),
      ...evidence(one, columns),
    ]),
    ...(looked ? wrap(looked, columns).map((line) => style.dim(line)) : []),
  ];
}

function lines(/** @type {Finding} */ one, { style, columns, index }) {
  const [first, ...rest] = wrap(one.says, columns - 5);
  const lesson = one.see
    ? [`     lesson ${one.see[0]} explains it: npm run try lesson-${one.see[0]} ${one.see[1]}`]
    : [];
  return [
    `  ${index + 1}. ${style.red(first)}`,
    ...rest.map((line) => `     ${style.red(line)}`),
    ...evidence(one, columns),
    ...lesson,
  ];
}

const evidence = (/** @type {Finding} */ one, /** @type {number} */ columns) =>
  one.evidence.flatMap((each) =>
    wrap(each, columns - 7).map((line, row) => `     ${row === 0 ? '- ' : '  '}${line}`),
  );
