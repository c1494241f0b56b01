import { tmpdir } from 'node:os';
import { check } from '../../lib/check/checking.js';
import {
  demandAfterFailedJob,
  demandFailureOfJob,
  demandFirst,
  demandIdleReplaced,
  demandInTurn,
  demandMatch,
  demandNoListeners,
  demandNoneLeft,
  demandOneFailure,
  demandOwnFile,
  demandQueueContinues,
  demandReplaced,
  demandResponsive,
  demandSize,
  demandUnheardExit,
} from './demands.js';
import {
  CHILDREN,
  CORES,
  askDuringReports,
  askFirst,
  askWhileFrozen,
  askCrashingJob,
  askKilledChildren,
  makeJobs,
  killAtWork,
  killIdle,
  killServer,
  measureCosts,
  measureDelays,
  waitForRest,
  reportCosts,
  reportDelays,
} from './looks.js';

const tasks = {
  2: {
    answers: 'a report gets the right digest, whichever folder the server was started in',
    'own-file': 'children that run job.js build the reports',
    'stays-responsive': 'while reports are built, the server answers /',
    'answers-match': 'of 20 reports asked for at once, each gets its own answer',
    'small-pool': 'there are as many children as JOB_CHILDREN says, and they are used again',
    'in-turn':
      'each child has one report at a time; the others are built in the order in which they came',
    'listens-once': 'a job leaves no listener behind',
  },
  3: {
    'fails-one': 'when a child dies, the report that it was building gets 503, and no other fails',
    replaced: 'another child takes its place, and what waits is built',
    'ends-with-parent': 'when the server is killed, its children exit',
  },
};

export default check('06-child-process-fork', tasks, (lesson) => {
  const { launch, ready, observe, observeInParallel, hold, holdInSteps, measure, isLonger } =
    lesson;
  const start = async (children, options) =>
    ready(
      await launch({ env: { JOB_CHILDREN: String(children) }, followsChildren: true, ...options }),
    );
  const isGate = true;

  const server = observe([], () => start(CHILDREN, { pretendCores: CORES, cwd: tmpdir() }));
  const first = observe([server], askFirst);
  const beside = observe([server, first], askDuringReports);
  const crowd = observe([server, beside], (program) =>
    askWhileFrozen(program, makeJobs('customer', 20)),
  );
  const resting = observe([server, crowd], waitForRest);
  const killed = observe([server, resting], killAtWork);
  const again = observe([server, killed], (program) =>
    askWhileFrozen(program, makeJobs('again', 4), { isKilled: true }),
  );
  const besideIdle = observe([server, again], (program) =>
    askWhileFrozen(program, makeJobs('later', 4)),
  );
  const idle = observe([server, besideIdle], killIdle);
  const dead = observe([server, idle], askKilledChildren);

  const single = observeInParallel([first], () => start(1));
  const poisoned = observeInParallel([single], askCrashingJob);
  const orphaned = observeInParallel([single, poisoned], killServer);

  hold('answers', [server, first], demandFirst, { isGate });
  hold('own-file', [server, first], demandOwnFile, { isGate });
  hold('stays-responsive', [beside], demandResponsive);
  hold('answers-match', [server, crowd], demandMatch);
  const needs = ['answers-match'];
  hold('small-pool', [crowd], demandSize, { needs });
  hold('in-turn', [server, crowd], demandInTurn, { needs: ['stays-responsive', 'small-pool'] });
  hold('listens-once', [resting], demandNoListeners, { needs });
  holdInSteps(
    'fails-one',
    [
      [[server, killed], demandOneFailure],
      [[single, poisoned], demandFailureOfJob],
    ],
    { needs: ['in-turn'] },
  );
  const [atWork, nextToIdle] = [
    'A child was killed at work.',
    'A child was killed at work while another was idle.',
  ];
  holdInSteps(
    'replaced',
    [
      [[server, killed], demandQueueContinues],
      [[server, again], (program, seen) => demandReplaced(program, seen, atWork)],
      [[server, besideIdle], (program, seen) => demandReplaced(program, seen, nextToIdle)],
      [[server, idle], demandIdleReplaced],
      [[server, dead], demandUnheardExit],
      [[single, poisoned], demandAfterFailedJob],
    ],
    { needs: ['fails-one'] },
  );
  hold('ends-with-parent', [single, orphaned], demandNoneLeft, { needs: ['fails-one'] });

  const control = observeInParallel([dead], async () => ready(await launch({ isReference: true })));
  const delays = observe([server, control, dead], (candidate, reference) =>
    measureDelays(lesson, candidate, reference),
  );
  measure([delays], (seen) => reportDelays(lesson, seen));
  if (isLonger) {
    const costs = observe([delays], () => measureCosts(launch));
    measure([costs], (seen) => reportCosts(lesson, seen));
  }
});
