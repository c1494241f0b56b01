import { check, createLoad } from '../lib/checking.js';
import {
  demandBuilds,
  demandCores,
  demandForks,
  demandListeners,
  demandOneProcess,
  demandSameAnswers,
  demandSideBySide,
  demandWork,
} from './demands/11-nitro.js';
import { demandCleanStop, demandEnd } from './demands/11-nitro.end.js';
import {
  WORKERS,
  answersOf,
  askUntilAllAnswer,
  build,
  forkByDefault,
  measure,
  startCluster,
  startOutput,
  workOf,
} from './looks/11-nitro.js';
import { killWorkers, startInVain, stopAtStart, stopAtWork } from './looks/11-nitro.end.js';

const promises = {
  builds: 'nitropack builds the folder, as configured and with the preset node-server',
  'default-forks-none': 'built with the preset node-server it is one process, which serves',
  'work-blocks': 'each / is the work of lesson 1, and the bundler has not removed it',
  'side-by-side': 'as configured the preset is node-cluster, and each build has its own folder',
  'preset-forks':
    'NODE_CLUSTER_WORKERS tells how many workers there are; they answer, on one port, the primary does not',
  'cores-unless-told': 'without NODE_CLUSTER_WORKERS there is one for each core it may use',
  'same-answers': 'one process and cluster give the same answers, after the same work',
  'stops-clean': 'SIGTERM and Ctrl-C: what is under way is answered, then it ends with exit code 0',
  'gives-up':
    'five workers in a row in vain: it gives up, with a message and exit code 1; who had served is replaced',
};

check('11-nitro', promises, async (lesson) => {
  const { observe, meanwhile, hold, isQuick } = lesson;
  const built = observe(() => build(lesson));
  const single = observe(async () => startOutput(lesson, await built, 'node-server'));
  const start = async (workers) => startCluster(lesson, await built, workers, demandListeners);
  const work = observe(async () => workOf(await single));
  const vain = meanwhile(async () => (await work) && startInVain(lesson, await built)); // start after start takes longest
  const main = observe(() => start(WORKERS));
  const others = (look) => meanwhile(async () => (await main) && look());
  const byDefault = others(async () => forkByDefault(lesson, await built));
  const interrupted = others(async () => stopAtWork(await start(2), 'Ctrl-C'));
  const terminated = others(async () => stopAtWork(await start(2), 'SIGTERM'));
  const atStart = others(async () => stopAtStart(lesson, await built));
  const killed = others(async () => killWorkers(lesson, await built));
  const inVain = others(async () => vain);
  const load = others(async () => isQuick || createLoad());
  const homes = observe(async () => askUntilAllAnswer(await main));
  const answers = observe(async () => answersOf([await single, await main]));

  await hold('builds', async () => demandBuilds(await built), { isGate: true });
  await hold('default-forks-none', async () => demandOneProcess(await single, await work));
  await hold('work-blocks', async () => demandWork(await work, await single));
  await hold('side-by-side', async () => demandSideBySide(await built), { isGate: true });
  await hold('preset-forks', async () => demandForks(await main, await homes));
  const needs = ['preset-forks'];
  await hold('cores-unless-told', async () => demandCores(await byDefault), { needs });
  await hold(
    'same-answers',
    async () => demandSameAnswers(await answers, await homes, await main),
    {
      needs: [...needs, 'work-blocks'],
    },
  );
  await hold('stops-clean', async () =>
    demandCleanStop([await interrupted, await terminated, await atStart]),
  );
  await hold('gives-up', async () => demandEnd(await inVain, await killed));

  if (lesson.allHold() && !isQuick)
    await measure(lesson, await load, { control: await single, candidate: await main });
});
