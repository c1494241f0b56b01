import { check } from '../../lib/check/checking.js';
import {
  demandBackOff,
  demandCleanStop,
  demandEachTime,
  demandGivesUp,
  demandAllExit,
  demandLeave,
  demandLog,
  demandNoFork,
  demandNothingLeft,
  demandReplaced,
} from './demands.js';
import {
  LEAVING,
  OTHER_CODE,
  WORKERS,
  askToLeave,
  killPrimary,
  crashAgain,
  crashTwice,
  chartAvailability,
  failInOnePlace,
  failToStart,
  stopWhileOneIsFrozen,
  stopInAWait,
  measureGaps,
} from './looks.js';

const tasks = {
  1: {
    replaced: 'one new worker replaces each that crashes; the others carry on',
    'log-tells': 'the log tells of each exit: pid, signal or exit code, a crash or not',
    'planned-leaves': 'a worker that leaves as planned is not replaced',
  },
  2: {
    'slows-down': 'while no worker manages to listen, each wait is twice as long',
    'gives-up': 'after four failed restarts it says so, and all exit, with 1',
    'each-time': 'every crash is repaired like the first, also two at a time',
  },
  3: {
    'stops-clean': 'SIGTERM, Ctrl-C: it answers first; the primary exits last, with 0',
    'no-fork-in-shutdown': 'once told to stop, it forks no more workers',
    'nothing-outlives': 'nothing outlives the primary, however it exits',
  },
};

export default check('05-crash-restart', tasks, (lesson) => {
  const { launch, ready, observe, observeInParallel, measure, isLonger } = lesson;
  const start = async (workers = WORKERS, options = {}) =>
    ready(await launch({ env: { NODE_CLUSTER_WORKERS: String(workers) }, ...options }), workers);

  const main = observe([], () => start(WORKERS, { pretendExitCode: OTHER_CODE }));
  const crashes = observe([main], crashTwice);
  const again = observe([main, crashes], crashAgain, { isSlow: true });
  const leave = observeInParallel([], async () => askToLeave(await start(2 * LEAVING)));
  holdReplacement(lesson, crashes, leave);
  holdLimits(lesson, crashes, again);
  const killed = observe([main, again], killPrimary);
  holdStop(lesson, start, { leave, killed });

  measure([again], (rounds) => measureGaps(lesson, rounds));
  if (isLonger) measure([], () => chartAvailability(lesson, start));
});

/** Task 1: a crash is replaced, a planned exit is not. */
function holdReplacement({ hold, holdInSteps }, crashes, leave) {
  hold('replaced', [crashes], demandReplaced);
  holdInSteps(
    'log-tells',
    [[crashes], [crashes, leave]].map((looks) => [looks, demandLog]),
  );
  hold('planned-leaves', [leave], demandLeave);
}

/** Task 2: restarts slow down, and the primary gives up. */
function holdLimits({ launch, observeInParallel, hold, holdInSteps }, crashes, again) {
  const failing = observeInParallel([], () => failToStart(launch), { isSlow: true });
  const failingPlace = observeInParallel([], () => failInOnePlace(launch), { isSlow: true });
  const needs = ['replaced'];
  hold('slows-down', [failing, crashes], demandBackOff, { needs });
  const givesUp = [
    [[failing], demandGivesUp],
    [[failingPlace], demandAllExit],
  ];
  holdInSteps('gives-up', givesUp, { needs });
  hold('each-time', [again], demandEachTime, { needs });
}

/** Task 3: the primary stops on request, and nothing outlives it. */
function holdStop({ observeInParallel, hold, holdInSteps }, start, { leave, killed }) {
  const interrupted = observeInParallel([leave], ({ program }) =>
    stopWhileOneIsFrozen(program, 'Ctrl-C'),
  );
  const terminated = observeInParallel([], () => stopInAWait(start));
  holdInSteps(
    'stops-clean',
    [interrupted, terminated].map((stop) => [[stop], demandCleanStop]),
  );
  hold('no-fork-in-shutdown', [terminated, interrupted], demandNoFork, {
    needs: ['replaced', 'stops-clean'],
  });
  holdInSteps(
    'nothing-outlives',
    [interrupted, terminated, killed].map((end) => [[end], demandNothingLeft]),
  );
}
