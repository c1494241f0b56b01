import { check } from '../../lib/check/checking.js';
import {
  demandBadVersionStops,
  demandKilledIsBad,
  demandNoneAfterStop,
  demandSlowAwaited,
  demandStopInReload,
  demandStopWhileBooting,
} from './demands/bad.js';
import {
  demandAllLeave,
  demandDeadLeftOut,
  demandLimit,
  demandNotHurried,
  demandUncut,
  demandUncutInReload,
} from './demands/limit.js';
import {
  demandByMessage,
  demandCapacity,
  demandNoneLost,
  demandPrimaryApart,
  demandReload,
} from './demands/reload.js';
import { demandAllStops, demandClientsLetGo, isInOrder } from './demands/stop.js';
import {
  WORKERS,
  hasty,
  impatient,
  lookAt,
  patient,
  reloadByMessage,
  reloadUnderLoad,
  start,
  startFirst,
  unready,
} from './looks/reload.js';
import { reloadBadVersion } from './looks/bad.js';
import { breakIn } from './looks/break.js';
import { holdForever, holdLong } from './looks/limit.js';
import { reloadSlowVersion } from './looks/slow.js';
import { stopAtStart, stopAtWork, stopOneThenAll, stopWithClients } from './looks/stop.js';
import { reloadWays, reportReload, reportWays, startWays } from './looks/ways.js';

const promises = {
  'drained-on-stop':
    'SIGTERM (also to one worker), Ctrl-C: what is under way is answered, the exit code is 0',
  'clients-let-go':
    'on stop, clients that ask get "Connection: close", and no client holds up the server or stays in its memory',
  'reload-renews': "SIGHUP, each time: a new process with the new app.js in each worker's place",
  'primary-apart':
    'the primary never loads any of the application, not even in a reload; the workers do',
  'none-lost': 'a reload under 100 requests/s, half of them on kept connections, loses none',
  'capacity-kept':
    'in a reload no fewer workers listen than before, at most one more runs, then as many as before',
  'limit-honoured':
    'DRAIN_LIMIT_MS: until then nothing is cut; after it no response and no worker holds up any other',
  'bad-version-stops':
    'a bad version, not a slow one, stops a reload, which says so; the old one serves on; SIGTERM stops all',
  'by-message': "the message 'reload' does the same as SIGHUP, and no other does",
};

check('08-graceful-reload', promises, (lesson) => {
  const { observe, meanwhile, hold, holdInSteps, measure, isLonger } = lesson;
  const main = observe([], () => startFirst(lesson));
  const terminated = observe([main], (server) => stopAtWork(server, 'SIGTERM'));
  const another = meanwhile([main], () => start(lesson, patient));
  const interrupted = meanwhile([another, terminated], (server, stop) =>
    isInOrder(stop) ? stopOneThenAll(server) : undefined,
  );
  /** A look at a program of its own. */
  const apart = (options, look, isSlow = true) =>
    meanwhile([main], () => lookAt(lesson, options, look), { isSlow });
  const withClients = apart(patient, stopWithClients, false);
  const underLoad = apart(patient, reloadUnderLoad);
  const held = apart(impatient, holdForever);
  const long = apart(hasty, holdLong);
  const broken = apart({ ...patient, workers: WORKERS + 1 }, breakIn);
  const badVersion = apart(patient, reloadBadVersion);
  const slowVersion = apart(hasty, reloadSlowVersion);
  const atStart = apart(unready, stopAtStart);
  const byMessage = apart({ ...patient, workers: 1, hasChannel: true }, reloadByMessage);

  hold('drained-on-stop', [terminated, interrupted], demandAllStops);
  const drains = { needs: ['drained-on-stop'] };
  hold('clients-let-go', [withClients], demandClientsLetGo, drains);
  hold('reload-renews', [underLoad], demandReload, { needs: ['clients-let-go'] });
  const needs = ['reload-renews'];
  hold('primary-apart', [main, underLoad, badVersion], demandPrimaryApart, { needs });
  hold('none-lost', [underLoad], demandNoneLost, { needs });
  hold('capacity-kept', [underLoad, byMessage, broken, slowVersion], demandCapacity, { needs });
  holdInSteps(
    'limit-honoured',
    [
      [[long], demandUncut],
      [[slowVersion], demandUncutInReload],
      [[long], demandNotHurried],
      [[long], demandAllLeave],
      [[held], demandLimit],
      [[broken], demandDeadLeftOut],
    ],
    { needs: ['capacity-kept'] },
  );
  // one that imports a bad version does not fork it; and a reload that goes wrong is no place to stop in
  const isApart = { needs: ['primary-apart', 'none-lost', 'capacity-kept'] };
  holdInSteps(
    'bad-version-stops',
    [
      [[badVersion], demandBadVersionStops],
      [[badVersion], demandKilledIsBad],
      [[slowVersion], demandSlowAwaited],
      [[byMessage], (stop) => demandStopWhileBooting(stop, 'a new worker')],
      [[atStart], (stop) => demandStopWhileBooting(stop, 'the very first worker')],
      [[long], demandNoneAfterStop],
      [[broken], demandStopInReload],
    ],
    isApart,
  );
  hold('by-message', [byMessage], demandByMessage, { needs });

  measure([underLoad], (roll) => reportReload(lesson, roll));
  if (isLonger) {
    const ways = observe([underLoad, broken], async () => reloadWays(await startWays(lesson)));
    measure([ways], (rows) => reportWays(lesson, rows));
  }
});
