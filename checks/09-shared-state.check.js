import { check } from '../lib/checking.js';
import {
  demandExact,
  demandMatched,
  demandOthersStay,
  demandRecovery,
  demandSilence,
  demandSpread,
  demandSticky,
  demandStore,
  demandTogether,
} from './demands/09-shared-state.js';
import {
  WORKERS,
  askForMany,
  countTogether,
  dieUnderLoad,
  dieWithAnswers,
  keepSilent,
  primaryOf,
} from './looks/09-shared-state.js';
import { PLACES, visitAfterDeath, visitInTurn } from './looks/09-shared-state.sticky.js';
import {
  countInStore,
  loseStore,
  measureCost,
  restartAll,
  startSides,
} from './looks/09-shared-state.store.js';

const promises = {
  'counts-exactly':
    'the primary owns the counts: every increment counts, and all workers tell the same',
  'answers-matched': 'many questions at once: each is given its own answer',
  'death-exact':
    'a worker dies with questions under way; when its clients have asked again, the count is exact',
  'owner-silent':
    'while the primary is silent a client gets a 503, and its late answer is for nobody',
  'all-served': 'sticky: every client is served, and every worker has clients',
  'sticky-keeps': 'sticky: each client meets the same worker at each visit',
  'others-stay':
    'sticky: when a worker dies its clients are served, and all others stay where they are',
  'redis-exact':
    'in Redis the count is exact, through the death of a worker and a restart of the cluster',
  'redis-away':
    'while Redis is silent or away clients get a 503; nothing ends, and it recovers by itself',
};

const TIMES = 240; // increments
const START_MS = 30_000; // many programs start here, and the machine may be busy

check('09-shared-state', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold, isQuick } = lesson;
  const start = async (state, workers, { listeners = workers, env = {}, ...options } = {}) => {
    const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
    const program = await launch({ args: ['--state', state], env: all, ...options });
    await program.ready(listeners, START_MS);
    return ready(program, listeners);
  };
  const main = observe(() => start('primary', WORKERS));
  const together = observe(async () =>
    demandTogether(await main, await countTogether(await main, 'pears', TIMES), 'the primary'),
  );
  const matched = observe(async () => askForMany(await main, primaryOf(await main)));
  const death = observe(async () => dieWithAnswers(await main, primaryOf(await main), 'figs'));
  const load = observe(async () => dieUnderLoad(await main, 'plums', TIMES));
  const silence = observe(async () => keepSilent(await main, primaryOf(await main)));
  const sticky = meanwhile(
    async () => (await main) && visitInTurn(await start('sticky', PLACES, { listeners: 1 })),
  );
  const moved = meanwhile(async () => {
    demandSticky(await sticky);
    return visitAfterDeath(await sticky);
  });
  const stored = meanwhile(async () => {
    const seen = (await main) && (await countInStore(launch, start, TIMES));
    demandTogether(seen.program, seen.together, 'Redis');
    return seen;
  });
  const restarted = meanwhile(async () => restartAll(await stored));
  const away = meanwhile(async () => (await main) && loseStore(launch, start));
  const sides = meanwhile(async () => !isQuick && (await load) && startSides(launch, start));

  await hold('counts-exactly', async () => together);
  const needs = ['counts-exactly'];
  await hold('answers-matched', async () => demandMatched(await matched), { needs });
  await hold(
    'death-exact',
    async () => {
      demandExact(await main, await death, 'The primary stands still and a worker dies');
      demandExact(await main, await load, 'In the middle of the load');
    },
    { needs },
  );
  await hold('owner-silent', async () => demandSilence(await main, await silence, 'the primary'), {
    needs: [...needs, 'answers-matched', 'death-exact'],
  });
  await hold('all-served', async () => demandSpread(await sticky));
  await hold('sticky-keeps', async () => demandSticky(await sticky));
  await hold('others-stay', async () => demandOthersStay(await moved), { needs: ['sticky-keeps'] });
  await hold('redis-exact', async () => demandStore(await restarted));
  await hold('redis-away', async () => demandRecovery(await away), { needs: ['redis-exact'] });

  if (lesson.allHold() && !isQuick) await measureCost(lesson, await sides);
});
