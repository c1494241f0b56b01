/**
 * What was seen of a server, as a person reads it in a terminal of 80 columns. Pure: facts in, lines out; whoever prints
 * them escapes them.
 *
 * @typedef {import('./facts.js').Facts} Facts
 * @typedef {import('./facts.js').Seen} Seen
 * @typedef {import('../verdict/style.js').Style} Style
 */
import { chartLines, wrap } from '../verdict/terminal.js';
import { serversOf } from './facts.js';
import { counted as many, nameIt, nameOf } from './words.js';

const MOST_ROWS = 10;
const EVEN = 0.1; // of the most
const MEGABYTE = 2 ** 20;

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
      ...{
        says: outcome(facts),
        charts: byProcess(facts),
        adds: [...evenness(facts), ...failures(facts)],
      },
    },
    { head: `Latency, ${since}`, charts: latency(facts) },
    { head: 'Event loops', charts: [...busy(facts), ...silences(facts)], adds: loops(facts) },
    { head: 'Memory, the most under load', lines: memory(facts) },
    { head: 'Remarks', says: remarks(facts) },
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
  if (all.length <= MOST_ROWS) return all;
  const listening = processes.filter(({ listenedMs }) => listenedMs !== undefined).length;
  const ended = processes.filter(({ endMs }) => endMs !== undefined).length;
  const more = `and ${all.length - MOST_ROWS} more: ${many(processes.length, 'process', 'processes')} in all, of which ${listening} listen on ${port}, and ${ended} have ended`;
  return [...all.slice(0, MOST_ROWS), `  ${more}`];
}

function describe(one, port) {
  const { role, isNode, threads, listenedMs } = one;
  if (isForeign(one)) return `${nameIt(one)}, not Node.js`;
  if (!isNode) return `${nameIt(one)}, forked, not started yet`;
  const parts = [
    nameIt(one),
    role === 'primary' ? 'primary' : '',
    threads > 0 ? many(threads, 'worker thread') : '',
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

function outcome({ report, seen, counted, load, streams, closed }) {
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
  if (streams > 0)
    lines.push(
      `${many(streams, 'answer')} without an end of ${streams === 1 ? 'its' : 'their'} own (event streams): latency is until ${streams === 1 ? 'it' : 'each'} began, and our clients ended them.`,
    );
  if (closed)
    lines.push(
      `${many(closed.visitors, 'client')}, each with one request at a time${closed.unserved > 0 ? `: ${closed.unserved} never got an answer` : ''}.`,
    );
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
  const label = 'by the process that executed them';
  return [{ name: 'requests', label, unit: '', ...shortened(rows) }];
}

/** The first rows, and in words what the others are together, or at the most. */
function shortened(/** @type {{ name: string, value: number }[]} */ rows, isSum = true) {
  const others = rows.slice(MOST_ROWS).map(({ value }) => value);
  if (others.length === 0) return { rows };
  const sum = others.reduce((all, value) => all + value, 0);
  const told = isSum ? `${sum} together` : `at most ${Math.max(...others)}`;
  return { rows: rows.slice(0, MOST_ROWS), note: `and ${others.length} more: ${told}` };
}

/** Errors of the server, and what was begun and not answered, where that is not the same for all. */
function failures(facts) {
  const own = facts.processes.filter(({ failed, unanswered }) => failed > 0 || unanswered > 0);
  if (facts.processes.filter(({ requests }) => requests > 0).length < 2 || facts.streams) return [];
  return own
    .slice(0, MOST_ROWS)
    .map(
      (one) =>
        `${nameIt(one)}: ${one.failed} errors of the server, ${one.unanswered} not answered.`,
    );
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
  if (rows.length === 0) return [];
  return [
    { name: 'silences', label: 'the longest silence', unit: 'ms', ...shortened(rows, false) },
  ];
}

/** @returns {import('../verdict/terminal.js').Chart[]} */
function busy(facts) {
  const rows = facts.processes.flatMap((/** @type {Seen} */ one) =>
    one.busy === undefined ? [] : { name: nameIt(one), value: Math.round(one.busy * 100) },
  );
  const label = 'busy, of the time in which requests were sent';
  return rows.length > 0 ? [{ name: 'busy', label, unit: '%', ...shortened(rows, false) }] : [];
}

function loops(facts) {
  const { silences: all, starved, zeroMs } = facts;
  const busy = facts.processes.filter((one) => one.busy !== undefined && one.requests > 0);
  if (busy.length === 0) return [];
  /** @type {string[]} */
  const lines = [];
  const late = Math.max(...busy.map(({ lateMs = 0 }) => lateMs));
  lines.push(`Of 100 timers, 99 were at most ${late.toFixed(1)} ms late.`);
  if (all.length === 0) lines.push('None was silent for 50 ms.');
  else {
    const worst = all.reduce((a, b) => (b.ms > a.ms ? b : a));
    const under = worst.under === undefined ? 'with no request in flight' : `under ${worst.under}`;
    const when = ((worst.fromMs - zeroMs) / 1000).toFixed(2);
    lines.push(
      `The longest: ${worst.ms} ms in ${nameOf(facts, worst.pid)}, ${under}, ${when} s after the start.`,
    );
  }
  if (starved > 0.05)
    lines.push(
      `The machine was busy with other programs: a process waited for a core for ${Math.round(starved * 100)} % of the time. That is taken off the silences, and not off the latencies.`,
    );
  return lines;
}

function memory({ processes }) {
  const rows = processes.filter((one) => one.memory);
  if (rows.length === 0) return [];
  const others = rows.slice(MOST_ROWS);
  const named = [
    ...rows.slice(0, MOST_ROWS).map((one) => ({ name: nameIt(one), memory: one.memory })),
    ...(others.length > 0 ? [{ name: `${others.length} more`, memory: sumOf(others) }] : []),
    ...(rows.length > 1 ? [{ name: 'all together', memory: sumOf(rows) }] : []),
  ];
  const mb = (/** @type {number | undefined} */ bytes) =>
    (bytes === undefined ? '?' : (bytes / MEGABYTE).toFixed(0)).padStart(6);
  const width = Math.max(...named.map(({ name }) => name.length));
  const line = ({ name, memory: { rssBytes, pssBytes, ussBytes } }) =>
    `  ${name.padEnd(width)}${mb(rssBytes)}${mb(pssBytes)}${mb(ussBytes)}`;
  return [
    `  ${'MB'.padEnd(width)}   RSS   PSS   USS`,
    ...named.map(line),
    '  RSS: with what it shares; PSS: with its part of that; USS: its own alone.',
    '  Together only PSS is what all of them take: RSS counts twice what they share.',
  ];
}

/** What the system does not tell of one it does not tell of all. */
function sumOf(/** @type {Seen[]} */ rows) {
  const sum = (/** @type {'rssBytes' | 'pssBytes' | 'ussBytes'} */ kind) => {
    const all = rows.map(({ memory: one }) => one?.[kind] ?? NaN);
    const total = all.reduce((some, bytes) => some + bytes, 0);
    return Number.isNaN(total) ? undefined : total;
  };
  return { rssBytes: sum('rssBytes'), pssBytes: sum('pssBytes'), ussBytes: sum('ussBytes') };
}

/** What may well be meant. */
function remarks(/** @type {Facts} */ facts) {
  const serving = serversOf(facts).filter(({ endMs }) => endMs === undefined);
  const haveTimers = serving.length > 1 && serving.every(({ timers = 0 }) => timers > 0);
  if (!haveTimers) return [];
  return [
    `Each of the ${serving.length} processes that serve keeps a timer running. Is it a job, such as a mail at midnight? Then it is done ${serving.length} times.`,
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
