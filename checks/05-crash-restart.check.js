import { check } from '../lib/checking.js';
import {
  demandBackOff,
  demandCleanStop,
  demandEnd,
  demandLeave,
  demandLog,
  demandNoFork,
  demandNoneLeft,
  demandOthers,
  demandReplaced,
} from './demands/05-crash-restart.js';
import {
  WORKERS,
  behead,
  crashAgain,
  crashOneByOne,
  measure,
  startBoth,
  startInVain,
  stopAtWork,
  stopWhileItWaits,
  waitForOneMore,
} from './looks/05-crash-restart.js';

const promises = {
  replaced: 'a worker that crashes is replaced by one new worker, also the sixth time',
  'others-go-on': 'meanwhile the other workers go on, the same processes',
  'log-tells': 'the log tells the pid of each dead worker, with its signal or its exit code',
  'planned-leaves': 'a worker that leaves as planned is not replaced',
  'slows-down': 'when no worker comes to listen, it waits longer before each new start',
  'gives-up': 'after some starts in vain it gives up, with a message and exit code 1',
  'stops-clean': 'SIGTERM and Ctrl-C: what is under way is answered, then it ends with exit code 0',
  'no-fork-in-shutdown': 'once told to stop, it forks no worker any more',
  'nothing-outlives': 'nothing outlives the primary, however it ended',
};

check('05-crash-restart', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (workers, options) =>
    ready(await launch({ env: { NODE_CLUSTER_WORKERS: String(workers) }, ...options }), workers);
  const main = observe(() => start(WORKERS));
  const inVain = meanwhile(async () => (await main) && startInVain(launch));
  const stoppedInVain = meanwhile(async () => (await main) && stopWhileItWaits(launch));
  const again = meanwhile(async () => (await main) && crashAgain(await start(2), 2));
  const beheaded = meanwhile(async () => behead((await again).program));
  const interrupted = meanwhile(async () => (await main) && stopAtWork(await start(2), 'Ctrl-C'));
  const terminated = meanwhile(async () => (await main) && stopAtWork(await start(2), 'SIGTERM'));
  const crashes = observe(async () => crashOneByOne(await main));
  const rounds = meanwhile(async () => waitForOneMore(await main, await crashes));
  const both = observe(async () => (await crashes) && !lesson.isQuick && startBoth(start));

  await hold('replaced', async () => {
    demandReplaced(await main, await rounds);
    demandReplaced((await again).program, (await again).rounds);
  });

  await hold('others-go-on', async () => demandOthers(await rounds));
  await hold('log-tells', async () => demandLog(await rounds));
  const needs = ['replaced'];
  await hold('planned-leaves', async () => demandLeave(await main, await rounds), { needs });
  await hold('slows-down', async () => demandBackOff(await inVain), { needs });
  await hold('gives-up', async () => demandEnd(await inVain), { needs });
  await hold('stops-clean', async () => demandCleanStop([await interrupted, await terminated]));

  const stops = async () => [await stoppedInVain, await interrupted, await terminated];
  await hold('no-fork-in-shutdown', async () => demandNoFork(await stops()), {
    needs: [...needs, 'stops-clean'],
  });

  await hold('nothing-outlives', async () =>
    demandNoneLeft([await interrupted, await terminated, await beheaded]),
  );

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson, await both);
});
