import { Undecided, check } from '../../lib/check/checking.js';
import {
  demandAged,
  demandAway,
  demandExact,
  demandGivenUp,
  demandLastStandsIn,
  demandMatched,
  demandOthersStay,
  demandRecovery,
  demandRepeated,
  demandSilence,
  demandSpread,
  demandSticky,
  demandStore,
  demandTogether,
} from './demands.js';
import {
  WORKERS,
  ageIds,
  askForMany,
  countTogether,
  dieWithAnswers,
  hasty,
  keepSilent,
  primaryOf,
  readByNewcomer,
  repeatIds,
} from './looks/counter.js';
import {
  ODD_PLACES,
  PLACES,
  isSpread,
  letGoOn,
  visitAfterDeath,
  visitInTurn,
  visitOddPlaces,
  visitTheLast,
  visitTheOnly,
} from './looks/sticky.js';
import {
  countInStore,
  loseStore,
  measureCost,
  refuseOnce,
  restartAll,
  startWithoutStore,
} from './looks/store.js';

const promises = {
  'counts-exactly':
    'the primary owns the counts: every increment counts, and all workers report the same',
  'answers-matched': 'many questions at once: each gets its own answer',
  'death-exact':
    'an id counts once and has one answer, even when a worker dies with questions under way',
  'owner-silent':
    'while the primary is silent a client gets a 503 after a second; the late answer goes to nobody',
  'all-served': 'sticky: every client is served, and every worker has clients',
  'sticky-keeps': 'sticky: each client gets the same worker at each visit',
  'others-stay':
    'sticky: when a worker dies its clients are served, and all others stay where they are',
  'redis-exact':
    'in Redis, too, an id counts once, even when a worker dies and the cluster restarts',
  'redis-away':
    'while Redis is silent or down clients get a 503; nothing ends or is done later, and it recovers',
};

const TIMES = 80; // increments
const START_MS = 30_000; // many programs start here, and the machine may be busy

/** A program that does not come up in haste says nothing about its ids. */
function unlessOurs(/** @type {any} */ error) {
  if (error instanceof Undecided || !error.story) throw error;
}

check('09-shared-state', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure } = lesson;
  const start = async (
    state,
    workers,
    { listeners = workers, env = {}, begun = () => {}, ...options } = /** @type {any} */ ({}),
  ) => {
    const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
    const program = await launch({ args: ['--state', state], env: all, ...options });
    begun(program);
    await program.ready(listeners, START_MS);
    return ready(program, listeners);
  };
  const main = observe([], () => start('primary', WORKERS));
  const together = observe([main], (program) =>
    countTogether(program, 'pears', TIMES, primaryOf(program)),
  );
  const silence = observe([main, together], (program) => keepSilent(program, primaryOf(program)), {
    isSlow: true,
  });
  const matched = observe([main], (program) => askForMany(program, primaryOf(program)));
  const death = observe([main], (program) => dieWithAnswers(program, primaryOf(program), 'figs'));
  const toldAfter = observe([main, death], readByNewcomer);
  const repeats = observe([main, together], (program, seen) =>
    repeatIds(program, primaryOf(program), seen),
  );
  const startInHaste = () => start('primary', 1, hasty).catch(unlessOurs); // what limits its starts cannot be hurried
  const aged = meanwhile([together], async () => ageIds(await startInHaste()), { isSlow: true });
  const isSlow = true;
  const without = meanwhile([together], () => startWithoutStore(start), { isSlow });
  const away = meanwhile([without], (seen) => loseStore(launch, seen), { isSlow });
  const startSticky = (places, options = {}) =>
    start('sticky', places, { listeners: 1, ...options });
  const standing = { haltsChildren: true, begun: letGoOn };
  const sticky = meanwhile([], async () => visitInTurn(await startSticky(PLACES, standing)));
  const moved = meanwhile([sticky], visitAfterDeath);
  const reduced = meanwhile([moved], visitTheLast);
  const stored = meanwhile([], () => countInStore(launch, start, TIMES));
  const restarted = meanwhile([stored], restartAll);
  const refused = meanwhile([stored, restarted], ({ store }, { again }) =>
    again ? refuseOnce(launch, store, again) : undefined,
  );
  const odd = meanwhile([sticky], async (seen) =>
    isSpread(seen) ? visitOddPlaces(await startSticky(ODD_PLACES)) : undefined,
  );
  const only = meanwhile([sticky], async (seen) =>
    isSpread(seen) ? visitTheOnly(await startSticky(1)) : undefined,
  );

  hold('counts-exactly', [main, together], (program, seen) =>
    demandTogether(program, seen, 'the primary'),
  );
  const needs = ['counts-exactly'];
  hold('answers-matched', [matched], demandMatched, { needs });
  const withOld = (program, seen) =>
    demandExact(program, seen, 'The primary stands still and a worker dies');
  const withNew = (program, seen, told) =>
    demandExact(program, { ...seen, told }, 'A new worker has come in its place');
  holdInSteps(
    'death-exact',
    [
      [[main, death], withOld],
      [[main, death, toldAfter], withNew],
      [[repeats], (repeated) => demandRepeated(repeated, 'the primary')],
      [[aged], demandAged],
    ],
    { needs: [...needs, 'answers-matched'] },
  );
  hold(
    'owner-silent',
    [main, silence],
    (program, seen) => demandSilence(program, seen, 'the primary'),
    { needs: [...needs, 'answers-matched', 'death-exact'] },
  );
  hold('all-served', [sticky, odd, only], demandSpread);
  hold('sticky-keeps', [sticky], demandSticky);
  holdInSteps(
    'others-stay',
    [
      [[moved], demandOthersStay],
      [[reduced], demandLastStandsIn],
    ],
    { needs: ['sticky-keeps'] },
  );
  hold('redis-exact', [stored, restarted], demandStore);
  holdInSteps(
    'redis-away',
    [
      [[without], demandAway],
      [[away], demandRecovery],
      [[refused], demandGivenUp],
    ],
    { needs: ['redis-exact'] },
  );

  measure([main, restarted], (program, { again }) => measureCost(lesson, program, again));
});
