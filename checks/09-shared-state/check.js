import { check } from '../../lib/check/checking.js';
import {
  demandAway,
  demandExact,
  demandMatched,
  demandOthersStay,
  demandOwnCounts,
  demandRepeated,
  demandSilence,
  demandStarted,
  demandSticky,
  demandTogether,
  rethrowWithHint,
} from './demands.js';
import {
  PLACES,
  WORKERS,
  askWhileOwnerStopped,
  countTogether,
  loseStore,
  loseWorker,
  loseWorkerOfStore,
  measureCost,
  repeatIds,
  startStore,
  startWithoutStore,
  visitAfterDeath,
  visitInTurn,
} from './looks.js';

const tasks = {
  1: {
    'counts-exactly':
      'the primary owns the counts: every increment counts, and all workers report the same',
    'answers-matched': 'many questions at once: each gets its own answer',
    'death-exact': 'an id counts once, even when a worker dies with questions in flight',
    'owner-silent':
      'while the primary is silent a client gets a 503 after a second; the late answer goes nowhere',
  },
  2: {
    'sticky-keeps':
      'sticky: a client gets the same worker at each visit, and all workers have clients',
    'others-stay': 'sticky: when a worker dies, the clients of the others stay where they are',
  },
  3: {
    'redis-exact': 'in Redis an id counts once too, even when a worker dies',
    'redis-away':
      'while Redis is silent or down clients get a 503; nothing is done later; it recovers',
  },
};

const isSlow = true; // a question is given up after a second

export default check('09-shared-state', tasks, (lesson) => {
  const start = async (state, workers, { listeners = workers, env = {} } = {}) => {
    const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
    return lesson.ready(await lesson.launch({ args: ['--state', state], env: all }), listeners);
  };
  const counted = holdPrimary(lesson, start);
  holdSticky(lesson, start);
  const { stored, away } = holdRedis(lesson, start);
  lesson.measure([counted, stored, away], (program, { program: redis }) =>
    measureCost(lesson, program, redis),
  );
});

/** Task 1: the primary owns the counts. */
function holdPrimary({ observe, hold, holdInSteps }, start) {
  const main = observe([], () => start('primary', WORKERS));
  const together = observe([main], (program) => countTogether(program));
  const atOnce = observe([main, together], (program) => askWhileOwnerStopped(program, program));
  const again = observe([main, together], repeatIds);
  const loss = observe([main, atOnce, again], (program) => loseWorker(program, program), {
    isSlow,
  });
  holdInSteps('counts-exactly', [
    [[together], (seen) => demandTogether(seen, 'the primary')],
    [[together, atOnce], demandOwnCounts],
  ]);
  hold('answers-matched', [atOnce], demandMatched, { needs: ['counts-exactly'] });
  const needs = ['counts-exactly', 'answers-matched'];
  holdInSteps(
    'death-exact',
    [
      [[atOnce, again], (seen, repeated) => demandRepeated(seen, repeated, 'the primary')],
      [[loss], (seen) => demandExact(seen, 'the primary')],
    ],
    { needs },
  );
  hold('owner-silent', [loss], (seen) => demandSilence(seen, 'the primary'), {
    needs: [...needs, 'death-exact'],
  });
  return main;
}

/** Task 2: a client keeps its worker. */
function holdSticky({ observeInParallel, hold }, start) {
  const sticky = observeInParallel([], async () =>
    visitInTurn(await start('sticky', PLACES, { listeners: 1 }).catch(rethrowWithHint)),
  );
  const moved = observeInParallel([sticky], visitAfterDeath);
  hold('sticky-keeps', [sticky], demandSticky);
  hold('others-stay', [moved], demandOthersStay, { needs: ['sticky-keeps'] });
}

/** Task 3: Redis owns the counts. */
function holdRedis({ launch, observeInParallel, holdInSteps }, start) {
  const stored = observeInParallel([], () => startStore(launch, start), { isSlow });
  const together = observeInParallel([stored], ({ program }) => countTogether(program));
  const atOnce = observeInParallel([stored, together], ({ program, store }) =>
    askWhileOwnerStopped(program, store.program),
  );
  const again = observeInParallel([stored, together], ({ program }, seen) =>
    repeatIds(program, seen),
  );
  const loss = observeInParallel([stored, atOnce, again], loseWorkerOfStore, { isSlow });
  const away = observeInParallel([stored, loss], (seen) => loseStore(launch, seen));
  const without = observeInParallel([], () => startWithoutStore(launch), { isSlow });
  holdInSteps('redis-exact', [
    [[together], (seen) => demandTogether(seen, 'Redis')],
    [[together, atOnce], demandOwnCounts],
    [[atOnce, again], (seen, repeated) => demandRepeated(seen, repeated, 'Redis')],
    [[loss], (seen) => demandExact(seen, 'Redis')],
  ]);
  holdInSteps(
    'redis-away',
    [
      [[without], demandStarted],
      [[loss], (seen) => demandSilence(seen, 'Redis')],
      [[away], demandAway],
    ],
    { needs: ['redis-exact'] },
  );
  return { stored, away };
}
