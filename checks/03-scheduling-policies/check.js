import { check } from '../../lib/check/checking.js';
import { demandChoices, demandNone, demandRoundRobin, demandTable, tellHint } from './demands.js';
import {
  CONNECTIONS,
  WORKERS,
  askInTurn,
  chooseInEveryWay,
  drawShares,
  measureCost,
  readTable,
  startTiny,
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
  const { launch, ready, observe, meanwhile, hold, measure } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const start = async (args = []) => {
    const program = await launch({ env, args });
    return ready(program, WORKERS).catch((error) => tellHint(error, program));
  };
  const main = observe([], () => start());
  const inTurn = observe([main], askInTurn);
  const none = meanwhile([], () => start(['--policy', 'none']));
  const inNoTurn = meanwhile([none], askInTurn);
  const choices = meanwhile([], () => chooseInEveryWay(lesson));
  const table = observe([main, inTurn], readTable);
  const tiny = meanwhile([choices], () => startTiny(lesson));

  hold('rr-in-turn', [main, inTurn], demandRoundRobin);
  hold('none-is-on', [none, inNoTurn], demandNone);
  hold('set-in-time', [choices], demandChoices, { needs: ['rr-in-turn', 'none-is-on'] });
  hold('table', [main, table], demandTable, { needs: ['rr-in-turn'] });

  const title = (policy) => `${policy}: ${CONNECTIONS} new connections, one after the other`;
  measure([main, inTurn], (...seen) => drawShares(lesson, 'rr', title('rr'), ...seen));
  measure([none, inNoTurn], (...seen) => drawShares(lesson, 'none', title('none'), ...seen));
  measure([tiny], (programs) => measureCost(lesson, programs));
});
