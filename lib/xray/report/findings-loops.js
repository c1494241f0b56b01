/** Findings about event loops that hang, that are blocked, or that have no time left. Pure. */
import { groupBy } from '../../observe/timeline.js';
import { serversOf } from './facts.js';
import { percent, whyStarved } from './findings-requests.js';
import { placeIn } from './places.js';
import { at, counted, nameIt, nameOf } from './words.js';

/** @import { Facts } from './facts.js' @import { Hang } from './hangs.js' @import { Silence } from './silences.js' */
/** @import { Finding } from './findings.js' */

const LONG_MS = 100;
const VERY_LONG_MS = 1_000;
const OFTEN = 3; // once may be a cache that fills, a compiled page, a garbage collection
const FEW = 100; // requests, for a statement about shares
const MOST_NAMED = 3;
const BUSY = 0.9; // of the time
const AT_LEISURE = 0.7;

/** @param {Facts} facts @returns {Finding[]} */
export const loopFindings = (facts) => [
  ...hanging(facts),
  ...blocking(facts),
  ...busyPrimary(facts),
];

const OUTPUTS = { 1: 'standard output', 2: 'standard error' };

/** @param {Facts} facts @returns {Finding[]} */
function hanging(facts) {
  const causes = groupBy(facts.hangs, ({ does, fd, under }) => `${does} ${fd} ${under}`);
  return [...causes.values()].map((/** @type {Hang[]} */ hangs) => {
    const [first] = hangs;
    const subject = hangs.length === 1 ? nameOf(facts, first.pid) : `${hangs.length} processes`;
    const stands = hangs.length === 1 ? 'stands still' : 'stand still';
    return {
      id: 'hangs',
      weight: 97,
      says: `${subject} ${stands} from ${at(facts, first.fromMs)} until the end, ${whatTheyDo(facts, hangs)}.`,
      evidence: [
        ...hangs.slice(0, MOST_NAMED).map((one) => howItHangs(facts, one)),
        ...placeOf(facts, first.under),
        ...readerOf(facts, first),
        ...timeouts(facts),
        ...(hangs.some(({ isReplaced }) => isReplaced)
          ? []
          : [
              'nothing has replaced what stands still: no exit is reported of a process that lives',
            ]),
      ],
      moments: hangs.slice(0, MOST_NAMED).map(({ pid, fromMs }) => ({
        ...{ pid, t: fromMs, toMs: facts.load.toMs, says: 'stands still' },
      })),
      see: hangs.some(({ fd }) => fd !== undefined)
        ? undefined
        : /** @type {[number, string]} */ (
            facts.policy ? [3, 'blocked-worker'] : [1, 'block-or-wait']
          ),
    };
  });
}

/** @param {Facts} facts @param {Hang[]} hangs */
function whatTheyDo(facts, [{ does, fd, under }, ...more]) {
  const during = under === undefined ? '' : `, under ${under}`;
  if (fd !== undefined) {
    const whose = more.length > 0 ? 'their' : 'its';
    return `waiting to write to ${whose} ${OUTPUTS[fd] ?? `file descriptor ${fd}`}, which is not read${during}`;
  }
  const doing = does === 'computes' ? 'computing' : 'without a turn of the event loop';
  return `${doing}${during}${inPlace(facts, under)}`;
}

const inPlace = (/** @type {Facts} */ { stacks }, /** @type {string | undefined} */ under) => {
  const place = placeIn(stacks?.seen.filter((one) => one.under === under) ?? []);
  return place ? `, in ${place}` : '';
};

const howItHangs = (/** @type {Facts} */ facts, /** @type {Hang} */ { pid, fromMs, does }) =>
  `${nameOf(facts, pid)}: silent since ${at(facts, fromMs)}${does ? `; it ${does}` : ''}`;

/** The other end of a pipe isn't in the system's tables, but a worker's output goes to its parent. */
function readerOf(/** @type {Facts} */ facts, /** @type {Hang} */ { pid, fd }) {
  const ppid = facts.processes.find((one) => one.pid === pid)?.ppid;
  if (fd === undefined || fd > 2 || !facts.processes.some((one) => one.pid === ppid)) return [];
  return [
    `what it prints goes to ${nameOf(facts, Number(ppid))}, which started it with a pipe (silent: true, stdio: 'pipe'): read it, or let it go (.resume())`,
  ];
}

function timeouts(/** @type {Facts} */ { report }) {
  const count = report.errors.timeout ?? 0;
  return count > 0
    ? [`${count} of ${report.requests} requests got no whole answer within 10 s`]
    : [];
}

/** How we know the function. @returns {string[]} */
function placeOf(/** @type {Facts} */ { stacks }, /** @type {string | undefined} */ under) {
  if (!stacks) return [];
  const seen = stacks.seen.filter((one) => one.under === under);
  const again = `started again for ${counted(stacks.seconds, 'second')}, with a thread beside it that asks for the stack`;
  if (!placeIn(seen)) return [`the function was not found: ${again}`];
  return [`the function was found ${counted(seen.length, 'time')}: ${again}`];
}

/** A busy machine also stops event loops, so there a finding needs silences under most requests. @param {Facts} facts @returns {Finding[]} */
function blocking(facts) {
  const isHang = (/** @type {Silence} */ { pid, fromMs }) =>
    facts.hangs.some((one) => one.pid === pid && one.fromMs === fromMs);
  const long = facts.silences.filter((one) => one.ms >= LONG_MS && !isHang(one));
  return [...groupBy(long, ({ under }) => under)].flatMap(([path, silences]) => {
    const isUsual = path !== undefined && silences.length * 2 >= facts.report.requests;
    const worst = silences.reduce((a, b) => (b.ms > a.ms ? b : a));
    const isOften = silences.length >= OFTEN;
    if (!isOften && worst.ms < VERY_LONG_MS) return [];
    const what = path ?? 'Something other than a request';
    const pids = [...new Set(silences.map(({ pid }) => pid))];
    return {
      id: 'blocks',
      weight: 70 + Math.min(9, silences.length / 100),
      says: `${what} kept the event loop for up to ${worst.ms} ms${inPlace(facts, path)}: no other request is served in that time.`,
      evidence: [
        `${counted(silences.length, 'time')} for ${LONG_MS} ms or more, in ${pids.length === 1 ? nameOf(facts, pids[0]) : `${pids.length} processes`}`,
        `the longest: ${nameOf(facts, worst.pid)} at ${at(facts, worst.fromMs)}`,
        ...placeOf(facts, path),
      ],
      moments: longest(silences).map((one) => ({
        ...{ pid: one.pid, t: one.fromMs, toMs: one.fromMs + one.ms },
        says: `silent for ${one.ms} ms`,
      })),
      doubt: isOften ? (isUsual ? undefined : whyStarved(facts)) : TOO_SELDOM,
      see: /** @type {[number, string]} */ ([1, 'block-or-wait']),
    };
  });
}

const TOO_SELDOM =
  'Once or twice may be a cache that fills: a longer load (--seconds 60) shows whether it happens again.';

const longest = (/** @type {Silence[]} */ silences) =>
  [...silences].sort((a, b) => b.ms - a.ms).slice(0, MOST_NAMED);

/** The primary, through which every connection goes, has no time left, but its workers have. @returns {Finding[]} */
function busyPrimary(/** @type {Facts} */ facts) {
  if (facts.policy !== 'round robin' || facts.seen < FEW) return [];
  const workers = serversOf(facts).filter(({ busy }) => busy !== undefined);
  const primary = facts.processes.find(({ pid }) => pid === workers[0]?.ppid);
  const share = Math.max(...workers.map(({ busy = 0 }) => busy));
  if (!primary || (primary.busy ?? 0) < BUSY || share >= AT_LEISURE) return [];
  if (facts.closed?.unserved && workers.some(({ most }) => most !== undefined)) return []; // the primary keeps offering connections to full workers
  return [
    {
      id: 'busy-primary',
      weight: 66,
      says: `The primary is the bottleneck: its event loop was busy for ${percent(primary.busy)} of the time, its workers for at most ${percent(share)}.`,
      evidence: [
        `every connection goes through ${nameIt(primary)}, and its own computing delays them all`,
      ],
      doubt: whyStarved(facts),
      see: [3, 'blocked-primary'],
    },
  ];
}
