import { Undecided, check } from '../lib/checking.js';
import {
  demandByHand,
  demandFaster,
  demandNoneLost,
  demandOneOpener,
  demandParentRests,
  demandShared,
  demandSurvivors,
  demandTurns,
  demandUnharmed,
  tellClosed,
} from './demands/04-port-sharing.js';
import {
  CHILDREN,
  drawShares,
  killNext,
  measureBlocking,
  measureCluster,
  openDoors,
  prepareContest,
  sendGoneClients,
  takeTurns,
} from './looks/04-port-sharing.js';

const promises = {
  'by-hand': 'four children are started by child_process.fork(), without the cluster module',
  'one-opener': 'the port is opened once, by the parent',
  'none-lost': '--give connections: 60 clients at once, and the first to come, are all answered',
  'parent-rests': 'the children execute the requests, on the very connections of the clients',
  'connections-in-turn': '--give connections: the children take turns: 1 2 3 4, 1 2 3 4',
  'listener-shared': '--give listener: the children accept by themselves, the parent no more',
  'gone-clients': 'clients that connect and are gone at once harm nobody',
  'death-survived': 'when a child dies, the parent, the others and its next client go on',
  speedup: 'four children serve blocking work about four times as fast as one process',
};

check('04-port-sharing', promises, async (lesson) => {
  const { hold, observe, meanwhile } = lesson;
  const dealing = observe(async () => tellClosed(await openDoors(lesson, 'connections')));
  const sharing = meanwhile(async () => tellClosed(await openDoors(lesson, 'listener')));
  /** @type {Promise<any>} */
  const contest = meanwhile(() => prepareContest(lesson, dealing, sharing));

  const holdOf = (id, door, look, options) => hold(id, () => judge(door, look), options);
  await holdOf('by-hand', dealing, demandByHand);
  await holdOf('one-opener', dealing, demandOneOpener, { isGate: true });
  await holdOf('none-lost', dealing, demandNoneLost, { needs: ['by-hand'] });
  await holdOf('parent-rests', dealing, demandParentRests, { needs: ['none-lost'] });
  const turns = async ({ program }) => demandTurns(await takeTurns(program, 4 * CHILDREN));
  await holdOf('connections-in-turn', dealing, turns, { needs: ['parent-rests'] });
  await holdOf('listener-shared', sharing, demandShared, { needs: ['by-hand'] });

  const both = async (look) => {
    const looks = [judge(dealing, look), judge(sharing, look)];
    const faults = (await Promise.allSettled(looks)).flatMap(
      (/** @type {any} */ { reason }) => reason ?? [],
    );
    if (faults.length > 0) throw faults.find((one) => !(one instanceof Undecided)) ?? faults[0];
  };
  const needs = ['parent-rests', 'listener-shared'];
  const goneClients = async (door) => demandUnharmed(door, await sendGoneClients(door));
  await hold('gone-clients', () => both(goneClients), { needs });
  const all = [...needs, 'connections-in-turn', 'gone-clients'];
  const death = async (door) => {
    const { callers, ...seen } = await killNext(door);
    await demandSurvivors(door, seen);
    for (const caller of callers) caller.destroy();
  };
  await hold('death-survived', () => both(death), { needs: all });

  const faster = async () =>
    demandFaster(await contest, await measureBlocking(lesson, await contest));
  await hold('speedup', faster, { needs: Object.keys(promises).slice(0, -1) });
  if (lesson.isQuick || !lesson.allHold()) return;
  await measureCluster(lesson, await contest);
  for (const door of [await dealing, await sharing]) drawShares(lesson, door);
});

/** What fails tells what this very program printed. */
async function judge(opened, look) {
  const door = await opened;
  try {
    await look(door);
  } catch (/** @type {any} */ error) {
    if (error.story) error.story.output ??= door.program.output();
    throw error;
  }
}
