import { askAtOnce, check } from '../../lib/check/checking.js';
import {
  demandAnswers,
  demandFour,
  demandGuard,
  demandOnePerCore,
  demandOnePort,
  demandOwnMemory,
  demandPrimaryRests,
  demandSameWork,
  isRefused,
  measureBlocking,
  measureCpu,
} from './demands.js';
import {
  WORKERS,
  askForCpu,
  askPair,
  askUntilAllAnswer,
  forkByDefault,
  prepareContest,
  startFour,
  tryLegal,
  tryNonsense,
} from './looks.js';

const promises = {
  'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers',
  'one-port': 'they share one port, PORT, and open no other',
  'workers-answer': 'every worker answers',
  'primary-rests': 'the primary answers nothing',
  'own-memory': 'each worker reports its own pid and counts its own requests for /',
  'same-work':
    'each / is the work of lesson 1: 10 to 20 ms, 5,000 to 10,000 random bytes; /cpu is as it was',
  'one-per-core': 'without NODE_CLUSTER_WORKERS it forks a worker for each core it may use',
  'refuses-nonsense':
    'NODE_CLUSTER_WORKERS may be 1 to 99; anything else is refused: on stderr, with exit code 1',
  speedup: 'four workers serve blocking work about four times as fast as one process',
};

check('02-cluster-fork', promises, (lesson) => {
  const { launch, observe, meanwhile, hold, measure } = lesson;
  const main = observe([], () => startFour(lesson));
  const homes = observe([main], askUntilAllAnswer);
  const nonsense = meanwhile([homes], () => tryNonsense(launch));
  const legal = meanwhile([nonsense], (tried) => (tried.every(isRefused) ? tryLegal(launch) : []));
  const byDefault = meanwhile([homes], () => forkByDefault(launch));
  const unlessMute = (look) => (program, seen) => (seen.isMute ? seen : look(program));
  const calm = observe(
    [main, homes],
    unlessMute((program) => askAtOnce(program, '/', WORKERS)),
  );
  const pair = observe([main, homes], (program, { isMute }) => (isMute ? [] : askPair(program)));
  const cpus = observe([main, homes], unlessMute(askForCpu));
  const contest = meanwhile([main, homes], (program) => prepareContest(lesson, program));

  hold('forks-as-told', [main, homes], demandFour);
  hold('one-port', [main], demandOnePort);
  const needs = ['forks-as-told'];
  hold('workers-answer', [main, homes], demandAnswers, { needs });
  hold('primary-rests', [main, homes], demandPrimaryRests, { needs });
  hold('own-memory', [homes, main, pair], demandOwnMemory);
  hold('same-work', [homes, calm, main, cpus, pair], demandSameWork);
  hold('one-per-core', [byDefault], demandOnePerCore, { needs });
  hold('refuses-nonsense', [nonsense, legal], demandGuard, { needs });
  hold('speedup', [contest], (sides) => measureBlocking(lesson, sides), {
    needs: Object.keys(promises).slice(0, -1),
    isAlone: true,
  });
  measure([contest], (sides) => measureCpu(lesson, sides));
});
