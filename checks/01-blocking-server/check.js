import { askAtOnce, check } from '../../lib/check/checking.js';
import {
  demandAlike,
  demandAlone,
  demandAnyDelay,
  demandBody,
  demandDelay,
  demandDelayAfterAnswer,
  demandListens,
  demandNoLimit,
  demandNoSpinning,
  demandOverlap,
  demandReport,
  demandTime,
  tellOfQueue,
} from './demands.js';
import {
  BRIEF,
  QUICK_TIMERS,
  REPORTS_AT_ONCE,
  SLOW_TIMERS,
  areSurelyHeldUp,
  askHealthDuring,
  askHomes,
  askMany,
  askManyReports,
  askSoonReports,
  cameInTime,
  isClear,
  isFree,
  isTrue,
  measureQueue,
  readAfterAnswer,
  readAfterHold,
  readAtRest,
  readDelays,
  seek,
} from './looks.js';

const promises = {
  listens: 'the server listens on PORT and answers /',
  'home-body': '/ returns 5,000 to 10,000 random bytes as hex text',
  'home-time': '/ takes 10 to 20 ms',
  'home-alone': 'while one / runs, nothing else does: no other /, no /health',
  'report-answers': 'each /report still takes its 100 ms and returns its rows',
  'report-overlaps':
    '/report holds nobody up: all that come together wait side by side, and /health is answered',
  'health-tells-delay': '/health reports the longest event-loop delay since it was last asked',
};

check('01-blocking-server', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure } = lesson;
  const server = observe([], async () => ready(await launch({ probe: 'waits' })));
  const first = observe([server], (program) => askAtOnce(program, '/', 1));
  const homes = observe([server, first], askHomes);
  const home = observe([server, first], (program) =>
    seek(() => askHealthDuring(program, '/', 1), cameInTime),
  );
  const reports = observe([server, first], (program) =>
    seek(() => askHealthDuring(program, '/report', REPORTS_AT_ONCE), isClear, 2),
  );
  const late = observe([server, reports], (program, seen) =>
    seek(
      () => readDelays(program, isFree(seen)),
      ({ delay, isJoined, later }) =>
        isTrue(delay) && (areSurelyHeldUp(seen) || (isJoined && isClear(later))),
      3,
    ),
  );
  const isSlow = true;
  const inHaste = {
    probe: /** @type {const} */ ('waits'),
    pretendTimers: QUICK_TIMERS,
    pretendWaits: BRIEF,
  };
  const hasty = meanwhile([first], async () => ready(await launch(inHaste)), { isSlow });
  const slow = meanwhile(
    [first],
    async () =>
      askManyReports(await ready(await launch({ probe: 'waits', pretendTimers: SLOW_TIMERS }))),
    { isSlow },
  );
  const answered = meanwhile([slow], readAfterAnswer, { isSlow });
  const many = meanwhile([hasty], askMany, { isSlow });
  const soon = meanwhile([hasty, many], askSoonReports, { isSlow });
  const held = meanwhile([hasty, soon], readAfterHold, { isSlow });
  const rest = observe([server, late, held], readAtRest);
  const queue = meanwhile([homes], async () => measureQueue(await ready(await launch())), {
    isSlow,
  });

  hold('listens', [server, first], demandListens, { isGate: true });
  hold('home-body', [first, homes, home, many], demandBody);
  hold('home-time', [server, first, homes, home, hasty, many], demandTime);
  hold('home-alone', [homes, home, server], demandAlone, { needs: ['home-time'] });
  holdInSteps('report-answers', [
    [[reports, late, server], demandReport],
    [[slow], demandAlike],
  ]);
  holdInSteps(
    'report-overlaps',
    [
      [[reports, late, server], demandOverlap],
      [[slow], demandNoLimit],
      [[soon], demandNoSpinning],
    ],
    { needs: ['report-answers'], areApart: true },
  );
  const needs = ['home-time', 'home-alone', 'report-answers'];
  holdInSteps(
    'health-tells-delay',
    [
      [[late, server], demandDelay],
      [[held, rest], demandAnyDelay],
      [[answered], demandDelayAfterAnswer],
    ],
    { needs },
  );

  measure([homes, queue], (seen, crowd) => tellOfQueue(seen, crowd, lesson.measured));
});
