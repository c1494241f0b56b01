import { check } from '../../lib/check/checking.js';
import {
  demandByHand,
  demandDealt,
  demandFaster,
  demandNoOrphans,
  demandOneOpener,
  demandShared,
  demandSurvivors,
  demandUnharmed,
  rethrowWithHint,
} from './demands.js';
import {
  CHILDREN,
  FEW,
  killNextInTurn,
  killParent,
  launchParent,
  measureBlocking,
  measureOtherWays,
  sendCrowd,
  sendCrowdWhileFrozen,
  prepareContest,
  sendGoneClients,
  askInRounds,
} from './looks.js';

const tasks = {
  1: {
    'by-hand': 'four children are started by child_process.fork(), without the cluster module',
  },
  2: {
    'one-opener': 'the port is opened once, by the parent',
    'connections-dealt':
      '--give connections: clients are dealt in turn, 60 at once are all answered, the parent executes nothing',
    'gone-clients': 'clients that hang up before they are dealt harm no process',
    'death-survived': 'when a child dies, the others and its next client are still served',
  },
  3: {
    'listener-shared':
      '--give listener: the children accept clients themselves, the parent no longer does',
    'no-orphans': 'when the parent is killed, its children exit too',
    speedup: 'four children serve blocking work about four times as fast as one process',
  },
};

export default check('04-port-sharing', tasks, (lesson) => {
  const { ready, hold, observe, observeInParallel, measure, isLonger } = lesson;
  const open = (give, listeners) => (program) =>
    ready(program, listeners).catch((error) => rethrowWithHint(error, program, give));
  const started = observe([], () => launchParent(lesson, CHILDREN));
  const dealing = observe([started], open('connections', 1));
  const dealt = observe([dealing], sendCrowdWhileFrozen);
  const turns = observe([dealing, dealt], askInRounds);
  const startedSharing = observeInParallel([], () => launchParent(lesson, FEW, 'listener'));
  const sharing = observeInParallel([startedSharing], open('listener', 1 + FEW));
  const shared = observeInParallel([sharing], sendCrowd);
  const startedRude = observeInParallel([dealing], () => launchParent(lesson, FEW)); // not measured, so it may be disturbed
  const rude = observeInParallel([startedRude], open('connections', 1));
  const gone = observeInParallel([rude], sendGoneClients);
  const death = observeInParallel([rude, gone], killNextInTurn);
  const orphans = observeInParallel([sharing, shared], killParent);
  const contest = observeInParallel([turns], () => prepareContest(lesson));

  hold('by-hand', [started], demandByHand, { isGate: true });
  hold('one-opener', [dealing], demandOneOpener, { isGate: true });
  hold('connections-dealt', [dealing, dealt, turns], demandDealt);
  const needs = ['connections-dealt'];
  hold('gone-clients', [rude, gone], demandUnharmed, { needs });
  hold('death-survived', [rude, death], demandSurvivors, { needs: [...needs, 'gone-clients'] });
  hold('listener-shared', [sharing, shared], demandShared);
  hold('no-orphans', [sharing, orphans], demandNoOrphans, { needs: ['listener-shared'] });
  const faster = async (program, sides) =>
    demandFaster(await measureBlocking(lesson, { ...sides, candidate: program }));
  hold('speedup', [dealing, contest], faster, { isMeasurement: true });
  const otherWays = (program, sides) => measureOtherWays(lesson, program, sides);
  if (isLonger) measure([dealing, contest], otherWays);
});
