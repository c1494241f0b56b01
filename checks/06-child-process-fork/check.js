import { tmpdir } from 'node:os';
import { check } from '../../lib/check/checking.js';
import {
  demandCrowdInTurn,
  demandElsewhere,
  demandFewInTurn,
  demandFirst,
  demandMatch,
  demandNoCrowd,
  demandOneChild,
  demandOneQueue,
  demandOwnFile,
  demandPatience,
  demandResponsive,
  demandSize,
  demandSizeAboveCores,
  demandSizeElsewhere,
  tellOfImport,
} from './demands/jobs.js';
import {
  demandFailureElsewhere,
  demandNoneLeft,
  demandOneFailure,
  demandOneOfTwo,
  demandReplaced,
  demandReplacedBeside,
  demandReplacedElsewhere,
  demandReplacedInCrowd,
  demandReplacedInTurn,
  demandReplacedOften,
  demandReplacedUnheard,
} from './demands/deaths.js';
import {
  CHILDREN,
  CHILDREN_ELSEWHERE,
  CORES,
  JOBS,
  MORE_THAN_CORES,
  SOON,
  ask,
  askAll,
  askFirst,
  askForOne,
  askInTurn,
  askMeanwhile,
  askMore,
  askSome,
  askWhileStopped,
} from './looks/jobs.js';
import {
  askLater,
  askPoison,
  askTheDead,
  endEarly,
  endServer,
  endUnasked,
  endUnheard,
  killBesideIdle,
  killBoth,
  killInCrowd,
  killInTurn,
  killOften,
  killOneOfTwo,
  startsEarly,
} from './looks/deaths.js';
import { SOON_EVERYWHERE, askInHaste } from './looks/haste.js';
import { measureCosts, measureDelays, tellOfCosts, tellOfDelays } from './looks/measure.js';

const promises = {
  answers: 'a report is answered, with the right digest',
  'own-file': 'children that run their own file build the reports',
  'stays-responsive': 'while a report is built, the server answers /',
  'answers-match': 'each of 20 reports asked for at once gets the answer to its own request',
  'any-cwd': 'started from another folder it works just as well',
  'small-pool': 'JOB_CHILDREN says how many children there are, however many requests come',
  'in-turn': 'reports that have to wait are built in the order in which they came',
  'listens-once': 'a job leaves no listener behind when its report is answered',
  'fails-one': 'when a child is killed, the report that it was building fails, and no other',
  replaced: 'another child takes its place, and what was queued is answered',
  'ends-with-parent': 'when the server ends, its children end too',
};
const PRETENDED_CORES = 5; // a pool of this size has not read JOB_CHILDREN

check('06-child-process-fork', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure, isLonger } = lesson;
  const begin = (children, options) =>
    launch({
      env: { JOB_CHILDREN: children && String(children) },
      followsChildren: true,
      ...options,
    });
  const start = async (children, options) => ready(await begin(children, options));
  const main = observe([], () =>
    start(CHILDREN, { pretendCores: PRETENDED_CORES }).catch(tellOfImport),
  );
  const first = observe([main], askFirst);
  const stopped = observe([main, first], askWhileStopped);
  const batch = observe([main, first], askAll);
  const responsive = observe([main, first, stopped, batch], askMeanwhile); // when every child has started
  const sized = observe([batch], (seen) => demandSize(seen, CHILDREN));
  const elsewhere = meanwhile([first], () =>
    start(undefined, {
      pretendCores: CHILDREN_ELSEWHERE,
      pretendExitCodeBelow: 0, // who only hears of signals, or of codes that aren't 0, misses the end of a child
      cwd: tmpdir(),
    }),
  );
  const elsewhereFirst = meanwhile([elsewhere], (program) => ask(program, JOBS.at(-1)));
  const elsewhereMore = meanwhile([elsewhere, elsewhereFirst], askSome);
  const crash = observe([main, batch, sized], killBoth);
  const later = observe([main, crash], askLater);
  const ofTwo = observe([main, later], killOneOfTwo);
  const besideIdle = observe([main, later, ofTwo], killBesideIdle);
  const dead = observe([main, later, besideIdle], askTheDead);
  const poisoned = meanwhile([elsewhere, elsewhereMore], askPoison);
  const killed = meanwhile([elsewhere, poisoned], endUnheard);
  const another = meanwhile([first], () => start(1, { pretendTimersBelow: SOON }));
  const crowd = meanwhile([another], askForOne);
  const isSlow = true;
  const inTurn = meanwhile([another, crowd], askInTurn);
  const killedInTurn = meanwhile([another, inTurn], killInTurn, { isSlow });
  const more = meanwhile(
    [first],
    async () => {
      const program = await start(MORE_THAN_CORES, { pretendCores: CORES });
      return askMore(program);
    },
    { isSlow },
  );
  const haste = meanwhile([first], async () => askInHaste(await start(CHILDREN, SOON_EVERYWHERE)), {
    isSlow,
  });
  const killedInCrowd = meanwhile([another, killedInTurn], killInCrowd, { isSlow });
  const killedOften = meanwhile([another, killedInTurn, killedInCrowd], killOften, { isSlow });
  const ended = meanwhile([another, killedOften], (program) => endServer(program, 'SIGTERM'), {
    isSlow,
  });
  const unasked = meanwhile(
    [main, first],
    async (program) => (startsEarly(program) ? endUnasked(await start(1)) : undefined),
    { isSlow },
  );
  const endedEarly = meanwhile(
    [first],
    async () => endEarly(await begin(1, { haltsChildren: true })),
    {
      isSlow,
    },
  );

  const isGate = true;
  hold('answers', [main, first], demandFirst, { isGate });
  hold('own-file', [main, stopped], demandOwnFile, { isGate });
  hold('stays-responsive', [responsive], demandResponsive);
  hold('answers-match', [main, batch], demandMatch);
  hold('any-cwd', [elsewhere, elsewhereFirst], demandElsewhere);
  const needs = ['answers-match', 'any-cwd'];
  holdInSteps(
    'small-pool',
    [
      [[sized], () => {}], // it demands that itself
      [[elsewhereMore], demandSizeElsewhere],
      [[crowd], demandOneChild],
      [[more], demandSizeAboveCores],
      [[haste], demandPatience],
    ],
    { needs },
  );
  holdInSteps(
    'in-turn',
    [
      [[batch], demandOneQueue],
      [[inTurn], demandFewInTurn],
      [[crowd], demandCrowdInTurn],
    ],
    { needs: ['stays-responsive', 'small-pool'] }, // with one child, as told
  );
  hold('listens-once', [crowd], demandNoCrowd, { needs: ['answers-match'] });
  holdInSteps(
    'fails-one',
    [
      [[main, crash], demandOneFailure],
      [[main, ofTwo], demandOneOfTwo],
      [[elsewhere, poisoned], demandFailureElsewhere],
    ],
    { needs },
  );
  holdInSteps(
    'replaced',
    [
      [[main, later], demandReplaced],
      [[main, besideIdle], demandReplacedBeside],
      [[main, dead], demandReplacedUnheard],
      [[another, killedInTurn], demandReplacedInTurn],
      [[another, killedInCrowd], demandReplacedInCrowd],
      [[another, killedOften], demandReplacedOften],
      [[elsewhere, poisoned], demandReplacedElsewhere],
    ],
    { needs: ['fails-one', 'in-turn'] },
  );
  const ends = [ended, killed, endedEarly, unasked];
  holdInSteps(
    'ends-with-parent',
    ends.map((end) => [[end], demandNoneLeft]),
  );

  const control = meanwhile([later], async () => ready(await launch({ isReference: true })));
  const delays = observe([main, control, dead], (candidate, reference) =>
    measureDelays(lesson, candidate, reference),
  );
  measure([delays], (seen) => tellOfDelays(lesson, seen));
  if (isLonger) {
    const costs = observe([delays], () => measureCosts(launch));
    measure([costs], (seen) => tellOfCosts(lesson, seen));
  }
});
