import { Undecided, check } from '../../lib/check/checking.js';
import {
  demandByHand,
  demandFaster,
  demandNoOrphans,
  demandNoneLost,
  demandOneOpener,
  demandParentRests,
  demandShared,
  demandSurvivors,
  demandTurns,
  demandUnharmed,
  tellClosed,
} from './demands.js';
import {
  CHILDREN,
  GATHERING,
  askBesideStopped,
  killNext,
  killParent,
  measureBlocking,
  measureMore,
  meetCrowd,
  openDoor,
  prepareContest,
  sendGoneClients,
  startOne,
  stopParent,
  takeTurnsBesideOne,
} from './looks.js';

const promises = {
  'by-hand': 'four children are started by child_process.fork(), without the cluster module',
  'one-opener': 'the port is opened once, by the parent',
  'none-lost': '--give connections: 60 clients at once, and the first to come, are all answered',
  'parent-rests': "the children execute the requests, on the clients' own connections",
  'connections-in-turn': '--give connections: the children take turns: 1 2 3 4, 1 2 3 4',
  'listener-shared':
    '--give listener: the children accept clients themselves, the parent no longer does',
  'gone-clients': 'clients that connect and leave at once harm nobody',
  'death-survived': 'when a child dies, the parent, the others and its next client go on',
  'no-orphans': 'when the parent is killed, its children end too',
  speedup: 'four children serve blocking work about four times as fast as one process',
};

check('04-port-sharing', promises, (lesson) => {
  const { hold, observe, meanwhile, measure, isLonger } = lesson;
  const open = async (give, children, special) =>
    tellClosed(await openDoor(lesson, give, children, special));
  const byDefault = { args: [], ...GATHERING };
  const dealing = observe([], () => open('connections', CHILDREN, byDefault));
  const dealt = observe([dealing], meetCrowd);
  const turns = observe([dealing, dealt], (door) => takeTurnsBesideOne(door, 4 * CHILDREN));
  const parentStopped = observe([dealing, turns], stopParent);
  const one = meanwhile([], () => startOne(lesson));
  const sharing = meanwhile([], () => open('listener'));
  const shared = meanwhile([sharing], meetCrowd);
  const rude = meanwhile([], () => open('connections', CHILDREN)); // a door that is not measured afterwards
  const besideStopped = meanwhile([rude], askBesideStopped);
  const goneRude = meanwhile([rude, besideStopped], sendGoneClients);
  const goneShared = meanwhile([sharing, shared], sendGoneClients);
  const deathRude = meanwhile([rude, goneRude], orUndecided(killNext));
  const deathShared = meanwhile([sharing, goneShared], orUndecided(killNext));
  const orphanedRude = meanwhile([rude, deathRude], killParent);
  const orphanedShared = meanwhile([sharing, deathShared], killParent);
  const contest = meanwhile([turns], () => prepareContest(lesson));

  const judged =
    (demand) =>
    (door, ...seen) =>
      judge(door, () => demand(door, ...seen));
  hold('by-hand', [dealing, one], judged(demandByHand));
  hold('one-opener', [dealing, one], judged(demandOneOpener), { isGate: true });
  hold('none-lost', [dealing, dealt], judged(demandNoneLost), { needs: ['by-hand'] });
  hold('parent-rests', [dealing, dealt], judged(demandParentRests), { needs: ['none-lost'] });
  const inTurn = [dealing, turns, besideStopped, parentStopped];
  hold('connections-in-turn', inTurn, judged(demandTurns), { needs: ['parent-rests'] });
  hold('listener-shared', [sharing, shared], judged(demandShared), { needs: ['by-hand'] });

  /** The same demand of two doors. */
  const both = (demand) => (one, seen, other, seenThere) => {
    const faults = [
      faultOf(() => judged(demand)(one, seen)),
      faultOf(() => judged(demand)(other, seenThere)),
    ].filter(Boolean);
    if (faults.length > 0) throw faults.find((fault) => !(fault instanceof Undecided)) ?? faults[0];
  };
  const open2 = ['parent-rests', 'listener-shared'];
  hold('gone-clients', [rude, goneRude, sharing, goneShared], both(demandUnharmed), {
    needs: open2,
  });
  hold('death-survived', [rude, deathRude, sharing, deathShared], both(demandSurvivors), {
    needs: [...open2, 'connections-in-turn', 'gone-clients'],
  });
  hold('no-orphans', [rude, orphanedRude, sharing, orphanedShared], both(demandNoOrphans), {
    needs: ['death-survived'],
  });

  const faster = async (door, sides) =>
    demandFaster(door, await measureBlocking(lesson, { ...sides, candidate: door.program }));
  hold('speedup', [dealing, contest], faster, {
    needs: Object.keys(promises).slice(0, -1),
    isAlone: true,
  });
  if (isLonger) measure([dealing, contest], (door, sides) => measureMore(lesson, sides, door));
});

/** A failure shows what this very program printed. */
function judge(door, look) {
  try {
    look();
  } catch (/** @type {any} */ error) {
    if (error.story) error.story.output ??= door.program.output();
    throw error;
  }
}

/** What it throws, if anything. */
function faultOf(judge) {
  try {
    judge();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A look that showed nothing is no reason not to report the other door. */
const orUndecided = (look) => (door) =>
  look(door).catch((error) => {
    if (error instanceof Undecided) return error;
    throw error;
  });
