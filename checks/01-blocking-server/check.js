import { askAtOnce, check } from '../../lib/check/checking.js';
import {
  demandBlocks,
  demandBody,
  demandDelay,
  demandListens,
  demandWaits,
  reportQueue,
} from './demands.js';
import { HOMES, REPORTS, askWithHealth, measureQueue, readDelay } from './looks.js';

const tasks = {
  1: {
    listens: 'the server listens on PORT and answers /',
    'home-body': '/ answers 5,000 to 10,000 new random bytes as hex',
    'home-blocks': '/ blocks for 10 to 20 ms, and nothing else runs meanwhile',
  },
  2: {
    'report-waits':
      'reports asked for together take 100 ms each, side by side, and hold up no /health',
  },
  3: {
    'health-tells-delay': '/health reports the longest event-loop delay since it was last asked',
  },
};

export default check(
  '01-blocking-server',
  tasks,
  ({ launch, ready, observe, observeInParallel, hold, ...lesson }) => {
    const start = observe([], async () => ready(await launch({ probe: 'waits' })));
    const first = observe([start], (program) => askAtOnce(program, '/', 1));
    const homes = observe([start, first], (program) => askWithHealth(program, '/', HOMES));
    const reports = observe([start, first], (program) =>
      askWithHealth(program, '/report', REPORTS),
    );
    const delay = observe([start, homes, reports], readDelay);
    const queue = observeInParallel(
      [first],
      async () => measureQueue(await ready(await launch())),
      {
        isSlow: true,
      },
    );

    hold('listens', [start, first], demandListens, { isGate: true });
    hold('home-body', [start, first, homes], demandBody);
    hold('home-blocks', [start, homes], demandBlocks);
    hold('report-waits', [start, reports], demandWaits);
    hold('health-tells-delay', [start, delay], demandDelay);

    lesson.measure([queue], (crowd) => reportQueue(crowd, lesson.measured));
  },
);
