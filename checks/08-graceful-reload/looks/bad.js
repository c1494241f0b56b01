/** Lesson 8: versions that do not start, and what comes after such a reload, or meanwhile. */
import {
  eventsOf,
  exitsOf,
  forksOf,
  haveTurned,
  nowMs,
  turnsOf,
} from '../../../lib/check/checking.js';
import {
  HEARD,
  HEARD_SIGNAL,
  ORDERS,
  QUIET,
  SLOW_BOOT_MS,
  appOf,
  hasRested,
  isHeard,
  leftOf,
  renew,
  servingOf,
  timersOf,
  versionsOf,
  waitFor,
} from './reload.js';
import { isLoadedLine, saysNothingNew } from './words.js';

const KILLED = '4'; // the version of which the new one is killed
const CALM_MS = 500; // by then a bad version would have been tried again, by a timer

/**
 * A version that throws at the top of the file, and after it a good one. Anything forked after the first of it has ended is
 * useless.
 */
export async function reloadBadVersion({ program, deploy }) {
  const first = program.events.length;
  const old = servingOf(program.events);
  const bad = { version: '2', isBad: true };
  deploy(bad);
  program.kill(program.pid, 'SIGHUP');
  const news = () => program.events.slice(first);
  const failed = () => exitsOf(news()).filter(({ workerPid }) => !old.includes(workerPid));
  const tries = () => forksOf(news()).length;
  const more = () => forksOf(news().slice(news().indexOf(failed()[0]) + 1)).length;
  const goesOn = () => failed().length > 0 && more() > 0;
  const isWorse = () => leftOf(program.events, old).length < old.length || goesOn();
  const isCalm = () => failed().length === tries() && isDone(program, failed().at(-1)?.t);
  if (await isHeard(program, first)) await waitFor(program, () => isWorse() || isCalm());
  const { fate } = program;
  const left = leftOf(program.events, old);
  const seen = { program, old, left, fate, tries: tries(), failed: failed().length };
  const versions = await versionsOf(program);
  const output = program.output();
  if (fate || left.length < old.length || goesOn())
    return { ...seen, goesOn: goesOn(), versions, output };
  deploy({ version: '3' });
  const again = await renew(program);
  const later = await versionsOf(program);
  const usual = program.output().slice(output.length); // what it says when all goes well
  const isSilent = isSilentOn(program, { output, bad, usual });
  const good = { ...seen, goesOn: false, versions, again, later, isSilent, output };
  if (!again.isRenewed) return good;
  deploy({ version: KILLED, bootMs: SLOW_BOOT_MS });
  return { ...good, killed: await killTheNew(program, usual) };
}

/** Has the primary turned some times since, and has it no timer that could try again, or none soon? */
function isDone({ events, pid }, sinceMs = Infinity) {
  const later = eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > sinceMs);
  const told = later.findLast(({ timers }) => timers !== undefined);
  return later.length >= QUIET && (told?.timers === 0 || nowMs() > sinceMs + CALM_MS);
}

/**
 * Has it said nothing of its own when the bad version could not start? What Node.js prints about a worker's death isn't the
 * program's own message, nor is what it says when all goes well.
 * @param {any} program
 * @param {{ output: string, bad: any, usual: string }} printed  output: up to then; usual: when a good version had come
 */
function isSilentOn({ events }, { output, bad, usual }) {
  const [before, ...since] = output.split(isLoadedLine(bad.version));
  const deaths = eventsOf(events, 'crash').map(({ error }) => error);
  const known = [appOf(bad), ...deaths, usual].join('\n');
  if (since.length === 0) return saysNothingNew(output, known); // what workers print went elsewhere
  return saysNothingNew(since.join('\n'), `${before}\n${known}`);
}

/**
 * The new one is killed while it boots; and in the next reload again, when another order has come meanwhile. What it usually
 * says when all goes well tells whether it says anything now.
 */
async function killTheNew(program, usual) {
  await waitFor(program, () => hasRested(program));
  const first = program.events.length;
  const old = servingOf(program.events);
  const alone = await killOne(program, { usual });
  if (!alone.isKilled) return undefined;
  const next = await killOne(program, { isAnother: true });
  const events = program.events.slice(first);
  const up = eventsOf(events, 'worker-listening').find(({ workerPid }) => !old.includes(workerPid));
  const isTooEarly = (/** @type {any} */ { workerPid, t }) =>
    old.includes(workerPid) && t < (up?.t ?? Infinity);
  return { old, gone: exitsOf(events).filter(isTooEarly), alone, next, fate: program.fate };
}

/** An order; and the new one that is forked for it is killed before it listens. */
async function killOne(program, { isAnother = false, usual = '' } = {}) {
  const first = program.events.length;
  const fromMs = nowMs();
  let isBegun = false;
  let tries = 0;
  for (; tries < ORDERS && !isBegun; tries += 1) {
    program.kill(program.pid, 'SIGHUP');
    isBegun = await isHeard(program, first); // or it was not quite done, and skipped this order, as it may
  }
  if (!isBegun) return { isBegun, fromMs };
  const [{ workerPid }] = forksOf(program.events.slice(first));
  const { length: printed } = program.output();
  if (isAnother) program.kill(program.pid, 'SIGHUP');
  const orderMs = nowMs();
  const hasTurned = (/** @type {number} */ sinceMs) => (events) =>
    haveTurned(events, [program.pid], HEARD_SIGNAL, sinceMs);
  await program.until(hasTurned(orderMs));
  program.kill(workerPid, 'SIGKILL');
  const isIts = (one) => one.workerPid === workerPid;
  const exit = await program.until((events) => exitsOf(events).find(isIts));
  const isUp = eventsOf(program.events, 'worker-listening').some(isIts);
  const isKilled = exit?.signal === 'SIGKILL' && !isUp;
  if (isKilled) await program.until(hasTurned(exit.t)); // by then it has said so
  const isSilent = () =>
    saysNothingNew(program.output().slice(printed).replace(isLoadedLine(KILLED), ''), usual);
  const isTime = (events) => haveTurned(events, [program.pid], HEARD, exit.t);
  if (isKilled && !isAnother) await program.until((events) => !isSilent() || isTime(events));
  const isOneOrder = tries === 1 && !isAnother; // else another one may wait for its turn
  const more = isOneOrder ? forksOf(program.events).filter(({ t }) => t > exit?.t) : [];
  const isLost = isAnother && isKilled && (await isDropped(program, orderMs, exit.t));
  const said = program.output().slice(printed);
  return { isBegun, fromMs, isKilled, isLost, isSilent: isSilent(), more, said };
}

/** Is nothing forked for an order that came before the new one was killed, nor to come after a time? */
async function isDropped(program, orderMs, killedMs) {
  const isForked = (events) => forksOf(events).some(({ t }) => t > orderMs);
  const isLong = (events) => turnsOf(events, program.pid, killedMs) >= HEARD;
  await program.until((events) => isForked(events) || isLong(events));
  return !isForked(program.events) && isLong(program.events) && timersOf(program) === 0;
}
