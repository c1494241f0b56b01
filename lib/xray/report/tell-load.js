/** Requests, latencies and event loops, in words and charts. Pure. */
import { serversOf } from './facts.js';
import { MOST_ROWS } from './tell-processes.js';
import { counted as many, nameIt, nameOf } from './words.js';

/** @import { Facts, Seen } from './facts.js' */

const EVEN = 0.1; // of the most

export function outcome({ report, seen, counted, load, streams, closed }) {
  const seconds = ((load.toMs - load.fromMs) / 1000).toFixed(1);
  const statuses = Object.entries(report.statuses)
    .filter(([status]) => status !== '0')
    .map(([status, count]) => `status ${status}: ${count}`);
  const errors = Object.entries(report.errors).map(([kind, count]) => `${kind}: ${count}`);
  const lines = [`${report.requests} in ${seconds} s. ${[...statuses, ...errors].join(', ')}.`];
  if (report.statuses[404] === report.requests)
    lines.push('All were 404: name an existing path with --path.');
  const isRedirect = (/** @type {string} */ status) => /^3\d\d$/.test(status) && status !== '304';
  if (report.requests > 0 && Object.keys(report.statuses).every(isRedirect))
    lines.push('All were redirects, which are not followed: name their target with --path.');
  if (streams > 0)
    lines.push(
      `${many(streams, 'answer')} without an end (event streams): latency is until ${streams === 1 ? 'it' : 'each'} began, and our clients closed them.`,
    );
  if (closed)
    lines.push(
      `${many(closed.visitors, 'client')}, each with one request at a time${closed.unserved > 0 ? `: ${closed.unserved} never got an answer` : ''}.`,
    );
  if (counted > 0)
    lines.push(
      `${counted} of the requests were counted exactly, but not recorded one by one: in a flood that would slow your server down.`,
    );
  if (seen < report.requests)
    lines.push(`The probe recorded the beginning of ${seen} of them in a Node.js process.`);
  return lines;
}

/** @returns {import('../../verdict/terminal.js').Chart[]} */
export function byProcess(facts) {
  const servers = facts.processes.filter(({ requests }) => requests > 0);
  const names = new Set([...serversOf(facts), ...servers]);
  const rows = [...names].map((one) => ({ name: nameIt(one), value: one.requests }));
  if (rows.length < 2) return [];
  const label = 'by the process that executed them';
  return [{ name: 'requests', label, unit: '', ...shortened(rows) }];
}

/** Errors and unanswered requests by process, if there are several. */
export function failures(facts) {
  const own = facts.processes.filter(({ failed, unanswered }) => failed > 0 || unanswered > 0);
  if (facts.processes.filter(({ requests }) => requests > 0).length < 2 || facts.streams) return [];
  return own
    .slice(0, MOST_ROWS)
    .map((one) => `${nameIt(one)}: ${one.failed} server errors, ${one.unanswered} not answered.`);
}

export function evenness(facts) {
  const servers = serversOf(facts);
  const wasThere = (/** @type {Seen} */ { listenedMs = 0, endMs }) =>
    listenedMs < facts.load.fromMs && !endMs;
  if (servers.length < 2 || facts.seen === 0 || !servers.every(wasThere)) return [];
  const counts = servers.map(({ requests }) => requests);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const kind = facts.load.isFresh
    ? 'each on a new connection'
    : 'on kept connections, each of which stays with its process';
  const word = most - least <= Math.max(1, EVEN * most) ? 'Even' : 'Uneven';
  const why =
    word === 'Uneven' && facts.policy === 'none'
      ? ' The system chooses which process it wakes: see lesson 3.'
      : '';
  return [`${word}: from ${least} to ${most} each, ${kind}.${why}`];
}

/** @returns {import('../../verdict/terminal.js').Chart[]} */
export function latency({ report }) {
  const { p50, p90, p99, max } = report.latencyMs;
  const all = Object.entries({ median: p50, '90 %': p90, '99 %': p99, most: max });
  const rows = all.map(([name, value]) => ({ name, value }));
  return [{ name: 'latency', label: 'share of the requests answered within', unit: 'ms', rows }];
}

/** The longest silence of each process. @returns {import('../../verdict/terminal.js').Chart[]} */
export function silences(facts) {
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

/** @returns {import('../../verdict/terminal.js').Chart[]} */
export function busy(facts) {
  const rows = facts.processes.flatMap((/** @type {Seen} */ one) =>
    one.busy === undefined ? [] : { name: nameIt(one), value: Math.round(one.busy * 100) },
  );
  const label = 'busy, of the time in which requests were sent';
  return rows.length > 0 ? [{ name: 'busy', label, unit: '%', ...shortened(rows, false) }] : [];
}

export function loops(facts) {
  const { silences: all, starved, zeroMs } = facts;
  const busy = facts.processes.filter((one) => one.busy !== undefined && one.requests > 0);
  if (busy.length === 0) return [];
  const lines = [];
  const late = Math.max(...busy.map(({ lateMs = 0 }) => lateMs));
  lines.push(`Of 100 timers, 99 were at most ${late.toFixed(1)} ms late.`);
  if (all.length === 0) lines.push('No event loop was silent for 50 ms.');
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
      `The machine was busy with other programs: a process waited for a core for ${Math.round(starved * 100)} % of the time. The silences exclude that time, the latencies don't.`,
    );
  return lines;
}

function shortened(/** @type {{ name: string, value: number }[]} */ rows, isSum = true) {
  const others = rows.slice(MOST_ROWS).map(({ value }) => value);
  if (others.length === 0) return { rows };
  const sum = others.reduce((all, value) => all + value, 0);
  const told = isSum ? `${sum} together` : `at most ${Math.max(...others)}`;
  return { rows: rows.slice(0, MOST_ROWS), note: `and ${others.length} more: ${told}` };
}

/** Things that may be intended, but are worth a look. */
export function remarks(/** @type {Facts} */ facts) {
  const serving = serversOf(facts).filter(({ endMs }) => endMs === undefined);
  const haveTimers = serving.length > 1 && serving.every(({ timers = 0 }) => timers > 0);
  if (!haveTimers) return [];
  return [
    `Each of the ${serving.length} serving processes keeps a timer running. Is it a job, such as a mail at midnight? Then it runs ${serving.length} times.`,
  ];
}
