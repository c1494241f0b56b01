import { check } from '../lib/checking.js';
import {
  demandChoices,
  demandCycle,
  demandNone,
  demandPinned,
  demandRefusals,
  demandRoundRobin,
  demandSkipped,
  tellHint,
} from './demands/03-scheduling-policies.js';
import { demandCounts, faultOfCounts } from './demands/03-scheduling-policies.counts.js';
import {
  CONNECTIONS,
  WORKERS,
  askInTurn,
  askOnTwoConnections,
  chooseInTwoWays,
  dealMeanwhile,
  drawShares,
  isTelling,
  measureCost,
  sharedListeners,
  tryAllNonsense,
} from './looks/03-scheduling-policies.js';

const promises = {
  'rr-accepts':
    'untold, it schedules by rr: the primary accepts and hands connections to four workers',
  'rr-in-turn': '40 new connections one after the other: ten each, always in the same order',
  'none-is-on': '--policy none: the workers accept by themselves',
  'option-wins': '--policy beats NODE_CLUSTER_SCHED_POLICY, which beats rr',
  'refuses-nonsense': 'another policy is refused with a message, as option and as variable',
  'keep-alive-pins':
    'the requests of one connection stay with one worker, the next connection meets the next',
  'blocked-is-skipped': 'under rr a blocked worker is skipped, one that merely waits is not',
  counts: '/counts tells how many requests for / each worker has had, whichever worker is asked',
};

check('03-scheduling-policies', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (args = []) => {
    const program = await launch({ env: { NODE_CLUSTER_WORKERS: String(WORKERS) }, args });
    return ready(program, WORKERS).catch((error) => tellHint(error, program));
  };
  const main = observe(() => start());
  const none = meanwhile(() => start(['--policy', 'none']));
  const areUp = Promise.allSettled([main, none]); // before others take CPU time from their start
  const choices = meanwhile(async () => (await areUp) && chooseInTwoWays(lesson));
  const refusals = meanwhile(async () => (await areUp) && tryAllNonsense(lesson));
  const inTurn = observe(async () => askInTurn(await main, CONNECTIONS));
  const inNoTurn = meanwhile(async () => askInTurn(await none, CONNECTIONS));
  const kept = observe(async () => askOnTwoConnections(await main));
  const whileBlocked = observe(async () => dealMeanwhile(await main, '/block', isTelling));
  const whileWaiting = observe(async () =>
    dealMeanwhile(await main, '/wait', (look) => isTelling(look) && look.own > 0),
  );
  const miscount = observe(
    async () => (await faultOfCounts(await main)) ?? (await inNoTurn, faultOfCounts(await none)),
  );

  await hold('rr-accepts', async () => demandRoundRobin(await main, await inTurn));
  await hold('rr-in-turn', async () => demandCycle(await main, await inTurn), {
    needs: ['rr-accepts'],
  });
  await hold('none-is-on', async () =>
    demandNone(await none, await inNoTurn, await sharedListeners(await none)),
  );
  await hold('option-wins', async () => demandChoices(await choices), {
    needs: ['rr-accepts', 'none-is-on'],
  });
  await hold('refuses-nonsense', async () => demandRefusals(await refusals));
  await hold('keep-alive-pins', async () => demandPinned(await kept), { needs: ['rr-in-turn'] });
  await hold(
    'blocked-is-skipped',
    async () => demandSkipped(await whileBlocked, await whileWaiting),
    { needs: ['rr-in-turn'] },
  );
  await hold('counts', async () => demandCounts(await miscount), { needs: ['rr-accepts'] });

  if (!lesson.allHold()) return;
  drawShares(lesson, 'rr', await main, await inTurn);
  drawShares(lesson, 'none', await none, await inNoTurn);
  if (!lesson.isQuick) await measureCost(lesson);
});
