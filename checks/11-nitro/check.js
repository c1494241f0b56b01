import { check } from '../../lib/check/checking.js';
import {
  demandBuilds,
  demandCores,
  demandForks,
  demandListeners,
  demandOneProcess,
  demandOneWorker,
  demandSameAnswers,
  demandSideBySide,
  demandWholeStart,
  demandWork,
} from './demands/nitro.js';
import { demandCleanStop, demandEnd } from './demands/end.js';
import {
  IN_HASTE,
  PRETENDED_CORES,
  WORKERS,
  answersOf,
  askUntilAllAnswer,
  build,
  forkByDefault,
  forkElsewhere,
  measureSpeedup,
  startCluster,
  startOutput,
  workOf,
} from './looks/nitro.js';
import { killWorkers, failToStart, replaceOne, stopAtStart, stopAtWork } from './looks/end.js';

const PAIR = 2; // workers: whoever leaves with the first leaves another behind

const promises = {
  builds: 'nitropack builds the folder, as configured and with the preset node-server',
  'default-forks-none': 'built with the preset node-server it is one process, which serves',
  'work-blocks':
    'each / is the work of lesson 1; the bundler has neither removed it nor left it outside',
  'side-by-side': 'as configured the preset is node-cluster, and each build has its own folder',
  'preset-forks':
    'NODE_CLUSTER_WORKERS says how many workers there are; they answer, on one port, the primary does not',
  'cores-unless-told': 'without NODE_CLUSTER_WORKERS there is one for each core it may use',
  'same-answers': 'one process and cluster give the same answers, after the same work',
  'stops-clean': 'SIGTERM and Ctrl-C: what is under way is answered, then it ends with exit code 0',
  'gives-up':
    'five workers in a row fail to start: it gives up, with a message and exit code 1; one that has served is replaced',
};

check('11-nitro', promises, (lesson) => {
  const { observe, meanwhile, hold, measure } = lesson;
  const start = (workers) => (built) => startCluster(lesson, built, workers, demandListeners);
  const startPair = (built) => startCluster(lesson, built, PAIR, demandListeners, IN_HASTE);
  const built = observe([], () => build(lesson));
  const single = observe([built], (seen) =>
    startOutput(lesson, seen, 'node-server', demandWholeStart),
  );
  const work = observe([single], workOf);
  const main = observe([built], start(WORKERS));
  const homes = observe([main], askUntilAllAnswer);
  const answers = observe([single, main], (...programs) => answersOf(programs));
  const byDefault = meanwhile([built], (seen) => forkByDefault(lesson, seen));
  const terminated = meanwhile(
    [built, byDefault],
    async (seen, { program }) => {
      const whole = await lesson.ready(program, PRETENDED_CORES);
      const stop = await stopAtWork(await replaceOne(whole), 'SIGTERM');
      return stop.isMissed ? stopAtWork(await startPair(seen), 'SIGTERM', true) : stop;
    },
    { isSlow: true },
  );
  const alone = meanwhile([built], start(1));
  const interrupted = meanwhile(
    [built],
    async (seen) => stopAtWork(await startPair(seen), 'Ctrl-C', true), // it reaches the workers by itself, and they are quick
    { isSlow: true },
  );
  const atStart = ['SIGTERM', 'Ctrl-C'].map((how) =>
    meanwhile([built], (seen) => stopAtStart(lesson, seen, how)),
  );
  const elsewhere = meanwhile([built], (seen) => forkElsewhere(lesson, seen));
  const failedStarts = meanwhile([built], (seen) => failToStart(lesson, seen));
  const killed = meanwhile([built], (seen) => killWorkers(lesson, seen));

  hold('builds', [built], demandBuilds, { isGate: true });
  hold('default-forks-none', [single, work], demandOneProcess);
  hold('work-blocks', [work, single], demandWork);
  hold('side-by-side', [built], demandSideBySide, { isGate: true });
  hold('preset-forks', [main, homes, alone], (program, asked, one) => {
    demandForks(program, asked);
    demandOneWorker(one);
  });
  const needs = ['preset-forks'];
  hold(
    'cores-unless-told',
    [byDefault, elsewhere],
    ({ forks, program }, others) =>
      [{ cores: PRETENDED_CORES, forks, program }, ...others].forEach(demandCores),
    { needs },
  );
  hold('same-answers', [answers, main, homes], demandSameAnswers, {
    needs: [...needs, 'work-blocks'],
  });
  hold('stops-clean', [interrupted, terminated, ...atStart], (...stops) => demandCleanStop(stops));
  hold('gives-up', [failedStarts, killed], demandEnd);

  measure([single, main], (control, candidate) => measureSpeedup(lesson, { control, candidate }));
});
