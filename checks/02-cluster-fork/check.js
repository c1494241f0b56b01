import { check } from '../../lib/check/checking.js';
import {
  demandAccepted,
  demandAnswers,
  demandFour,
  demandOnePerCore,
  demandOnePort,
  demandOwnMemory,
  demandRefusals,
  demandSameWork,
  measureBlocking,
  measureCpu,
} from './demands.js';
import {
  askUntilAllAnswer,
  forkByDefault,
  forkTwelve,
  prepareContest,
  startFour,
  tryNonsense,
} from './looks.js';

const tasks = {
  1: {
    'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers',
    'one-port': 'they share one port, PORT, and open no other',
    'workers-answer': 'every worker answers, and the primary does not',
  },
  2: {
    'own-memory': 'each worker reports its own pid and counts its own requests for /',
    'same-work':
      'the work is as it was: / blocks for 10 to 20 ms and sends new random bytes, /cpu computes',
  },
  3: {
    'one-per-core': 'without NODE_CLUSTER_WORKERS it forks a worker for each core it may use',
    'refuses-nonsense':
      'NODE_CLUSTER_WORKERS may be 1 to 99; anything else is refused before a fork, with exit code 1',
    speedup: 'four workers serve blocking work about four times as fast as one process',
  },
};

export default check('02-cluster-fork', tasks, (lesson) => {
  const { launch, observe, observeInParallel, hold, holdInSteps, measure } = lesson;
  const start = observe([], () => startFour(lesson));
  const homes = observe([start], askUntilAllAnswer);
  const byDefault = observeInParallel([homes], () => forkByDefault(launch));
  const nonsense = observeInParallel([homes], () => tryNonsense(launch));
  const twelve = observeInParallel([homes], () => forkTwelve(launch));
  const contest = observeInParallel([start, homes], (program) => prepareContest(lesson, program));

  hold('forks-as-told', [start], demandFour);
  hold('one-port', [start], demandOnePort);
  const needs = ['forks-as-told'];
  hold('workers-answer', [start, homes], demandAnswers, { needs });
  hold('own-memory', [start, homes], demandOwnMemory);
  hold('same-work', [start, homes], demandSameWork);
  hold('one-per-core', [byDefault], demandOnePerCore, { needs });
  const refusals = [
    [[nonsense], demandRefusals],
    [[twelve], demandAccepted],
  ];
  holdInSteps('refuses-nonsense', /** @type {any} */ (refusals), { needs });
  hold('speedup', [contest], (sides) => measureBlocking(lesson, sides), { isMeasurement: true });
  measure([contest], (sides) => measureCpu(lesson, sides));
});
