/** Lesson 8: what is demanded of the limit, before it and after it, and of a reload in which somebody dies. */
import {
  demand,
  eventsOf,
  exitsOf,
  haveTurned,
  momentOf,
  turnsOf,
} from '../../../lib/check/checking.js';
import { AGAIN, PUT_OFF } from '../looks/limit.js';
import { HASTE, HEARD, LIMIT_MS, WORKERS, busy, heardBy, leftOf } from '../looks/reload.js';
import {
  SECONDS,
  deathsIn,
  demandCalm,
  demandMoves,
  demandUnbroken,
  demandUndisturbed,
  endsShown,
  whyOfPrimary,
} from './reload.js';

const LEAST_OF_LIMIT = 0.8;
const LITTLE_MORE_MS = 100;
const TURNS_MORE = 4; // of 20 ms, than when it was told in one way only
const OVERDUE = 3; // turns of a worker's event loop: a timer that was due before them has run

/** A limit that is over: what is still under way then is cut, and holds up nobody. */
export function demandLimit(held) {
  demandUnbroken(held.program, {
    expected: `${FOREVER} Nothing crashes because of that.`,
    output: held.output,
  });
  demandOneEnds(held);
  demandNotPutOff(held);
  demandHalfIsCut(held);
  demandTimersEnd(held);
  demandCut(held);
  demandOwnEnd(held);
  demandOneLimit(held);
}

const FOREVER = `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a response never ends.`;
const OWN_LIMIT = 'in drain(): setTimeout(() => process.exit(1), limitMs).unref();';
const OTHERS_LIMIT =
  "in retire(): setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500).unref();";
const BOTH_LIMITS = `${OWN_LIMIT} and in the primary SIGKILL, a little later, for a worker that cannot do even that`;
const WHY_BLOCKED = 'A worker that is blocked hears no message and no signal, and runs no timer.';

/** What the clients of holdLong have sent. */
const WHICH = [
  'An upload',
  'A request of which half of the headers had come',
  'A second request on one connection, of which half of the headers had come,',
];

/** Nor does a reload that would like to go on. */
export function demandUncutInReload({ program, cut, output }) {
  demand(!cut, {
    expected: `DRAIN_LIMIT_MS is ten minutes, and timers fire ${HASTE} times as early: in a reload, too, an old worker is left alone until its clients have been answered.`,
    got: `${cut} of ${WORKERS} clients that were still sending a request were cut.`,
    why: 'A limit is a promise to clients. A reload that has another, shorter one breaks it at each deployment.',
    try: 'one function for both, retire(worker), with one limit',
    shows: endsShown(program, exitsOf(program.events)),
    output,
  });
}

/** Long before the limit nobody cuts anything, whatever constant is in the program. */
export function demandUncut({ program, cutsMs, isBegun, fate, exits, output }) {
  if (!isBegun) throw busy('No worker has begun to read a request.');
  const cutMs = Math.min(...cutsMs);
  const which = WHICH[cutsMs.indexOf(cutMs)];
  const killed = exits.find(({ signal }) => signal);
  const got = `${which} was cut after ${Math.round(cutMs)} ms, ${killed ? `when its worker was ended by ${killed.signal}` : 'by its worker'}. The program's timers fired ${HASTE} times as early as usual, to save waiting for them.`;
  demand(cutMs === Infinity, {
    expected: `DRAIN_LIMIT_MS is ${program.options.env.DRAIN_LIMIT_MS}, and clients have sent a part of a request when SIGTERM comes: of an upload, or only of the headers. For all that time nothing cuts them.`,
    got: fate && cutMs === Infinity ? 'The primary ended.' : got,
    why:
      whyOfPrimary(program) ??
      'Some clients are slow, and some answers long. They may be cut only at the limit, and the person who starts the server sets that.',
    try: 'process.exit(), closeAllConnections() and SIGKILL only in timers of limitMs, or a little more; before that server.closeIdleConnections(), which leaves half a request alone',
    output,
  });
}

/** Told to stop once more, and by Ctrl-C twice, while clients still send, it does what it was doing. */
export function demandNotHurried({ program, hurried, output }) {
  if (!hurried) return;
  const { told, isUnmoved, fate } = hurried;
  const [last, ...before] = told.toReversed();
  const how = last === 'SIGTERM' || before.includes(last) ? `another ${last}` : last;
  demand(isUnmoved, {
    expected: `SIGTERM, and then, while clients are still sending their requests, ${AGAIN.join(', ')}: only the first order counts, and nothing is cut.`,
    got: fate
      ? `When ${how} came, the primary ended (${fate.signal ?? `exit code ${fate.code}`}).`
      : `When ${how} came, a client was cut.`,
    why:
      whyOfPrimary(program) ??
      'People press it again when they lose patience, and that is no reason to cut their clients. The limit is for that.',
    try: 'process.on, not once, for both signals; if (isStopping) return; at the top of stop(); and SIGKILL only in the timer of the limit',
    output,
  });
}

/** All workers leave at the same time: none goes on taking clients because another has a slow one. */
export function demandAllLeave({ program, late, hasTurned, output }) {
  if (late?.status === undefined) return;
  const got =
    'Long after SIGTERM a new client was served, while others were still sending something.';
  if (!hasTurned) throw busy(got);
  const { request } = late;
  const moments = request ? [momentOf({ ...request, t: request.startMs }, 'a late client')] : [];
  demand(false, {
    expected: 'After SIGTERM all workers drain at the same time: soon none takes a new client.',
    got,
    why: 'A worker waited for its turn. So the last one serves until the slowest client of every other has finished, and the stop may take the limit as many times as there are workers.',
    try: 'for (const worker of Object.values(cluster.workers)) retire(worker); without await: one after the other is for a reload',
    shows: { program, moments },
    output,
  });
}

/** A single worker, told to leave by its pid, has its limit too: nobody else watches over it. */
function demandOneEnds({ program, one: { workerPid, signalMs, orders, exit }, output }) {
  if (workerPid === undefined) throw busy('No worker has begun to answer a request.');
  const got = `Process ${workerPid}, a worker, was sent SIGTERM, and`;
  if (!exit) demandCalm(program, signalMs, `${got} is still running.`, [workerPid]);
  demand(exit, {
    expected: `${FOREVER} Its worker gets SIGTERM, and ends on its own after the limit.`,
    got: `${got} was still running ${SECONDS} s later.`,
    why: 'The primary does not know about a signal that somebody sends to a worker: its timer for SIGKILL does not run.',
    try: OWN_LIMIT,
    output,
  });
  const { code, signal, t } = exit;
  if (signal === 'SIGTERM' && orders > 1) return; // the next one came when it was just ending
  demand(!signal && code !== 0, {
    expected: `${FOREVER} Its worker gets SIGTERM, and ends on its own after the limit, with exit code 1.`,
    got: `${got} ${signal ? `was ended by ${signal}` : `ended with exit code ${code}`}, ${Math.round(t - signalMs)} ms later.`,
    why: 'It cut what was under way: an exit code other than 0 shows that in the log.',
    try: OWN_LIMIT,
    shows: endsShown(program, [exit]),
    output,
  });
  demand(t - signalMs >= LEAST_OF_LIMIT * LIMIT_MS, {
    expected: `${FOREVER} Its worker gets SIGTERM, and has the whole limit.`,
    got: `It ended after ${Math.round(t - signalMs)} ms.`,
    why: 'The limit is for clients that take long. If you cut them at once, you need no drain.',
    try: OWN_LIMIT,
    shows: endsShown(program, [exit]),
    output,
  });
}

/** It was told again and again: did it end a whole limit after the last order, long after that of the first? */
function demandNotPutOff({ program, one: { signalMs, orders, lastMs, late, exit }, output }) {
  const isAtLast = exit.t - lastMs >= LEAST_OF_LIMIT * LIMIT_MS && late.last < PUT_OFF;
  demand(late.first < PUT_OFF || !isAtLast, {
    expected: `${FOREVER} Its worker gets SIGTERM, and again and again while it drains. The limit counts from the first.`,
    got: `It was sent SIGTERM ${orders} times, and ended ${Math.round(exit.t - lastMs)} ms after the last one, ${Math.round(exit.t - signalMs)} ms after the first. Its event loop turned ${late.first} times after its limit.`,
    why: 'Each order put the limit off. Somebody who loses patience and types kill again waits longer for it.',
    try: 'if (isDraining) return; at the top of drain(), before anything else, and the limit in a timer that nobody clears',
    shows: endsShown(program, [exit]),
    output,
  });
}

/**
 * The primary told it, and then somebody sent it SIGTERM: did it end a whole limit after that? A timer that was due has run
 * when its event loop has turned, however busy the machine is; the way to the end may take so many turns as at the first time.
 */
function demandOneLimit({ program, one, twice, signalMs, output }) {
  if (!twice?.exit || twice.exit.signal) return; // it came when it was just ending, or somebody else ended it
  const { exit, againMs, late } = twice;
  const got = `It ended ${Math.round(exit.t - againMs)} ms after SIGTERM, ${Math.round(exit.t - signalMs)} ms after the primary had been told to stop. Its event loop turned ${late} times after its limit.`;
  const isPutOff =
    late - one.late.first >= TURNS_MORE && exit.t - againMs >= LEAST_OF_LIMIT * LIMIT_MS;
  if (isPutOff) demandUndisturbed(program, signalMs, got);
  demand(!isPutOff, {
    expected: `${FOREVER} The primary tells its worker to leave, and shortly before the limit is over somebody sends it SIGTERM as well. The limit counts from the first, whichever way that came.`,
    got,
    why: 'Each way of telling it begins a limit of its own. Somebody who loses patience and types kill waits longer for it.',
    try: 'if (isDraining) return; at the top of drain(), for the message and for SIGTERM',
    shows: endsShown(program, [exit]),
    output,
  });
}

/** Half a request is cut at the limit too, although no response is under way. If its connection was closed before, nothing was. */
function demandHalfIsCut({ program, one: { signalMs, half }, output }) {
  if (!half) return;
  const { workerPid, exit, closedMs } = half;
  const expected = `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a client has sent only a part of a request. Its worker gets SIGTERM, and ends on its own after the limit`;
  const got = `Process ${workerPid}, that worker,`;
  if (!exit) demandCalm(program, signalMs, `${got} is still running.`, [workerPid]);
  demand(exit, {
    expected: `${expected}.`,
    got: `${got} was still running ${SECONDS} s later.`,
    why: 'The limit is for whatever is open, not only for responses.',
    try: OWN_LIMIT,
    output,
  });
  const isCut = !closedMs || closedMs - signalMs >= LEAST_OF_LIMIT * LIMIT_MS;
  const ended = `${got} ended with exit code ${exit.code}.`;
  if (isCut && exit.code === 0) demandUndisturbed(program, signalMs, ended);
  demand(!isCut || exit.code !== 0, {
    expected: `${expected}, with exit code 1.`,
    got: ended,
    why: 'It cut that client off: what comes of a request that is on its way is lost, even if no response has begun. An exit code other than 0 shows that in the log.',
    try: `${OWN_LIMIT} 1 in any case: a worker that has nothing to cut has ended before`,
    shows: endsShown(program, [exit]),
    output,
  });
}

/** Nobody waits for anything any more, but a timer of the application goes on: the limit is for that, too. */
function demandTimersEnd({ program, one: { signalMs, timers }, output }) {
  for (const { workerPid, exit } of timers) {
    const got = `Process ${workerPid}, that worker,`;
    if (!exit) demandCalm(program, signalMs, `${got} is still running.`, [workerPid]);
    demand(exit, {
      expected: `DRAIN_LIMIT_MS is ${LIMIT_MS}, and the application has a timer that never ends. Its worker gets SIGTERM, has soon answered all its clients, and ends on its own, after the limit at the latest.`,
      got: `${got} was still running ${SECONDS} s later.`,
      why: 'Its limit was called off when its last connection was closed, or has never begun. But the timer of the application goes on, and keeps the worker for ever.',
      try: `${OWN_LIMIT} at the first order, whatever is open then, and no clearTimeout(): a timer with unref() holds nobody`,
      output,
    });
  }
}

/**
 * A worker that isn't blocked ends on its own; SIGKILL comes a little later than the limit, and only to one that is. A signal
 * that came in between proves nothing, unless the worker's event loop has turned since its own timer was due: that begins when it
 * hears the order, on a busy machine long after the primary, which counts from when it heard it.
 */
function demandOwnEnd({ program, signalMs, blocked, output }) {
  const { events } = program;
  const killed = exitsOf(events).find(
    ({ signal, workerPid, t }) =>
      signal === 'SIGKILL' && workerPid !== blocked?.pid && t > signalMs,
  );
  if (!killed) return;
  const { workerPid, t } = killed;
  const isTooEarly = t < signalMs + LIMIT_MS + LITTLE_MORE_MS;
  const dueMs = heardBy(events, [program.pid, workerPid], signalMs) + LIMIT_MS;
  const got = `Process ${workerPid} was ended by SIGKILL, ${Math.round(t - signalMs)} ms after SIGTERM.`;
  if (!isTooEarly && turnsOf(events, workerPid, dueMs) < OVERDUE) throw busy(got);
  demand(false, {
    expected: `${FOREVER} Its worker ends on its own after the limit; SIGKILL, half a second later, is for one that is blocked.`,
    got,
    why: isTooEarly
      ? 'SIGKILL came when the worker was about to end on its own.'
      : 'It was not blocked: its event loop turned. Either it had no limit of its own, or it closed its connections then, and was held by a timer of the application: the response is a stream of events.',
    try: isTooEarly ? "setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500)" : OWN_LIMIT,
    shows: endsShown(program, [killed]),
    output,
  });
}

function demandCut({ program, roll, stuck, fate, signalMs, firstCutMs, blocked, left, output }) {
  demandReloadGoesOn({ program, roll, stuck, output });
  const isBlockedLeft = blocked && left?.every((pid) => pid === blocked.pid);
  const alive = isBlockedLeft ? [program.pid] : [];
  if (!fate) demandCalm(program, signalMs, 'It is still running after SIGTERM.', alive);
  demand(fate || !isBlockedLeft, {
    expected: `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a worker is blocked. After SIGTERM it gets SIGKILL, a little later than the limit.`,
    got: `${SECONDS} s later process ${blocked?.pid}, the blocked one, was still running, and so was the primary.`,
    why: WHY_BLOCKED,
    try: OTHERS_LIMIT,
    output,
  });
  demand(fate, {
    expected: `${FOREVER} After SIGTERM the server ends, when the limit is reached.`,
    got: `${SECONDS} s later it was still running.`,
    why: 'A server that does not stop gets SIGKILL in the end: systemd waits 90 s, Docker 10 s.',
    try: BOTH_LIMITS,
    output,
  });
  demand(fate.code === 0, {
    expected: `${FOREVER} After SIGTERM the server ends with exit code 0, although its workers had to cut something.`,
    got: `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`,
    why:
      whyOfPrimary(program) ??
      'It did what it was told, and whatever started it takes any other exit code for a failure. That something was cut is told by the exit codes of the workers.',
    try: "let the primary end on its own, when its last worker has left; a worker's exit code is not its own",
    output,
  });
  demand(firstCutMs >= LEAST_OF_LIMIT * LIMIT_MS, {
    expected: `${FOREVER} After SIGTERM it has the whole limit.`,
    got: `It was cut after ${Math.round(firstCutMs)} ms.`,
    why: 'The limit is for clients that take long. If you cut them at once, you need no drain.',
    try: 'process.exit(), closeAllConnections() and SIGKILL only in the timer of the limit',
    output,
  });
}

/** In a reload, too, an old worker has its limit, even one that is blocked. */
function demandReloadGoesOn({ program, roll, stuck, output }) {
  const old = leftOf(program.events, roll.old);
  const isStuckLeft = old.length > 0 && old.includes(stuck?.pid);
  const stillThere = `process ${old.join(', ')} still`;
  if (!roll.isRenewed && !roll.fate && isStuckLeft)
    demandCalm(program, roll.fromMs, `Of the old ones ${stillThere} runs.`, [program.pid]);
  else if (!roll.isRenewed && !roll.fate)
    demandMoves(program, roll.fromMs, `Of the old ones ${stillThere} runs.`);
  demand(roll.isRenewed || !isStuckLeft, {
    expected: `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a worker is blocked. In a reload it gets SIGKILL, a little later than the limit, and the reload goes on.`,
    got: `${SECONDS} s later ${stillThere} ran; process ${stuck?.pid} is the blocked one.`,
    why: WHY_BLOCKED,
    try: OTHERS_LIMIT,
    output,
  });
  demand(roll.isRenewed, {
    expected: `${FOREVER} Its worker is ended after the limit, and the reload goes on.`,
    got: `${SECONDS} s later ${stillThere} ran.`,
    why: 'A download, a stream of events, a client that reads nothing: there is always an open response.',
    try: BOTH_LIMITS,
    output,
  });
}

/** Old workers were killed in the middle of a reload: that reload is finished all the same, and the next order is heard. */
export function demandDeadLeftOut({ program, killed, stopped }) {
  const { isDone, fate } = killed;
  const { fromMs, output } = stopped || killed;
  const left = leftOf(program.events, killed.old);
  const got = isDone
    ? 'The next SIGHUP has forked nobody'
    : `Of the old workers ${left.length} ${left.length === 1 ? 'is' : 'are'} still there`;
  const isHeard = haveTurned(program.events, [program.pid], HEARD, killed.fromMs);
  if (!isDone && !fate && isHeard && left.some((pid) => isGone(program, killed, pid)))
    throw busy(`${got}: it is ending, and that has not been heard of.`);
  if (!(isDone && stopped.isBegun) && !fate && (isDone || !killed.isStuck))
    demandCalm(program, fromMs, `${got}.`, isDone ? [program.pid] : [], HEARD);
  demand(isDone && stopped.isBegun, {
    expected: `${deathsIn(killed)}: the others are renewed, and a later SIGHUP begins another reload.`,
    got: fate ? 'The primary ended.' : `${got}, ${SECONDS} s later.`,
    why:
      whyOfPrimary(program) ??
      "No 'exit' will come for a worker that has already ended: if you wait for it you wait for ever, and so does the reload. And an old one's 'exit', while the new one boots, does not say that the new one has ended.",
    try: "in retire(), when the new one listens: if (worker.isDead()) return resolve(); before you wait; and worker.on('exit', ...) on the one that you have just forked, not cluster.on",
    output,
  });
}

/** Has this old worker been killed, or ended by itself, whatever its primary has heard of that? */
const isGone = ({ events }, { victims }, pid) =>
  victims.includes(pid) || eventsOf(events, 'exit').some((end) => end.pid === pid);
