/** Lesson 8: what is demanded where a version cannot start, and where the program is told to stop in the middle of a reload. */
import { demand, forksOf } from '../../../lib/check/checking.js';
import { HEARD } from '../looks/reload.js';
import { SECONDS, demandCalm, firstOf, whyOfPrimary } from './reload.js';

/** [condition, got, why, try]: what is to be mended first when a version cannot start. */
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
    'Nobody has come in its place. An old worker may leave when a new one listens, not when it has merely ended.',
    "wait for 'listening' or 'exit', whichever comes first; after 'exit' leave the old ones alone",
  ],
  [
    ({ goesOn }) => goesOn,
    ({ tries }) => `When the first of the new ones had ended, another was forked: ${tries} in all.`,
    'The next try loads the same file. Somebody has to mend it first.',
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
      `When the file was mended, SIGHUP forked ${again?.forks ? 'workers, but the reload was not done' : 'nobody'}, ${SECONDS} s later.`,
    'The reload that failed is perhaps still under way for you: it waits for an event that never comes, or it has left by return or throw before it set its flag back.',
    "resolve in both cases, at 'listening' and at 'exit'; set back what you remember in a finally",
  ],
  [
    ({ later }) => later.some((version) => version !== '3'),
    ({ later }) => `When the file was mended, /version says ${later.join(', ')} after a reload.`,
    'A new process loads what is there then.',
    'fork each new worker after the signal',
  ],
  [
    ({ isSilent }) => isSilent,
    () => 'It stopped, and said nothing that it does not say when a reload is done.',
    'Whoever has deployed sees the old version, and looks for the cause in the wrong place. What a worker prints as it dies does not tell that the reload has ended there.',
    "console.error('it does not start: the old ones serve on')",
  ],
];

export function demandBadStops(seen, { program, stopped }) {
  demandBadVersionStops(seen);
  if (stopped && stopped.isBegun) demandStopInReload(program, stopped);
}

/** The stop in the middle of a reload. */
function demandStopInReload(program, { fate, signalMs, isLate, left, output }) {
  const missing = 'SIGTERM in the middle of a reload: it still runs.';
  if (!fate) demandCalm(program, signalMs, missing, isLate ? [] : [program.pid, ...left]);
  if (!fate && isLate) return; // whoever forks that early has more than one worker too many, which is told elsewhere
  demand(fate, {
    expected: 'SIGTERM in the middle of a reload: all workers drain, no new one comes, it ends.',
    got: `${SECONDS} s later the primary still ran, and ${left.length} ${left.length === 1 ? 'worker' : 'workers'} served on.`,
    why: 'The stop has told those who were there. The reload went on when the old one had ended, and forked another, who was never told.',
    try: 'a variable isStopping, which stop() sets, and the reload looks at before each fork',
    output,
  });
  demand(fate.code === 0, {
    expected: 'SIGTERM in the middle of a reload: the exit code is 0.',
    got: `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`,
    why:
      whyOfPrimary(program) ??
      'A worker that drains for the reload may be told to drain a second time.',
    try: 'if (isDraining) return; at the top of drain(), and the same stop as without a reload',
    output,
  });
}

function demandBadVersionStops(seen) {
  const { program, again, output } = seen;
  if (again && !again.isRenewed && !again.fate)
    demandCalm(
      program,
      again.fromMs,
      'After a version that could not start a good one was deployed; the reload to it is not done.',
      again.forks === 0 ? [program.pid] : [],
      HEARD,
    );
  if (!seen.fate && seen.failed === 0) demandTried(seen);
  const [isSo, got, why, repair] = firstOf(BAD_FAULTS, seen);
  demand(!isSo, {
    expected:
      'A version that throws as it starts: the reload stops and says so, the old workers serve on, and a later reload brings a good one.',
    got: got?.(seen),
    why: (seen.fate && whyOfPrimary(program)) ?? why,
    try: repair,
    output,
  });
}

function demandTried({ program, tries, output }) {
  demand(tries > 0 && forksOf(program.events).length > 0, {
    expected: 'SIGHUP begins a reload, also the second time.',
    got: 'Nothing was forked.',
    why: 'What remembers that a reload is under way has to be set back when it is done.',
    try: 'isReloading = false; in a finally',
    output,
  });
}
