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
  measure,
  patient,
  reloadBadVersion,
  reloadByMessage,
  reloadSlowly,
  reloadUnderLoad,
  start,
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
  const { observe, meanwhile, hold } = lesson;
  const main = observe(() => start(lesson, patient));
  const [stops, others, told] = Array.from({ length: 3 }, () => createLane(meanwhile, main));
  const fresh = (options) => start(lesson, options);
  const terminated = stops(async () => stopAtWork(await fresh(patient), 'SIGTERM'));
  const interrupted = stops(async () => stopAtWork(await fresh(patient), 'Ctrl-C'));
  const withClients = stops(async () => stopWithClients(await fresh(patient)));
  const held = others(async () => holdForever(await fresh(impatient)));
  const slowly = others(async () => reloadSlowly(await fresh({ ...patient, workers: 1 })));
  const byMessage = told(async () =>
    reloadByMessage(await fresh({ ...patient, hasChannel: true })),
  );
  const underLoad = observe(async () => reloadUnderLoad(await main));
  const badVersion = observe(
    async () => (await underLoad).isRenewed && reloadBadVersion(await main),
  );

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

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson);
});
