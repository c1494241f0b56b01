/**
 * EVIDENCE.md from measurements. Pure: results in, Markdown out. It names what could not be measured, and no cell is
 * filled from anything but a result.
 *
 * @typedef {import('./measure.js').Result} Result
 * @typedef {import('./measure.js').Lost} Lost
 * @typedef {import('../../lib/measure/stats.js').Interval} Interval
 *
 * @typedef {object} Evidence
 * @property {string} command
 * @property {string} date  as 2026-11-22
 * @property {number} minutes  that it took
 * @property {import('../../lib/measure/conditions.js').Conditions} conditions
 * @property {number} memoryGb
 * @property {string} [disturbance]  a possible disturbance
 * @property {import('./measure.js').Amounts} amounts
 * @property {Result[]} results
 * @property {{ closed: import('./articles.js').Closed[], open: Record<string, import('../../lib/measure/load-report.js').Measured> }} [articles]
 */
import { reportTable } from '../../lib/measure/load-report.js';
import { shareOf } from '../../lib/measure/stats.js';
import { format } from '../../lib/verdict/terminal.js';

export const EXAM_TITLE = '## The exam of lesson 12';
const MEGABYTE = 2 ** 20;
const NONE = '–';

/** The last section, which bench/exam.js writes and a new page keeps. @param {string} page @returns {string} */
export const examSectionOf = (page) => {
  const at = page.indexOf(EXAM_TITLE);
  return at < 0 ? '' : `\n${page.slice(at)}`;
};

/** @param {Evidence} evidence @returns {string} */
export function evidencePage({ articles, ...evidence }) {
  const measured = evidence.results.filter(({ obstacle }) => !obstacle);
  return [
    ...head(evidence),
    ...peers(evidence),
    ...throughput(measured, evidence),
    ...memory(measured),
    ...kills(measured, evidence),
    ...reloads(measured, evidence),
    ...stops(measured, evidence),
    ...doubts(measured),
    ...(articles ? tables(articles) : []),
  ].join('\n');
}

/** @param {Evidence} evidence */
function head({ command, date, minutes, conditions, memoryGb, disturbance }) {
  const { node, platform, cpu, cores, quotaCores } = conditions;
  const quota = quotaCores === null ? '' : `, a quota of ${quotaCores} CPUs`;
  return [
    `<!-- Written by ${command}: change bench/peers/evidence.js, not this. -->`,
    '',
    '# The field beside us',
    '',
    'The same small application ([bench/peers/app.js](bench/peers/app.js)) brought to several processes in several ways,',
    'and the same load on each, on the same machine.',
    '',
    ...(disturbance ? [`**Do not trust these numbers: ${disturbance}.**`, ''] : []),
    `- Measured by \`${command}\` on ${date}, in ${Math.round(minutes)} minutes.`,
    `- Machine: ${cpu}, ${cores} cores${quota}, ${memoryGb} GB, ${platform}. Node.js ${node}.`,
    '- Square brackets hold the 95 % interval.',
    '',
  ];
}

/** @param {Evidence} evidence */
const peers = ({ results, amounts }) => [
  `## The peers`,
  '',
  `Each with ${amounts.workers} serving processes (N).`,
  '',
  ...table(
    ['', 'what it is', 'version'],
    results.map(({ name, about, version, obstacle }) => [
      name,
      obstacle ? `${about}. Not measured: ${obstacle}.` : about,
      version ?? '',
    ]),
  ),
];

/** @param {Result[]} results @param {Evidence} evidence */
function throughput(results, { amounts }) {
  const cell = (/** @type {import('./measure.js').Speedup | undefined} */ one) =>
    one
      ? [
          `${times(one)}${one.note ? ` (${one.note})` : ''}`,
          format(one.ceiling),
          `${format(one.controlPerSecond)} → ${format(one.candidatePerSecond)}`,
        ]
      : [NONE, NONE, NONE];
  return [
    '## Throughput',
    '',
    'How many times the requests a second of one process, measured in the same minute. Blocking work takes 10 ms and no',
    `CPU; its ceiling is N = ${amounts.workers}. CPU work is a fixed count; its ceiling is what the same number of spinning threads got, in the`,
    'same rounds. Requests a second are from one process to N, on kept connections.',
    '',
    ...table(
      ['', 'blocking', 'ceiling', 'requests/s', 'CPU', 'ceiling', 'requests/s'],
      results.map(({ name, blocking, cpu }) => [name, ...cell(blocking), ...cell(cpu)]),
    ),
  ];
}

/** @param {Result[]} results */
const memory = (results) => [
  '## Memory',
  '',
  'All processes together, under 200 requests a second, in MB. PSS counts each process’s part of shared memory, USS only',
  'the memory that is not shared.',
  '',
  ...table(
    ['', 'processes', 'PSS', 'USS'],
    results.map(({ name, processes, pssBytes, ussBytes }) => [
      name,
      processes === undefined ? NONE : String(processes),
      interval(pssBytes, MEGABYTE),
      interval(ussBytes, MEGABYTE),
    ]),
  ),
];

/** @param {Result[]} results @param {Evidence} evidence */
const kills = (results, { amounts }) => [
  '## A worker is killed',
  '',
  `SIGKILL under 200 requests a second, half of them on fresh connections and half on kept ones, ${often(amounts.trials)}, each with a new`,
  'start: seconds until as many serve as before, and requests lost, that is, not answered within 3 s (9 s while others want the cores). Requests that the killed process had begun could not be saved.',
  '',
  ...table(
    ['', 'full capacity after, s', 'lost, fresh', 'lost, kept'],
    results.map(({ name, kill, isAlone }) => {
      if (!kill) return [name, isAlone ? 'one process: not killed' : NONE, NONE, NONE];
      const full = interval(kill.fullMs, 1000);
      const never = kill.never > 0 ? `never in ${kill.never} of ${kill.lost.times}` : '';
      return [
        name,
        [kill.fullMs && full, never].filter(Boolean).join('; '),
        ...bothLost(kill.lost),
      ];
    }),
  ),
];

/** @param {Result[]} results @param {Evidence} evidence */
const reloads = (results, { amounts }) => [
  '## A reload',
  '',
  `${amounts.reloads} or more, one after the other under the same traffic${amounts.reloadRequests > 0 ? `, until ${amounts.reloadRequests} requests were sent` : ''}.`,
  'Lost: not answered, or begun by a process and answered only after a retry. The',
  'share’s interval is Wilson’s. Peers without a reload are left out.',
  '',
  ...table(
    ['', 'reloads', 'each, s', 'lost, fresh', 'lost, kept'],
    results.flatMap(({ name, reload }) => {
      if (!reload) return [];
      const { times: done } = reload.lost;
      const count = done < reload.wanted ? `${done} of ${reload.wanted}` : String(done);
      return [[name, count, interval(reload.eachMs, 1000), ...bothLost(reload.lost)]];
    }),
  ),
];

/** @param {Result[]} results @param {Evidence} evidence */
const stops = (results, { amounts }) => [
  '## A stop',
  '',
  `SIGTERM to its first process under the same traffic, ${often(amounts.trials)}: seconds until it exited, requests begun and not`,
  'answered, and whether processes were left behind.',
  '',
  ...table(
    ['', 'exited after, s', 'lost, fresh', 'lost, kept', 'left behind'],
    results.map(({ name, stop }) => {
      if (!stop) return [name, NONE, NONE, NONE, NONE];
      const never = stop.never > 0 ? `not within 10 s in ${stop.never} of ${stop.lost.times}` : '';
      const took = stop.tookMs && interval(stop.tookMs, 1000);
      const hasLeft = stop.left > 0 ? `in ${stop.left} of ${stop.lost.times}` : 'nothing';
      const left = stop.never === stop.lost.times ? NONE : hasLeft;
      return [name, [took, never].filter(Boolean).join('; '), ...bothLost(stop.lost), left];
    }),
  ),
];

const often = (/** @type {number} */ times) => (times === 1 ? 'once' : `${times} times`);

function doubts(/** @type {Result[]} */ results) {
  const all = results.flatMap(({ name, doubts: own }) => own.map((one) => `- ${name}, ${one}`));
  return all.length > 0 ? ['## What could not be measured', '', ...all, ''] : [];
}

/** @param {NonNullable<Evidence['articles']>} articles */
const tables = ({ closed, open }) => [
  '## The articles, measured again',
  '',
  'With our own load generators, not Siege and vegeta (`npm run bench:vegeta` puts ours beside vegeta).',
  '',
  'Robinson, Express with 10 to 20 ms of blocking work, Siege with 100 clients: 58.69 requests a second, and 188.72 with four',
  'workers. Here, 100 clients that ask again at once (Siege without `-b` thinks in between):',
  '',
  ...table(
    ['', 'requests a second', 'mean answer, s', 'errors'],
    closed.map(({ name, perSecond, meanMs, errors }) => [
      name,
      interval(perSecond),
      (meanMs / 1000).toFixed(2),
      String(errors),
    ]),
  ),
  'TENTIAL, node:http with 8.6 ms of blocking work, vegeta at 200 a second for 20 s: throughput 116 and a 90th percentile of',
  '28.7 s, and with a cluster 199.98 and 8.3 ms. Here, one run each:',
  '',
  '```text',
  ...reportTable(open).map((line) => line.trimEnd()),
  '```',
  '',
];

/** 1.95 [1.93 to 1.97] */
const times = (/** @type {Interval} */ one) => interval(one, 1, 'too rough to tell');

/** @param {Interval | undefined} one @param {number} [unit] @param {string} [unknown]  why there is no interval */
function interval(one, unit = 1, unknown = 'once') {
  if (!one) return NONE;
  const [value, low, high] = [one.value, one.low, one.high].map((number) => number / unit);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return `${format(value)} (${unknown})`;
  return `${format(value)} [${format(Math.max(0, low))} to ${format(high)}]`;
}

const bothLost = (/** @type {Lost} */ { sent, lost }) =>
  /** @type {const} */ (['fresh', 'kept']).map((kind) => {
    const of = sent[kind];
    if (of === 0) return NONE;
    const { low, high } = shareOf(lost[kind], of);
    const percent = (/** @type {number} */ share) => format(share * 100);
    return `${lost[kind]} of ${of} [${percent(low)} to ${percent(high)} %]`;
  });

/** @param {string[]} names @param {string[][]} rows */
function table(names, rows) {
  const safe = (/** @type {string} */ cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ');
  const line = (/** @type {string[]} */ cells) => `| ${cells.map(safe).join(' | ')} |`;
  return [line(names), line(names.map(() => '---')), ...rows.map(line), ''];
}
