/** Lesson 8: what is demanded when a version cannot start, and when the program is told to stop in the middle of a reload. */
import { demand, eventsOf, forksOf, momentOf } from '../../../lib/check/checking.js';
import { BOOT_LIMIT_MS, HASTE, HEARD, busy } from '../looks/reload.js';
import { saysNoMore } from '../looks/words.js';
import {
  SECONDS,
  demandCalm,
  demandMoves,
  demandRenewed,
  endsShown,
  firstOf,
  shown,
  whyOfPrimary,
} from './reload.js';

/** [condition, got, why, try]: what to fix first when a version cannot start. */
const BAD_FAULTS = [
  [
    ({ fate }) => fate,
    ({ fate }) => `The primary ended (${fate.signal ?? `exit code ${fate.code}`}).`,
    'What ends a worker need not end the primary.',
    'load app.js in the workers only',
  ],
  [
    ({ left, old }) => left.length < old.length,
    ({ left, old }) => `Of the ${old.length} old workers ${old.length - left.length} left.`,
    'Nothing has come in its place. An old worker may leave when a new one listens, not when the new one has merely ended.',
    "wait for 'listening' or 'exit', whichever comes first; after 'exit' leave the old ones alone",
  ],
  [
    ({ goesOn }) => goesOn,
    ({ tries }) => `When the first of the new ones had ended, another was forked: ${tries} in all.`,
    'The next try loads the same file. Somebody has to fix it first.',
    'say so, and end the reload: return, not continue',
  ],
  [
    ({ versions }) => versions.some((version) => version !== '1'),
    ({ versions }) => `/version says ${versions.join(', ')}.`,
    'The old workers should serve as before.',
    'leave the old ones alone',
  ],
  [
    ({ again }) => !again?.isRenewed,
    ({ again }) =>
      `After the file was fixed, SIGHUP forked ${again?.forks ? 'workers, but the reload was not done' : 'nobody'}, ${SECONDS} s later.`,
    'Perhaps your failed reload is still under way: it waits for an event that never comes, or it left by return or throw before it reset its flag.',
    "resolve in both cases, at 'listening' and at 'exit'; reset the flag in a finally",
  ],
  [
    ({ later }) => later.some((version) => version !== '3'),
    ({ later }) => `After the file was fixed, /version says ${later.join(', ')} after a reload.`,
    'A new process loads what is there then.',
    'fork each new worker after the signal',
  ],
  [
    ({ isSilent }) => isSilent,
    () => 'It stopped, and said nothing that it does not also say when a reload succeeds.',
    'The person who deployed sees the old version, and looks for the cause in the wrong place. What a worker prints as it dies does not say that the reload ended there.',
    "console.error('it does not start: the old ones stay')",
  ],
];

/** A version that boots slowly is waited for: it listens in the end. */
export function demandSlowAwaited(roll) {
  const { program, isRenewed, fate, forks, fromMs, bootMs, output } = roll;
  const expected = 'A version that takes long to boot: the reload waits for it.';
  if (isRenewed || fate || forks === 0) return demandRenewed(roll, expected);
  const seconds = Math.ceil(bootMs / 1_000);
  const got = `The new one had at most ${seconds} s, and the old one stayed. (The program's timers fired ${HASTE} times as early as usual, to save waiting for them.)`;
  demandMoves(program, fromMs, got);
  if (bootMs > BOOT_LIMIT_MS) throw busy('It took more than half a minute to boot.');
  demand(false, {
    expected,
    got,
    why: 'It gave up on a version that was only slow: it fills a cache, or the machine is busy. What cannot start ends, and you hear of that.',
    try: `no limit: wait for 'listening' or 'exit'. If there must be one, ${BOOT_LIMIT_MS / 1_000} s or more`,
    shows: shown(program, forksOf(program.events).slice(-1), 'a new one is forked'),
    output,
  });
}

/** An order to reload that comes after a stop. */
export function demandNoneAfterStop({ program, reload, output }) {
  if (!reload) return; // it has ended before, or cut something: that is reported with the limit
  const { forks, fate, isCut } = reload;
  demand(!fate && !isCut, {
    expected: 'SIGHUP after SIGTERM, while the workers drain: they go on draining.',
    got: fate
      ? `The primary ended (${fate.signal ?? `exit code ${fate.code}`}), and its clients were cut.`
      : 'A client was cut that was still sending its request.',
    why:
      whyOfPrimary(program) ??
      'SIGHUP ends a process that has no handler for it. Somebody may deploy, or close the terminal, while it is stopping.',
    try: 'keep the handler of SIGHUP to the end; when isStopping is true it does nothing',
    output,
  });
  demand(forks === 0, {
    expected: 'SIGHUP after SIGTERM, while the workers drain: nothing is forked any more.',
    got: forks === 1 ? 'A worker was forked.' : `${forks} workers were forked.`,
    why: 'It was told to stop. A worker that comes now has not been told to leave, and the server goes on.',
    try: 'if (isStopping) return; before each fork, the first one, too',
    shows: shown(program, forksOf(program.events).slice(-forks), 'a new one is forked'),
    output,
  });
}

/** A new one that is killed before it listens has not started, either; and an order that waits is not lost by that. */
export function demandKilledIsBad({ program, killed }) {
  if (!killed) return;
  const { old, gone, alone, next, fate } = killed;
  const expected = 'A new worker is killed while it boots: the reload stops, and';
  demand(gone.length === 0, {
    expected: `${expected} the old ones stay.`,
    got: `Of the ${old.length} old workers ${gone.length} left, when no new one had listened yet.`,
    why: 'A worker that is killed has a signal and no exit code: it is null, which looks like 0. It has not started all the same.',
    try: "worker.on('exit', () => resolve(false)): whatever ends it before it listens",
    shows: endsShown(program, gone),
    output: program.output(),
  });
  demand(alone.more.length === 0, {
    expected: `${expected} nobody is forked in its place.`,
    got: `${alone.more.length} more ${alone.more.length === 1 ? 'was' : 'were'} forked.`,
    why: 'What has killed it will kill the next one too, if the machine has too little memory. Each try takes more of it.',
    try: 'say so, and end the reload, whatever has ended the new one',
    shows: shown(program, alone.more, 'forked again'),
    output: program.output(),
  });
  demand(!alone.isSilent, {
    expected: `${expected} says so.`,
    got: 'It said nothing that it does not also say when a reload succeeds.',
    why: 'A worker that is killed has a signal and no exit code. The person who deployed sees the old version, and looks for the cause in the wrong place.',
    try: "console.error('it does not start: the old ones stay'), whatever has ended the new one",
    output: program.output(),
  });
  const none = fate ? 'The primary ended.' : 'The next SIGHUP forked nobody.';
  if (!next.isBegun && !fate) demandCalm(program, next.fromMs, none, [program.pid], HEARD);
  demand(next.isBegun, {
    expected: `${expected} the next SIGHUP begins another.`,
    got: none,
    why:
      whyOfPrimary(program) ??
      'A worker that is killed has a signal and no exit code: it is null. A machine without memory ends one like that, and your reload still waits for it.',
    try: "worker.on('exit', () => resolve(false)): whatever ends it before it listens",
    output: program.output(),
  });
  demand(!next.isLost || !saysNoMore(next.said, alone.said), {
    expected: `SIGHUP comes once more while a new worker boots, and that one is killed: there is another reload all the same, or a message that there is none.`,
    got: 'There was no second reload, and nothing was printed that is not printed without that order.',
    why: 'The order that waited was dropped with the reload that failed. It may be the one for the fixed version, and the person who gave it believes that this one is live.',
    try: 'do what waits, however the reload before it has ended: reloads = reloads.then(renewAll)',
    output: program.output(),
  });
}

/** The stop while the new one of a reload boots, or the first one of all. */
export function demandStopWhileBooting({ program, stopped, output }, who) {
  if (!stopped?.isBegun) return; // that it forks again is demanded elsewhere
  const { fate, signalMs, forked, left } = stopped;
  const expected = `SIGTERM while ${who} boots: that one leaves too, and it ends.`;
  demandNoneForked(program, forked, output);
  if (!fate) demandMoves(program, signalMs, `${expected} It is still running.`); // one may not listen yet
  demand(fate, {
    expected,
    got: `${SECONDS} s later the primary was still running, and ${left.length} ${left.length === 1 ? 'worker' : 'workers'} served.`,
    why: 'A worker that was still booting when it was told to leave has not heard it, or heard it before it could listen; and then it listened.',
    try: "worker.on('listening', tell): tell it again when it listens",
    output,
  });
  demand(fate.code === 0, {
    expected: `${expected} The exit code is 0.`,
    got: `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`,
    why: whyOfPrimary(program),
    try: 'the same stop as at any other time',
    output,
  });
}

/** Another order to reload was waiting when the stop came. */
function demandNoneForked(program, forked, output) {
  demand(forked.length === 0, {
    expected:
      'SIGHUP, or the message, comes once more in the middle of a reload, and then SIGTERM: from then on nothing is forked, whatever was to come.',
    got: forked.length === 1 ? 'A worker was forked.' : `${forked.length} workers were forked.`,
    why: 'The reload went on after the stop, or the order that waited for its turn was carried out. A worker that comes now has not been told to leave, or has come for nothing.',
    try: 'a variable isStopping, which stop() sets, and which is looked at before each fork: if (isStopping) return;',
    shows: shown(program, forked, 'a new one is forked'),
    output,
  });
}

/** The stop in the middle of a reload. */
export function demandStopInReload({ program, stopped }) {
  if (!stopped?.isBegun) return;
  const { fate, signalMs, isLate, left, lost, deaf, forked, of, output } = stopped;
  demandNoneForked(program, forked, output);
  const missing = 'SIGTERM in the middle of a reload: it is still running.';
  if (!fate) demandCalm(program, signalMs, missing, isLate ? [] : [program.pid, ...left]);
  if (!fate && isLate) return; // a program that forks that early has more than one worker too many, which is reported elsewhere
  demand(fate, {
    expected: 'SIGTERM in the middle of a reload: all workers drain, no new one comes, it ends.',
    got: `${SECONDS} s later the primary was still running, and ${left.length} ${left.length === 1 ? 'worker' : 'workers'} still served.`,
    why: 'The stop told the workers that were there. When the old one had ended, the reload went on and forked another, which was never told.',
    try: 'a variable isStopping, which stop() sets and the reload checks before each fork',
    output,
  });
  demand(fate.code === 0, {
    expected: 'SIGTERM in the middle of a reload: the exit code is 0.',
    got: `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`,
    why:
      whyOfPrimary(program) ??
      'A worker that is draining for the reload may be told to drain a second time.',
    try: 'if (isDraining) return; at the top of drain(), and the same stop as without a reload',
    output,
  });
  demand(deaf.length === 0, {
    expected: 'SIGTERM in the middle of a reload: all workers drain at the same time, and at once.',
    got: `Process ${deaf[0]?.pid}, a worker, served a new client and did not say "Connection: close", although an old one is still busy with what it had begun.`,
    why: 'The stop waited for the present step of the reload. Until a slow client of one old worker has finished, the others take new clients.',
    try: 'in stop(): retire(worker) for each, at once; the reload only looks at isStopping before it forks again',
    shows: {
      program,
      moments: deaf.map((one) => momentOf({ ...one, t: one.startMs }, 'a late client')),
    },
    output,
  });
  demand(lost === 0, {
    expected: `SIGTERM in the middle of a reload: what is under way is answered, all ${of}.`,
    got: `${lost} got no answer.`,
    why: 'A worker that is draining for the reload is told to drain a second time. That is no reason to hurry.',
    try: 'if (isDraining) return; at the top of drain()',
    output,
  });
}

export function demandBadVersionStops(seen) {
  const { program, again, output } = seen;
  if (again && !again.isRenewed && !again.fate)
    demandCalm(
      program,
      again.fromMs,
      'After a version that could not start, a good one was deployed; the reload to it is not done.',
      again.forks === 0 ? [program.pid] : [],
      HEARD,
    );
  if (!seen.fate && seen.failed === 0) demandTried(seen);
  const [isSo, got, why, repair] = firstOf(BAD_FAULTS, seen);
  demand(!isSo, {
    expected:
      'A version that throws as it starts: the reload stops and says so, the old workers go on serving, and a later reload brings a good one.',
    got: got?.(seen),
    why: (seen.fate && whyOfPrimary(program)) ?? why,
    try: repair,
    shows: shown(program, eventsOf(program.events, 'crash'), 'throws'),
    output,
  });
}

function demandTried({ program, tries, output }) {
  demand(tries > 0 && forksOf(program.events).length > 0, {
    expected: 'SIGHUP begins a reload, the second time too.',
    got: 'Nothing was forked.',
    why: 'The flag that says a reload is under way has to be reset when it is done.',
    try: 'isReloading = false; in a finally',
    output,
  });
}
