import { check } from '../lib/checking.js';
import {
  demandComputed,
  demandIdlePrimary,
  demandKeepsUp,
  demandLog,
  demandMeasured,
  demandRefusals,
  demandTold,
  demandWork,
} from './demands/07-open-loop.js';
import {
  TOLD,
  askUntilAllAnswer,
  candidateOf,
  forkAsComputed,
  forkFewer,
  forkForSlowPages,
  loadBoth,
  prepareLoad,
  reportBoth,
  tryAllNonsense,
} from './looks/07-open-loop.js';

const promises = {
  'work-done': 'each / renders a whole page, in each process one after the other',
  computed: 'it forks RATE × page time / UTILIZATION workers, rounded up',
  measured: 'the page time is measured: where pages take longer there are more workers',
  told: 'NODE_CLUSTER_WORKERS forks exactly so many workers, whatever was measured',
  'log-tells': 'a line of the log tells the page time and the number of workers',
  'nonsense-refused': 'a setting that makes no sense is refused with its name and exit code 1',
  'primary-idle': 'the primary answers nothing',
  'keeps-up':
    'at 200 requests a second nobody waits in a queue; one process has one that only grows',
};

check('07-open-loop', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(TOLD) };
  const main = observe(async () => ready(await launch({ env }), TOLD));
  const seen = observe(async () => askUntilAllAnswer(await main));
  const refusals = meanwhile(async () => (await main) && tryAllNonsense(launch));
  const prepared = meanwhile(async () => (await main) && prepareLoad(lesson));
  const counts = observe(async () => {
    await Promise.allSettled([refusals, prepared]); // their starting takes CPU time from who measures
    return (await seen) && forkAsComputed(launch);
  });
  const slow = meanwhile(async () => (await seen) && (await refusals) && forkForSlowPages(launch));
  const fewer = meanwhile(async () => (await seen) && (await refusals) && forkFewer(launch));
  const candidate = meanwhile(async () => candidateOf(lesson, await counts));

  await hold('work-done', async () => demandWork(await seen));
  await hold('computed', async () => demandComputed(await counts));
  const computes = { needs: ['computed'] };
  await hold('measured', async () => demandMeasured(await slow), computes);
  await hold('told', async () => demandTold([{ program: await main, told: TOLD }, await fewer]));
  await hold('log-tells', async () => demandLog(await candidate, await counts), computes);
  const forks = { needs: ['told'] };
  await hold('nonsense-refused', async () => demandRefusals(await refusals), forks);
  await hold('primary-idle', async () => demandIdlePrimary(await main, await seen), forks);

  const needs = ['work-done', 'computed', 'primary-idle'];
  await hold(
    'keeps-up',
    async () => {
      await Promise.allSettled([slow]);
      const both = { ...(await prepared), candidate: await candidate };
      demandKeepsUp(reportBoth(lesson, await loadBoth(lesson, both)));
    },
    { needs },
  );
});
