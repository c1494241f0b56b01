/**
 * What was seen of a server, as a person reads it in a terminal of 80 columns. Pure: facts in, lines out; whoever prints
 * them escapes them.
 *
 * @typedef {import('./facts.js').Facts} Facts
 * @typedef {import('./facts.js').Seen} Seen
 * @typedef {import('./trials.js').Trial} Trial
 * @typedef {import('../verdict/style.js').Style} Style
 */
import { chartLines, format, wrap } from '../verdict/terminal.js';
import { serversOf } from './facts.js';
import { nameIt, whatWasDone } from './findings.js';

const MOST_ROWS = 16;
const EVEN = 0.1; // of the most
const MEGABYTE = 2 ** 20;
const ROUGH = 0.1; // half an interval that is wider says too little
const MOST_COST = 0.03; // of the throughput, by the probe

/**
 * @typedef {object} Section  of what was seen; its parts in the order in which they are shown
 * @property {string} head
 * @property {string[]} [says]  sentences
 * @property {import('../verdict/terminal.js').Chart[]} [charts]
 * @property {string[]} [lines]  whose blanks matter
 * @property {string[]} [adds]  sentences, too
 *
 * @param {Facts} facts
 * @returns {Section[]}
 */
export function sectionsOf(facts) {
  const since = facts.load.isOpen ? 'from when each was due' : 'from when each was sent';
  /** @type {Section[]} */
  const all = [
    { head: 'Processes', lines: treeLines(facts) },
    { head: 'Who listens, who accepts', says: listening(facts) },
    {
      head: 'Requests',
      ...{ says: outcome(facts), charts: byProcess(facts), adds: evenness(facts) },
    },
    { head: `Latency, ${since}`, charts: latency(facts) },
    { head: 'Event loops', charts: silences(facts), adds: loops(facts) },
    { head: 'Memory, the most under load', lines: memory(facts) },
    { head: 'What was not seen', says: blind(facts) },
  ];
  return all.filter(({ says, charts, lines, adds }) =>
    [says, charts, lines, adds].some((part) => part && part.length > 0),
  );
}

/**
 * @param {Facts} facts
 * @param {Style} style
 * @param {number} columns
 * @returns {string[]}
 */
export const factLines = (facts, style, columns) =>
  sectionsOf(facts).flatMap((section) => [...sectionLines(section, style, columns), '']);

/**
 * @param {Section} section
 * @param {Style} style
 * @param {number} columns
 * @returns {string[]}
 */
export function sectionLines(
  { head, says = [], charts = [], lines = [], adds = [] },
  style,
  columns,
) {
  const say = (/** @type {string[]} */ sentences) =>
    sentences.flatMap((one) => wrap(one, columns - 2).map((line) => `  ${line}`));
  const drawn = charts.flatMap((chart) => chartLines(chart, style));
  const space = says.length > 0 && drawn.length > 0 ? [''] : [];
  return [style.bold(head), ...say(says), ...space, ...drawn, ...lines, ...say(adds)];
}

/** Each below the one that started it. */
function treeLines({ processes, port }) {
  const pids = new Set(processes.map(({ pid }) => pid));
  const below = (parent) => processes.filter(({ ppid }) => ppid === parent);
  const lines = (/** @type {Seen} */ one, depth) => [
    `  ${'  '.repeat(depth)}${describe(one, port)}`,
    ...below(one.pid).flatMap((child) => lines(child, depth + 1)),
  ];
  const roots = processes.filter(({ ppid }) => ppid === undefined || !pids.has(ppid));
  const all = roots.flatMap((one) => lines(one, 0));
  const more = all.length - 2 * MOST_ROWS;
  return more > 0 ? [...all.slice(0, 2 * MOST_ROWS), `  and ${more} more`] : all;
}

function describe(one, port) {
  const { pid, name, role, worker, isNode, threads, listenedMs } = one;
  if (isForeign(one)) return `${pid} ${name}, not Node.js`;
  if (!isNode) return `${pid} worker ${worker}, forked, not started yet`;
  const what =
    role === 'worker' ? `worker ${worker}` : role === 'primary' ? `${name}, primary` : name;
  const parts = [
    `${pid} ${what}`,
    threads > 0 ? `${threads} worker ${threads === 1 ? 'thread' : 'threads'}` : '',
    listenedMs === undefined ? '' : `listens on ${port}`,
    one.endMs === undefined ? '' : ending(one),
  ];
  return parts.filter(Boolean).join(', ');
}

/** A worker that was forked a moment ago is Node.js all the same. */
const isForeign = (/** @type {Seen} */ { isNode, role }) => !isNode && role !== 'worker';

function ending({ code, signal }) {
  if (signal) return `ended by ${signal}`;
  return code === undefined || code === null ? 'ended' : `ended with exit code ${code}`;
}

function listening(/** @type {Facts} */ facts) {
  const { port, address, policy, otherPorts, processes, holders } = facts;
  const servers = serversOf(facts).filter(({ endMs }) => endMs === undefined);
  const behind = processes.filter((one) => one.requests > 0 && !servers.includes(one)).length;
  const where = `Port ${port}${address ? ` (${address})` : ''}`;
  const others =
    otherPorts.length > 0 ? [`It listens on ${otherPorts.join(', ')}, too: see --port.`] : [];
  const natives = processes.filter((one) => isForeign(one) && holders.includes(one.pid));
  return [`${where}: ${whoAccepts(servers, { policy, natives, others: behind })}`, ...others];
}

function whoAccepts(/** @type {Seen[]} */ servers, { policy, natives, others }) {
  const [one] = servers;
  const count = servers.length;
  if (!one && natives.length > 0) return `${natives.map(nameIt).join(', ')}, not Node.js.`;
  if (!one) return 'no Node.js process that is still there.';
  if (one.handle === 'handed')
    return `pid ${one.ppid} accepts every connection and deals them to ${count === 1 ? 'its one worker' : `${count} workers in turn`} (round robin).`;
  const received = servers.filter(({ handle }) => handle === 'received').length;
  if (received > 0)
    return `${received === 1 ? 'one process accepts' : `${received} processes accept`} from a listening socket that another process opened.`;
  if (count === 1 && one.requests === 0 && others > 0)
    return `${nameIt(one)} accepts, and passes connections on to ${others === 1 ? 'another process' : `${others} other processes`}.`;
  if (count === 1) return `${nameIt(one)} accepts by itself.`;
  if (policy === 'none')
    return `${count} workers accept from one shared socket, whoever is woken first (policy none).`;
  return `each of ${count} processes accepts from a socket of its own.`;
}

function outcome({ report, seen, counted, load }) {
  const seconds = ((load.toMs - load.fromMs) / 1000).toFixed(1);
  const statuses = Object.entries(report.statuses)
    .filter(([status]) => status !== '0')
    .map(([status, count]) => `status ${status}: ${count}`);
  const errors = Object.entries(report.errors).map(([kind, count]) => `${kind}: ${count}`);
  const lines = [`${report.requests} in ${seconds} s. ${[...statuses, ...errors].join(', ')}.`];
  if (report.statuses[404] === report.requests)
    lines.push('All were 404: say with --path what there is.');
  const isRedirect = (/** @type {string} */ status) => /^3\d\d$/.test(status) && status !== '304';
  if (report.requests > 0 && Object.keys(report.statuses).every(isRedirect))
    lines.push('All were redirects, which are not followed: say with --path where they lead.');
  if (counted > 0)
    lines.push(
      `${counted} of them were counted exactly, but not recorded one by one: in a flood that would slow your server down.`,
    );
  if (seen < report.requests)
    lines.push(`The probe has seen ${seen} of them begin in a Node.js process.`);
  return lines;
}

/** @returns {import('../verdict/terminal.js').Chart[]} */
function byProcess(facts) {
  const servers = facts.processes.filter(({ requests }) => requests > 0);
  const names = new Set([...serversOf(facts), ...servers]);
  const rows = [...names].map((one) => ({ name: nameIt(one), value: one.requests }));
  if (rows.length < 2) return [];
  const shown = rows.slice(0, MOST_ROWS);
  const note = rows.length > shown.length ? `and ${rows.length - shown.length} more` : undefined;
  const label = 'by the process that executed them';
  return [{ name: 'requests', label, unit: '', rows: shown, note }];
}

function evenness(facts) {
  const servers = serversOf(facts);
  const wasThere = (/** @type {Seen} */ { listenedMs = 0, endMs }) =>
    listenedMs < facts.load.fromMs && !endMs;
  if (servers.length < 2 || facts.seen === 0 || !servers.every(wasThere)) return [];
  const counts = servers.map(({ requests }) => requests);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const kind = facts.load.isFresh
    ? 'each on a connection of its own'
    : 'on kept connections, each of which stays where it is';
  const word = most - least <= Math.max(1, EVEN * most) ? 'Even' : 'Uneven';
  const why =
    word === 'Uneven' && facts.policy === 'none'
      ? ' The system wakes whom it likes: see lesson 3.'
      : '';
  return [`${word}: from ${least} to ${most} each, ${kind}.${why}`];
}

/** @returns {import('../verdict/terminal.js').Chart[]} */
function latency({ report }) {
  const { p50, p90, p99, max } = report.latencyMs;
  const all = Object.entries({ median: p50, '90 %': p90, '99 %': p99, most: max });
  const rows = all.map(([name, value]) => ({ name, value }));
  return [{ name: 'latency', label: 'so many were answered within', unit: 'ms', rows }];
}

/** The longest silence of each process. @returns {import('../verdict/terminal.js').Chart[]} */
function silences(facts) {
  const rows = facts.processes.flatMap((one) => {
    const own = facts.silences.filter(({ pid }) => pid === one.pid);
    if (own.length === 0) return [];
    return { name: nameIt(one), value: Math.max(...own.map(({ ms }) => ms)) };
  });
  const shown = rows.slice(0, MOST_ROWS);
  if (rows.length === 0) return [];
  return [{ name: 'silences', label: 'the longest silence', unit: 'ms', rows: shown }];
}

function loops(facts) {
  const { silences: all, starved, zeroMs } = facts;
  const busy = facts.processes.filter((one) => one.busy !== undefined && one.requests > 0);
  if (busy.length === 0) return [];
  const shares = busy.map((one) => Math.round((one.busy ?? 0) * 100));
  const [least, most] = [Math.min(...shares), Math.max(...shares)];
  const range = least === most ? `${most} %` : `${least} to ${most} %`;
  const lines = [`Busy for ${range} of the time where requests were executed.`];
  const late = Math.max(...busy.map(({ lateMs = 0 }) => lateMs));
  lines.push(`Of 100 timers, 99 were at most ${late.toFixed(1)} ms late.`);
  if (all.length === 0) lines.push('None was silent for 50 ms.');
  else {
    const worst = all.reduce((a, b) => (b.ms > a.ms ? b : a));
    const under = worst.under === undefined ? 'with no request under way' : `under ${worst.under}`;
    const when = ((worst.fromMs - zeroMs) / 1000).toFixed(2);
    lines.push(
      `The longest: ${worst.ms} ms in pid ${worst.pid}, ${under}, ${when} s after the start.`,
    );
  }
  if (starved > 0.05)
    lines.push(
      `The machine was busy: a process waited for a core for ${Math.round(starved * 100)} % of the time. That is taken off the silences, and not off the latencies.`,
    );
  return lines;
}

function memory({ processes }) {
  const rows = processes.filter((one) => one.memory);
  if (rows.length === 0) return [];
  const mb = (/** @type {number | undefined} */ bytes) =>
    (bytes === undefined ? '?' : (bytes / MEGABYTE).toFixed(0)).padStart(6);
  const width = Math.max(...rows.map((one) => nameIt(one).length));
  const line = (one) =>
    `  ${nameIt(one).padEnd(width)}${mb(one.memory.rssBytes)}${mb(one.memory.pssBytes)}${mb(one.memory.ussBytes)}`;
  return [
    `  ${'MB'.padEnd(width)}   RSS   PSS   USS`,
    ...rows.slice(0, MOST_ROWS).map(line),
    ...(rows.length > MOST_ROWS ? [`  and ${rows.length - MOST_ROWS} more`] : []),
    '  RSS: with what it shares; PSS: with its part of that; USS: its own alone',
  ];
}

function blind(/** @type {Facts} */ { processes, seen, report }) {
  const others = processes.filter(isForeign);
  const lines =
    others.length > 0
      ? [
          `${others.map(({ pid, name }) => `${name} (pid ${pid})`).join(', ')}: the probe looks into Node.js only.`,
        ]
      : [];
  if (seen === 0 && report.requests > 0)
    lines.push(
      'No Node.js process has begun a request, so nothing is said about who executed them.',
    );
  return lines;
}

/**
 * @param {Trial} trial
 * @param {string} head
 * @returns {Section}
 */
export function trialSection(trial, head) {
  const { sent, lost, underWay, repeated, errors } = trial;
  const total = lost.fresh + lost.kept;
  const kinds = Object.entries(errors).map(([kind, count]) => `${kind}: ${count}`);
  const begun = trial.kind === 'stop' ? '' : `${underWay} of them under way in a process; `;
  const says = [
    `${whatWasDone(trial)}, with ${sent.fresh} requests on fresh connections and ${sent.kept} on kept ones before, then and after.`,
    total === 0
      ? 'None was lost.'
      : `Lost: ${lost.fresh} on fresh connections, ${lost.kept} on kept ones. ${begun}${kinds.join(', ')}.`,
    ...(repeated > 0
      ? [
          `${repeated} met a kept connection that was just being closed, and ${repeated === 1 ? 'was' : 'were'} sent again, as browsers do.`,
        ]
      : []),
    ...howItWent(trial),
  ];
  return { head, says, lines: eachReload(trial) };
}

/** A row for each of several reloads. */
function eachReload(/** @type {Trial} */ { each = [] }) {
  if (each.length < 2) return [];
  const row = (/** @type {string[]} */ ...cells) =>
    `  ${cells.map((cell, index) => cell.padStart(index === 0 ? 6 : 14)).join('')}`;
  const of = (/** @type {number} */ some, /** @type {number} */ all) => `${some} of ${all}`;
  return [
    row('reload', 'took', 'lost, fresh', 'lost, kept'),
    ...each.map(({ tookMs, sent, lost }, index) =>
      row(
        String(index + 1),
        tookMs === undefined ? 'not whole' : `${(tookMs / 1000).toFixed(2)} s`,
        of(lost.fresh, sent.fresh),
        of(lost.kept, sent.kept),
      ),
    ),
  ];
}

function commandFailed(/** @type {import('./command.js').Failed} */ { code, printed }) {
  const last = printed.trim().split('\n').at(-1);
  const how = code === null ? 'was not over in time, or was ended' : `ended with exit code ${code}`;
  return `The command ${how}${last ? `: ${last}` : ''}.`;
}

/**
 * @param {import('./scale.js').Scaled} scaled
 * @param {string} head
 * @returns {Section}
 */
export function scaleSection({ variable, isObeyed, steps, choice }, head) {
  if (!isObeyed) {
    const served = steps.map(({ asked, serve }) => `${serve} with ${variable}=${asked}`);
    const says = `The processes that serve were not as many as asked for: ${served.join(', ')}. Name the variable that says how many there are to be: --workers-env WEB_CONCURRENCY`;
    return { head, says: [says] };
  }
  const [first] = steps;
  const rows = steps.map(({ asked, perSecond }) => ({ name: String(asked), value: perSecond }));
  const ratios = steps.slice(1).map(({ asked, ratio, ceiling }) => {
    const interval = `95 % interval ${format(ratio.low)} to ${format(ratio.high)}`;
    return `${asked} against ${first.asked}: ${format(ratio.value)} times as fast (${interval}). Ceiling ${format(asked / first.asked)} for work that waits, ${format(ceiling)} for work that computes, which is what as many spinning threads got here meanwhile.`;
  });
  const errors = steps.reduce((sum, one) => sum + one.errors, 0);
  return {
    head,
    charts: [{ name: 'scale', label: 'requests a second, by workers', unit: '', rows }],
    adds: [
      ...ratios,
      ...(errors > 0 ? [`${errors} requests failed.`] : []),
      whatItChose(choice, steps.at(-1)?.asked),
    ],
  };
}

/**
 * @param {import('./cost.js').Cost} cost
 * @param {string} head
 * @returns {Section}
 */
export function costSection({ share, obstacle }, head) {
  if (!share) return { head, says: [obstacle ?? ''] };
  const [value, low, high] = [share.value, share.low, share.high].map(
    (one) => `${(one * 100).toFixed(1)} %`,
  );
  if (!((share.high - share.low) / 2 <= ROUGH))
    return {
      head,
      says: [`Its windows differ too much to tell: somewhere from ${low} to ${high}.`],
    };
  const says = [`The probe takes ${value} of its throughput (95 % interval ${low} to ${high}).`];
  if (share.low > MOST_COST)
    says.push(
      'That is more than the 3 % that it should take at the most: without it the server is faster than is told here.',
    );
  return { head, says };
}

function whatItChose(/** @type {number | undefined} */ choice, most) {
  if (choice === undefined) return 'The windows differ too much to choose: is the machine busy?';
  const here = 'for this request, on this machine';
  if (choice === most) return `It would choose ${choice}, the most that were tried, ${here}.`;
  return `It would choose ${choice}: more are not surely faster by 5 %, ${here}.`;
}

function howOften(/** @type {NonNullable<Trial['each']>} */ each, servers) {
  const took = each.flatMap(({ tookMs }) => tookMs ?? []);
  if (took.length < each.length)
    return `Reload ${each.length} did not replace all ${servers}, so it was the last.`;
  const [least, most] = [Math.min(...took), Math.max(...took)].map((ms) => (ms / 1000).toFixed(2));
  return `All ${servers} were replaced in each of ${each.length} reloads, within ${least} to ${most} s.`;
}

/** @param {Trial} trial @returns {string[]} */
function howItWent(trial) {
  const { kind, tookMs, waitedMs = 0, fate, servers, replaced, left, failed, each = [] } = trial;
  const took = tookMs === undefined ? '' : `${(tookMs / 1000).toFixed(2)} s`;
  if (kind === 'kill' && !fate)
    return [
      took
        ? `Full capacity again after ${took}: ${servers} serve.`
        : `Nobody took its place within ${(waitedMs / 1000).toFixed(1)} s, and nothing more seemed to come.`,
    ];
  const ended =
    fate && `It ended ${fate.signal ? `by ${fate.signal}` : `with exit code ${fate.code}`}`;
  if (kind === 'kill') return [`${ended}, too.`];
  if (kind === 'reload') {
    if (failed) return [commandFailed(failed), `${replaced} of ${servers} were replaced.`];
    if (ended) return [`${ended}.`];
    if (each.length > 1) return [howOften(each, servers)];
    if (replaced === 0) return ['No process was replaced.'];
    return [
      took
        ? `All ${servers} were replaced within ${took}.`
        : `${replaced} of ${servers} were replaced.`,
    ];
  }
  const names = left.map((one) => `${one.name} (pid ${one.pid})`).join(', ');
  return [
    ended ? `${ended} after ${took}.` : 'It still ran after 10 s.',
    ...(ended ? [left.length > 0 ? `Left behind: ${names}.` : 'Nothing was left behind.'] : []),
  ];
}

/**
 * @param {import('./findings.js').Finding[]} findings
 * @param {Style} style
 * @param {number} columns
 * @returns {string[]}
 */
export function findingLines(findings, style, columns) {
  if (findings.length === 0)
    return [style.green('No findings: nothing was seen that should be otherwise.')];
  const head = findings.length === 1 ? 'One finding' : `${findings.length} findings, worst first`;
  return [
    style.bold(head),
    ...findings.flatMap(({ says, evidence, see }, index) => {
      const [first, ...rest] = wrap(says, columns - 5);
      const lines = [
        `  ${index + 1}. ${style.red(first)}`,
        ...rest.map((line) => `     ${style.red(line)}`),
      ];
      const more = evidence.flatMap((one) =>
        wrap(one, columns - 7).map((line, row) => `     ${row === 0 ? '- ' : '  '}${line}`),
      );
      const lesson = see
        ? [`     lesson ${see[0]} explains it: npm run try lesson-${see[0]} ${see[1]}`]
        : [];
      return [...lines, ...more, ...lesson];
    }),
  ];
}
