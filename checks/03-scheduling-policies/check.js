import { check } from '../../lib/check/checking.js';
import {
  demandChoices,
  demandCycle,
  demandNone,
  demandPinned,
  demandRefusals,
  demandRoundRobin,
  demandSkipped,
  tellHint,
} from './demands/policies.js';
import { demandCounts, demandCountsInHaste } from './demands/counts.js';
import { askForCounts } from './looks/counts.js';
import { askInHaste } from './looks/haste.js';
import {
  CONNECTIONS,
  WORKERS,
  askInTurn,
  askInTurnTwice,
  askOnTwoConnections,
  chooseInEveryWay,
  dealMeanwhile,
  drawShares,
  measureCost,
  sharedListeners,
  startTiny,
  tryAllNonsense,
} from './looks/policies.js';

const promises = {
  'rr-accepts':
    'by default it schedules by rr: the primary accepts and hands connections to four workers',
  'refuses-nonsense': 'any other policy is refused with a message, as option and as variable',
  'rr-in-turn': '40 new connections one after the other: ten each, always in the same order',
  'none-is-on': '--policy none: the workers accept connections themselves',
  'option-wins': '--policy beats NODE_CLUSTER_SCHED_POLICY, which beats rr',
  'keep-alive-pins':
    'the requests of one connection stay with one worker, the next connection goes to the next',
  'blocked-is-skipped': 'under rr a blocked worker is skipped, one that merely waits is not',
  counts: '/counts says how many requests for / each worker has had, whichever worker is asked',
};

check('03-scheduling-policies', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure } = lesson;
  const start = async (args = []) => {
    const program = await launch({ env: { NODE_CLUSTER_WORKERS: String(WORKERS) }, args });
    return ready(program, WORKERS).catch((error) => tellHint(error, program));
  };
  const main = observe([], () => start());
  const first = observe([main], (program) => askInTurn(program, WORKERS));
  const refusals = meanwhile([], () => tryAllNonsense(lesson));
  const inTurn = observe([main, first], askInTurnTwice);
  const none = meanwhile([], () => start(['--policy', 'none']));
  const inNoTurn = meanwhile([none], (program) => askInTurn(program, CONNECTIONS));
  const shared = meanwhile([none], sharedListeners);
  const choices = meanwhile([], () => chooseInEveryWay(lesson));
  const kept = observe([main, first], askOnTwoConnections);
  const busy = observe([main, inTurn], dealMeanwhile, { isSlow: true });
  const tiny = meanwhile([choices], () => startTiny(lesson));
  const counts = observe([main, first], askForCounts);
  const hasty = meanwhile([first], () => askInHaste(lesson));

  hold('rr-accepts', [main, first], demandRoundRobin);
  hold('refuses-nonsense', [refusals], demandRefusals);
  hold('rr-in-turn', [main, inTurn], demandCycle, { needs: ['rr-accepts'] });
  hold('none-is-on', [none, inNoTurn, shared], demandNone);
  hold('option-wins', [choices], demandChoices, { needs: ['rr-accepts', 'none-is-on'] });
  hold('keep-alive-pins', [kept, main], demandPinned, { needs: ['rr-in-turn'] });
  hold('blocked-is-skipped', [busy, main], demandSkipped, { needs: ['rr-in-turn'] });
  holdInSteps(
    'counts',
    [
      [[counts], demandCounts],
      [[hasty], demandCountsInHaste],
    ],
    { needs: ['rr-accepts'] },
  );

  measure([main, inTurn], (...seen) => drawShares(lesson, 'rr', ...seen));
  measure([none, inNoTurn], (...seen) => drawShares(lesson, 'none', ...seen));
  measure([tiny], (programs) => measureCost(lesson, programs));
});
