import { check } from '../../lib/check/checking.js';
import {
  demandChoices,
  demandNone,
  demandRoundRobin,
  demandTable,
  rethrowWithHint,
} from './demands.js';
import {
  CONNECTIONS,
  WORKERS,
  askInTurn,
  tryPolicyChoices,
  chartShares,
  measureCost,
  readTable,
  startSmallestServer,
} from './looks.js';

const tasks = {
  1: {
    'rr-in-turn':
      'by default the primary accepts: 40 new connections, ten for each of the four workers',
    'none-is-on': '--policy none: the workers accept connections themselves',
    'set-in-time':
      'the policy is chosen and set before the first fork, and --policy beats the variable',
  },
  2: {
    table: 'the primary prints how many requests for / each worker has had',
  },
};

export default check('03-scheduling-policies', tasks, (lesson) => {
  const { launch, ready, observe, observeInParallel, hold, measure } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const start = async (args = []) => {
    const program = await launch({ env, args });
    return ready(program, WORKERS).catch((error) => rethrowWithHint(error, program));
  };
  const main = observe([], () => start());
  const inTurn = observe([main], askInTurn);
  const none = observeInParallel([], () => start(['--policy', 'none']));
  const inNoTurn = observeInParallel([none], askInTurn);
  const choices = observeInParallel([], () => tryPolicyChoices(lesson));
  const table = observe([main, inTurn], readTable);
  const tiny = observeInParallel([choices], () => startSmallestServer(lesson));

  hold('rr-in-turn', [main, inTurn], demandRoundRobin);
  hold('none-is-on', [none, inNoTurn], demandNone);
  hold('set-in-time', [choices], demandChoices, { needs: ['rr-in-turn', 'none-is-on'] });
  hold('table', [main, table], demandTable, { needs: ['rr-in-turn'] });

  const title = (policy) => `${policy}: ${CONNECTIONS} new connections, one after the other`;
  measure([main, inTurn], (...seen) => chartShares(lesson, 'rr', title('rr'), ...seen));
  measure([none, inNoTurn], (...seen) => chartShares(lesson, 'none', title('none'), ...seen));
  measure([tiny], (programs) => measureCost(lesson, programs));
});
