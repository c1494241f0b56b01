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
  const start = async (children, options) => {
    const env = { JOB_CHILDREN: String(children) };
    return lesson.ready(await lesson.launch({ env, followsChildren: true, ...options }));
  };
  const { server, first, resting } = holdPool(lesson, start);
  const dead = holdDeaths(lesson, start, { server, first, resting });
  const reference = lesson.observeInParallel([dead], async () =>
    lesson.ready(await lesson.launch({ isReference: true })),
  );
  measurePool(lesson, { server, reference, dead });
});

/** Task 2: a pool of children builds the reports. */
function holdPool({ observe, hold }, start) {
  const server = observe([], () => start(CHILDREN, { pretendCores: CORES, cwd: tmpdir() }));
  const first = observe([server], askFirst);
  const beside = observe([server, first], askDuringReports);
  const crowd = observe([server, beside], (program) =>
    askWhileFrozen(program, makeJobs('customer', 20)),
  );
  const resting = observe([server, crowd], waitForRest);

  hold('answers', [server, first], demandFirst, { isGate: true });
  hold('own-file', [server, first], demandOwnFile, { isGate: true });
  hold('stays-responsive', [beside], demandResponsive);
  hold('answers-match', [server, crowd], demandMatch);
  const needs = ['answers-match'];
  hold('small-pool', [crowd], demandSize, { needs });
  hold('in-turn', [server, crowd], demandInTurn, { needs: ['stays-responsive', 'small-pool'] });
  hold('listens-once', [resting], demandNoListeners, { needs });
  return { server, first, resting };
}

/** Task 3: children are killed, and a job throws; in the end the server is killed. */
function holdDeaths({ observe, observeInParallel, hold, holdInSteps }, start, pool) {
  const { server, first, resting } = pool;
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

  const failsOne = [
    [[server, killed], demandOneFailure],
    [[single, poisoned], demandFailureOfJob],
  ];
  holdInSteps('fails-one', failsOne, { needs: ['in-turn'] });
  const [atWork, nextToIdle] = [
    'A child was killed at work.',
    'A child was killed at work while another was idle.',
  ];
  const replaced = [
    [[server, killed], demandQueueContinues],
    [[server, again], (program, seen) => demandReplaced(program, seen, atWork)],
    [[server, besideIdle], (program, seen) => demandReplaced(program, seen, nextToIdle)],
    [[server, idle], demandIdleReplaced],
    [[server, dead], demandUnheardExit],
    [[single, poisoned], demandAfterFailedJob],
  ];
  holdInSteps('replaced', replaced, { needs: ['fails-one'] });
  hold('ends-with-parent', [single, orphaned], demandNoneLeft, { needs: ['fails-one'] });
  return dead;
}

/** How late / is while reports are built, here and in the starter; and what a child costs. */
function measurePool(lesson, { server, reference, dead }) {
  const { launch, observe, measure, isLonger } = lesson;
  const delays = observe([server, reference, dead], (candidate, control) =>
    measureDelays(lesson, candidate, control),
  );
  measure([delays], (seen) => reportDelays(lesson, seen));
  if (!isLonger) return;
  const costs = observe([delays], () => measureCosts(launch));
  measure([costs], (seen) => reportCosts(lesson, seen));
}
