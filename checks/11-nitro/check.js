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
  const { observe, observeInParallel, hold, measure } = lesson;
  const built = observe([], () => build(lesson));
  hold('builds', [built], demandBuilds, { isGate: true });
  const single = observe([built], (seen) => startSingle(lesson, seen));
  const main = observe([built], (seen) => startCluster(lesson, seen, WORKERS));
  const byDefault = observeInParallel([built], (seen) => forkByDefault(lesson, seen));
  holdPresets(lesson, { single, main, byDefault });
  holdStop(lesson, built, byDefault);
  measure([single, main], (control, candidate) => measureSpeedup(lesson, { control, candidate }));
});

/** Task 2: the presets differ in the number of processes, and in nothing else. */
function holdPresets({ observe, hold, holdInSteps }, { single, main, byDefault }) {
  const work = observe([single], workOf);
  const homes = observe([main], askUntilAllAnswer);
  const answers = observe([single, main], (...programs) => answersOf(programs));
  holdInSteps('preset-forks', [
    [[single], demandOneProcess],
    [[main, homes, byDefault], demandForks],
  ]);
  const forks = { needs: ['preset-forks'] };
  hold('cores-unless-told', [byDefault], demandCores, forks);
  const sameAnswers = [
    [[work, single], demandWork],
    [[answers, main, homes], demandSameAnswers],
  ];
  holdInSteps('same-answers', sameAnswers, forks);
}

/** Task 3: it stops on request, and after failed starts. */
function holdStop(lesson, built, byDefault) {
  const { observeInParallel, holdInSteps } = lesson;
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
  const forks = { needs: ['preset-forks'] };
  const stopsClean = [terminated, interrupted].map((stopped) => [[stopped], demandCleanStop]);
  holdInSteps('stops-clean', stopsClean, forks);
  const givesUp = [
    [[failed], demandGivesUp],
    [[killed], demandCarriesOn],
  ];
  holdInSteps('gives-up', givesUp, forks);
}
