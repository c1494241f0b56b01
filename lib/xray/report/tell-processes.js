/** The processes, their listening sockets and their memory, in words. Pure. */
import { serversOf } from './facts.js';
import { counted as many, nameIt } from './words.js';

/** @import { Facts, Seen } from './facts.js' */

/** Processes in a table; it sums up the others. */
export const MOST_ROWS = 10;
const MEGABYTE = 2 ** 20;

export function treeLines({ processes, port }) {
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
  const more = `and ${all.length - MOST_ROWS} more: ${many(processes.length, 'process', 'processes')} in all, of which ${listening} listen on ${port}, and ${ended} exited`;
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

/** A worker that was forked a moment ago is Node.js, though it hasn't reported yet. */
const isForeign = (/** @type {Seen} */ { isNode, role }) => !isNode && role !== 'worker';

function ending({ code, signal }) {
  if (signal) return `killed by ${signal}`;
  return code === undefined || code === null ? 'exited' : `exited with code ${code}`;
}

export function listening(/** @type {Facts} */ facts) {
  const { port, address, policy, otherPorts, processes, holders } = facts;
  const servers = serversOf(facts).filter(({ endMs }) => endMs === undefined);
  const behind = processes.filter((one) => one.requests > 0 && !servers.includes(one)).length;
  const where = `Port ${port}${address ? ` (${address})` : ''}`;
  const others =
    otherPorts.length > 0 ? [`It listens on ${otherPorts.join(', ')}, see --port.`] : [];
  const natives = processes.filter((one) => isForeign(one) && holders.includes(one.pid));
  return [`${where}: ${whoAccepts(servers, { policy, natives, others: behind })}`, ...others];
}

function whoAccepts(/** @type {Seen[]} */ servers, { policy, natives, others }) {
  const [one] = servers;
  const count = servers.length;
  if (!one && natives.length > 0) return `${natives.map(nameIt).join(', ')}, not Node.js.`;
  if (!one) return 'no live Node.js process.';
  if (one.handle === 'handed')
    return `pid ${one.ppid} accepts every connection and deals them to ${count === 1 ? 'its one worker' : `${count} workers in turn`} (round robin).`;
  const received = servers.filter(({ handle }) => handle === 'received').length;
  if (received > 0)
    return `${received === 1 ? 'one process accepts' : `${received} processes accept`} from a listening socket that another process opened.`;
  if (count === 1 && one.requests === 0 && others > 0)
    return `${nameIt(one)} accepts, and passes connections on to ${others === 1 ? 'another process' : `${others} other processes`}.`;
  if (count === 1) return `${nameIt(one)} accepts by itself.`;
  if (policy === 'none')
    return `${count} workers accept from one shared socket, in the order in which the system wakes them (policy none).`;
  return `each of ${count} processes accepts from its own socket.`;
}

export function memory({ processes }) {
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
    '  RSS: with shared memory; PSS: with its part of that; USS: without it.',
    ...(rows.length > 1
      ? ['  Only the sum of PSS is what all of them take: RSS counts shared memory twice.']
      : []),
  ];
}

/** A kind that the system doesn't report for every process has no sum. */
function sumOf(/** @type {Seen[]} */ rows) {
  const sum = (/** @type {'rssBytes' | 'pssBytes' | 'ussBytes'} */ kind) => {
    const all = rows.map(({ memory: one }) => one?.[kind] ?? NaN);
    const total = all.reduce((some, bytes) => some + bytes, 0);
    return Number.isNaN(total) ? undefined : total;
  };
  return { rssBytes: sum('rssBytes'), pssBytes: sum('pssBytes'), ussBytes: sum('ussBytes') };
}

export function blind(/** @type {Facts} */ { processes, seen, report }) {
  const others = processes.filter(isForeign);
  const lines =
    others.length > 0
      ? [
          `${others.map(({ pid, name }) => `${name} (pid ${pid})`).join(', ')}: the probe looks into Node.js only.`,
        ]
      : [];
  if (seen === 0 && report.requests > 0)
    lines.push(
      'No Node.js process has begun a request, so there is no saying which process executed them.',
    );
  return lines;
}
