import { check } from '../lib/checking.js';
import {
  demandBadStops,
  demandByMessage,
  demandCapacity,
  demandClientsLetGo,
  demandLimit,
  demandNoneLost,
  demandPrimaryApart,
  demandReload,
  demandStops,
} from './demands/08-graceful-reload.js';
import {
  createLane,
  holdForever,
  impatient,
  lookAt,
  patient,
  reloadBadVersion,
  reloadByMessage,
  reloadSlowly,
  reloadUnderLoad,
  reloadWays,
  reportWays,
  start,
  startWays,
  stopAtWork,
  stopWithClients,
} from './looks/08-graceful-reload.js';

const promises = {
  'primary-apart': 'the primary loads none of the application, the workers do',
  'drained-on-stop':
    'SIGTERM and Ctrl-C: what is under way is answered, then it ends with exit code 0',
  'clients-let-go': 'meanwhile clients hear "Connection: close", and none holds the server',
  'reload-renews': 'SIGHUP: a new process with the new app.js in the place of each worker',
  'none-lost': 'a reload under 100 requests/s, half of them on kept connections, fails none',
  'capacity-kept': 'meanwhile never fewer workers listen than before, and in the end as many',
  'limit-honoured':
    'a response that never ends is cut after DRAIN_LIMIT_MS, and the reload goes on',
  'bad-version-stops': 'a version that cannot start stops the reload, and the old one serves on',
  'by-message': "the message 'reload' does the same as SIGHUP",
};

check('08-graceful-reload', promises, async (lesson) => {
  const { observe, meanwhile, hold, isQuick } = lesson;
  const main = observe(() => start(lesson, patient));
  const [stops, limits, boots, told] = Array.from({ length: 4 }, () => createLane(meanwhile, main));
  const fresh = (options, look) => () => lookAt(lesson, options, look);
  const terminated = stops(fresh(patient, (server) => stopAtWork(server, 'SIGTERM')));
  const interrupted = stops(fresh(patient, (server) => stopAtWork(server, 'Ctrl-C')));
  const withClients = stops(fresh(patient, stopWithClients));
  const held = limits(fresh(impatient, holdForever));
  const slowly = boots(fresh({ ...patient, workers: 1 }, reloadSlowly));
  const byMessage = told(fresh({ ...patient, hasChannel: true }, reloadByMessage));
  const underLoad = observe(async () => reloadUnderLoad(await main));
  const badVersion = observe(
    async () => (await underLoad).isRenewed && reloadBadVersion(await main),
  );
  const ways = meanwhile(async () => !isQuick && (await underLoad).isRenewed && startWays(lesson));
  const measured = meanwhile(async () => {
    await Promise.all([ways, withClients, held, slowly, byMessage]); // only the bad version, which mostly waits, is left
    const programs = await ways;
    return programs && lesson.allHold() && reloadWays(programs);
  });

  await hold('primary-apart', async () => demandPrimaryApart(await main));
  await hold('drained-on-stop', async () => demandStops([await terminated, await interrupted]));
  const drains = { needs: ['drained-on-stop'] };
  await hold('clients-let-go', async () => demandClientsLetGo(await withClients), drains);
  const letsGo = { needs: ['clients-let-go'] };
  await hold('reload-renews', async () => demandReload(await underLoad), letsGo);
  const needs = ['reload-renews'];
  await hold('none-lost', async () => demandNoneLost(await underLoad), { needs });
  const rolls = async () => [await underLoad, await slowly, await byMessage];
  await hold('capacity-kept', async () => demandCapacity(await rolls()), { needs });
  await hold('limit-honoured', async () => demandLimit(await held), { needs });
  await hold('bad-version-stops', async () => demandBadStops(await badVersion), { needs });
  await hold('by-message', async () => demandByMessage(await byMessage), { needs });

  if (lesson.allHold() && !isQuick) reportWays(lesson, await measured);
});
