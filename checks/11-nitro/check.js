import { check } from '../../lib/check/checking.js';
import {
  demandBuilds,
  demandCarriesOn,
  demandCleanStop,
  demandCores,
  demandForks,
  demandGivesUp,
  demandOneProcess,
  demandSameAnswers,
  demandWork,
} from './demands.js';
import {
  PRETENDED_CORES,
  WORKERS,
  answersOf,
  askUntilAllAnswer,
  build,
  failToStart,
  forkByDefault,
  killWorkers,
  measureSpeedup,
  startCluster,
  startSingle,
  stop,
  workOf,
} from './looks.js';

const tasks = {
  1: {
    builds: 'both presets build, node-cluster as configured, each in its own folder',
  },
  2: {
    'preset-forks':
      'node-server is one process; with node-cluster NODE_CLUSTER_WORKERS workers answer on one port, the primary does not',
    'cores-unless-told':
      'without NODE_CLUSTER_WORKERS there is one worker for each core it may use',
    'same-answers': 'one process and the cluster give the same answers, after the same work',
  },
  3: {
    'stops-clean': 'SIGTERM and Ctrl-C: requests in flight are answered, the exit code is 0',
    'gives-up':
      'five failed starts in a row: it gives up, with a message and exit code 1; a worker that has served is replaced',
  },
};

export default check('11-nitro', tasks, (lesson) => {
  const { observe, observeInParallel, hold, holdInSteps, measure } = lesson;
  const built = observe([], () => build(lesson));
  const single = observe([built], (seen) => startSingle(lesson, seen));
  const work = observe([single], workOf);
  const main = observe([built], (seen) => startCluster(lesson, seen, WORKERS));
  const homes = observe([main], askUntilAllAnswer);
  const answers = observe([single, main], (...programs) => answersOf(programs));
  const byDefault = observeInParallel([built], (seen) => forkByDefault(lesson, seen));
  const terminated = observeInParallel([byDefault], async ({ program }) =>
    stop(await lesson.ready(program, PRETENDED_CORES), 'SIGTERM'),
  );
  /** A look at a separate program. */
  const apart = (look) =>
    observeInParallel([built], async (seen) => look(await startCluster(lesson, seen)), {
      isSlow: true,
    });
  const interrupted = apart((program) => stop(program, 'Ctrl-C'));
  const killed = apart(killWorkers);
  const failed = observeInParallel([built], (seen) => failToStart(lesson, seen), { isSlow: true });

  hold('builds', [built], demandBuilds, { isGate: true });
  holdInSteps('preset-forks', [
    [[single], demandOneProcess],
    [[main, homes], demandForks],
  ]);
  const forks = { needs: ['preset-forks'] };
  hold('cores-unless-told', [byDefault], demandCores, forks);
  holdInSteps(
    'same-answers',
    [
      [[work, single], demandWork],
      [[answers, main, homes], demandSameAnswers],
    ],
    forks,
  );
  holdInSteps(
    'stops-clean',
    [
      [[terminated], demandCleanStop],
      [[interrupted], demandCleanStop],
    ],
    forks,
  );
  holdInSteps(
    'gives-up',
    [
      [[failed], demandGivesUp],
      [[killed], demandCarriesOn],
    ],
    forks,
  );

  measure([single, main], (control, candidate) => measureSpeedup(lesson, { control, candidate }));
});
