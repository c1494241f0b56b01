import { check } from '../../lib/check/checking.js';
import {
  demandAfresh,
  demandAllEnd,
  demandBackOff,
  demandCleanStop,
  demandEachTime,
  demandEndOfStart,
  demandEndOfWait,
  demandGivesUp,
  demandLast,
  demandLeave,
  demandLog,
  demandNext,
  demandNoFork,
  demandNoneLeft,
  demandReplaced,
  demandSeen,
  demandServed,
} from './demands.js';
import {
  IMPATIENT,
  LEAVING,
  OTHER_CODE,
  PLACES,
  WORKERS,
  askHomes,
  behead,
  crashAgain,
  crashTwice,
  drawAvailability,
  giveUpBesideOther,
  leaveAsPlanned,
  startBoth,
  failToStart,
  stopAtWork,
  stopBesideOneThatStays,
  stopWhileItStarts,
  stopWhileItWaits,
  tellGaps,
} from './looks.js';

const promises = {
  replaced: 'a worker that crashes is replaced by one new worker, and the others go on',
  'log-tells':
    'the log says how each worker ended: its pid, its signal or exit code, a crash or not',
  'planned-leaves': 'a worker that leaves as planned is not replaced',
  'stops-clean':
    'SIGTERM, Ctrl-C: what is under way is answered; the primary ends last, with exit code 0',
  'slows-down': 'when no worker manages to listen, it waits twice as long before each restart',
  'gives-up': 'after four failed restarts it gives up: a message, exit code 1, and all end',
  'each-time':
    'each dead worker is replaced: a connection on its way, two at once, the sixth in one place',
  'no-fork-in-shutdown': 'once told to stop, it forks no more workers',
  'nothing-outlives': 'nothing outlives the primary, however it ended',
};

check('05-crash-restart', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure, isLonger } = lesson;
  const start = async (workers = WORKERS, options = {}) =>
    ready(await launch({ env: { NODE_CLUSTER_WORKERS: String(workers) }, ...options }), workers);
  const main = observe([], () => start(WORKERS, { pretendExitCode: OTHER_CODE }));
  const failedStarts = meanwhile([], () => failToStart(launch), { isSlow: true });
  const beside = meanwhile([], async () => giveUpBesideOther(await start(PLACES)), {
    isSlow: true,
  });
  const crashes = observe([main], crashTwice);
  const homes = observe([main, crashes], askHomes);
  const again = observe([main, crashes], crashAgain, { isSlow: true });
  const leave = meanwhile([], async () => {
    const program = await start(LEAVING + 1);
    return { program, round: await leaveAsPlanned(program) };
  });
  const terminated = meanwhile([leave], ({ program }) => stopAtWork(program, 'SIGTERM'));
  const interrupted = meanwhile([], async () => stopAtWork(await start(), 'Ctrl-C'));
  const stoppedWhileWaiting = meanwhile([], () => stopWhileItWaits(launch));
  const stoppedWhileStarting = meanwhile([], () => stopWhileItStarts(launch));
  const outstayed = meanwhile([], async () =>
    stopBesideOneThatStays(await start(1, { pretendTimers: IMPATIENT })),
  );
  const beheaded = observe([main, again], behead);

  holdInSteps('replaced', [
    [[main, crashes], demandReplaced],
    [[main, homes], demandServed],
  ]);
  const withEnds = [main, crashes, leave, interrupted, failedStarts];
  holdInSteps(
    'log-tells',
    [2, 3, 4, 5].map((count) => [withEnds.slice(0, count), demandLog]),
  );
  hold('planned-leaves', [leave], demandLeave);
  holdInSteps('stops-clean', [
    [[interrupted, terminated], (...stops) => demandCleanStop(stops)],
    [[stoppedWhileWaiting], demandEndOfWait],
    [[stoppedWhileStarting], demandEndOfStart],
    [[outstayed], demandLast],
  ]);
  const needs = ['replaced'];
  hold('slows-down', [failedStarts, main, crashes], demandBackOff, { needs });
  holdInSteps(
    'gives-up',
    [
      [[failedStarts], demandGivesUp],
      [[beside], demandAllEnd],
    ],
    { needs },
  );
  holdInSteps(
    'each-time',
    [
      [[main, again], demandEachTime],
      [[beside], demandAfresh],
      [[stoppedWhileStarting], demandNext],
      [[again], demandSeen],
    ],
    { needs },
  );
  holdInSteps(
    'no-fork-in-shutdown',
    [stoppedWhileWaiting, stoppedWhileStarting, interrupted, terminated].map((stopped) => [
      [stopped],
      demandNoFork,
    ]),
    { needs: [...needs, 'stops-clean'] },
  );
  holdInSteps(
    'nothing-outlives',
    [interrupted, terminated, beheaded].map((ended) => [[ended], demandNoneLeft]),
  );

  measure([again], (rounds) => tellGaps(lesson, rounds));
  if (isLonger) measure([], async () => drawAvailability(lesson, await startBoth(start)));
});
