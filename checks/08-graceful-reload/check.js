import { check } from '../../lib/check/checking.js';
import {
  demandAllDrain,
  demandBadVersionStops,
  demandCapacity,
  demandClientsLetGo,
  demandLimit,
  demandNoneLost,
  demandNothingCut,
  demandOneDrains,
  demandPrimaryApart,
  demandReload,
} from './demands.js';
import {
  LIMIT_MS,
  LOAD_PER_SECOND,
  MEASURED_WORKERS,
  stopDuringEndlessResponse,
  reloadBadVersion,
  reloadUnderLoad,
  reloadWays,
  start,
  stopAll,
  stopOne,
  stopWithClients,
} from './looks.js';

const tasks = {
  1: {
    'drained-on-stop':
      'SIGTERM to one worker or to all, and Ctrl-C: requests in flight are answered, the exit code is 0',
    'clients-let-go':
      'clients that ask a draining worker get "Connection: close", and no idle client holds it up',
    'limit-honoured': 'a worker exits at DRAIN_LIMIT_MS, whatever is open, and not before',
  },
  2: {
    'reload-renews': "SIGHUP: a new process with the new app.js in each worker's place",
    'primary-apart': 'the primary never loads the application, not even in a reload',
    'capacity-kept':
      'in a reload no fewer workers listen than before, and at most one more is running',
    'none-lost': 'a reload under 100 requests/s, half of them on kept connections, loses none',
    'bad-version-stops':
      'a version that does not start stops the reload: the old workers stay, and the next SIGHUP works',
  },
};

export default check('08-graceful-reload', tasks, (lesson) => {
  const main = lesson.observe([], () => start(lesson));
  /** A look at a separate program. */
  const apart = (look, options) =>
    lesson.observeInParallel([main], async () => look(await start(lesson, options)), {
      isSlow: true,
    });
  holdDraining(lesson, main, apart);
  const underLoad = apart(reloadUnderLoad);
  holdReload(lesson, underLoad);
  measureReload(lesson, underLoad);
});

/** Task 1: a worker finishes its work before it exits. */
function holdDraining({ observe, observeInParallel, hold, holdInSteps }, main, apart) {
  const one = observe([main], stopOne);
  const all = observeInParallel([main, one], stopAll);
  const withClients = apart(stopWithClients);
  const held = apart(stopDuringEndlessResponse, { workers: 1, limitMs: LIMIT_MS });
  holdInSteps('drained-on-stop', [
    [[one], demandOneDrains],
    [[all], demandAllDrain],
    [[withClients], demandNothingCut],
  ]);
  const drains = { needs: ['drained-on-stop'] };
  hold('clients-let-go', [withClients], demandClientsLetGo, drains);
  hold('limit-honoured', [held], demandLimit, drains);
}

/** Task 2: SIGHUP brings a new version, one worker after the other. */
function holdReload({ observeInParallel, hold, holdInSteps }, underLoad) {
  const badVersion = observeInParallel([underLoad], reloadBadVersion);
  hold('reload-renews', [underLoad], demandReload, { needs: ['clients-let-go'] });
  const reloads = { needs: ['reload-renews'] };
  const apart = [
    [[underLoad], demandPrimaryApart],
    [[badVersion], demandPrimaryApart],
  ];
  holdInSteps('primary-apart', apart, reloads);
  hold('capacity-kept', [underLoad], demandCapacity, reloads); // it may be why some are lost
  hold('none-lost', [underLoad], demandNoneLost, reloads);
  hold('bad-version-stops', [badVersion], demandBadVersionStops, {
    needs: ['primary-apart', 'none-lost', 'capacity-kept'],
  });
}

function measureReload(lesson, underLoad) {
  const { observe, measure, measured, isLonger } = lesson;
  measure([underLoad], ({ seconds, old }) =>
    measured('reload', {
      label: `from SIGHUP until the last of the ${old.length} old workers has exited, yours`,
      unit: 's',
      value: seconds,
      isHeadline: true,
    }),
  );
  if (!isLonger) return;
  const ways = observe([underLoad], () => reloadWays(lesson));
  measure([ways], (rows) => drawWays(lesson, rows));
}

function drawWays({ drawn }, rows) {
  drawn('failed', {
    label: `failed in a reload of ${MEASURED_WORKERS} workers under ${LOAD_PER_SECOND} requests/s`,
    unit: 'requests',
    rows: rows.map(({ name, lost }) => ({ name, value: lost.length })),
    note: `asked again by clients whose idle connection was closed: ${rows.map(({ repeated }) => repeated).join(', ')}`,
  });
  drawn('seconds', {
    label: `how long the reload of ${MEASURED_WORKERS} workers took`,
    unit: 's',
    rows: rows.map(({ name, seconds }) => ({ name, value: Math.round(seconds * 100) / 100 })),
  });
}
