import { check } from '../lib/checking.js';
import {
  demandBadStops,
  demandByMessage,
  demandCapacity,
  demandLimit,
  demandNoneLost,
  demandPrimaryApart,
  demandReload,
} from './demands/08-graceful-reload.js';
import {
  demandClientsLetGo,
  demandOneStops,
  demandStops,
} from './demands/08-graceful-reload.stop.js';
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
  start,
} from './looks/08-graceful-reload.js';
import { breakIn } from './looks/08-graceful-reload.break.js';
import { stopAtWork, stopOneThenAll, stopWithClients } from './looks/08-graceful-reload.stop.js';
import { reloadWays, reportWays, startWays } from './looks/08-graceful-reload.ways.js';

const promises = {
  'primary-apart': 'the primary loads none of the application, the workers do',
  'drained-on-stop':
    'SIGTERM (also to one worker), Ctrl-C: what is under way is answered, the exit code is 0',
  'clients-let-go':
    'meanwhile whoever asks hears "Connection: close", and no client holds the server',
  'reload-renews': 'SIGHUP: a new process with the new app.js in the place of each worker',
  'none-lost': 'a reload under 100 requests/s, half of them on kept connections, fails none',
  'capacity-kept':
    'meanwhile never fewer workers listen than before, at most one more runs, then as many',
  'limit-honoured':
    'neither an endless response nor a blocked or dead worker holds it beyond DRAIN_LIMIT_MS',
  'bad-version-stops':
    'a bad version stops a reload, and the old one serves on; SIGTERM stops it and all workers',
  'by-message': "the message 'reload' does the same as SIGHUP",
};

check('08-graceful-reload', promises, async (lesson) => {
  const { observe, meanwhile, hold, isQuick } = lesson;
  const main = observe(() => start(lesson, patient));
  const lane = () => createLane(meanwhile, main);
  const [stops, limits, others, breaks, told] = Array.from({ length: 5 }, lane);
  const fresh = (options, look) => () => lookAt(lesson, options, look);
  const terminated = stops(fresh(patient, (server) => stopAtWork(server, 'SIGTERM')));
  const interrupted = stops(fresh(patient, stopOneThenAll));
  const held = limits(fresh(impatient, holdForever));
  const slowly = others(fresh({ ...patient, workers: 1 }, reloadSlowly));
  const withClients = others(fresh(patient, stopWithClients));
  const broken = breaks(fresh(patient, breakIn));
  const byMessage = told(fresh({ ...patient, hasChannel: true }, reloadByMessage));
  const underLoad = observe(async () => reloadUnderLoad(await main));
  const badVersion = observe(
    async () => (await underLoad).isRenewed && reloadBadVersion(await main),
  );
  const ways = meanwhile(async () => !isQuick && (await underLoad).isRenewed && startWays(lesson));
  const measured = meanwhile(async () => {
    await Promise.all([ways, withClients, held, slowly, broken, byMessage]); // only the bad version, which mostly waits, is left
    const programs = await ways;
    return programs && lesson.allHold() && reloadWays(programs);
  });

  await hold('primary-apart', async () => demandPrimaryApart(await main));
  await hold('drained-on-stop', async () => {
    demandStops(await terminated);
    demandOneStops((await interrupted).one);
    demandStops(await interrupted);
  });
  const drains = { needs: ['drained-on-stop'] };
  await hold('clients-let-go', async () => demandClientsLetGo(await withClients), drains);
  const letsGo = { needs: ['clients-let-go'] };
  await hold('reload-renews', async () => demandReload(await underLoad), letsGo);
  const needs = ['reload-renews'];
  await hold('none-lost', async () => demandNoneLost(await underLoad), { needs });
  const rolls = async () => [await underLoad, await slowly, await byMessage];
  await hold('capacity-kept', async () => demandCapacity(await rolls()), { needs });
  await hold('limit-honoured', async () => demandLimit(await held, await broken), { needs });
  await hold('bad-version-stops', async () => demandBadStops(await badVersion, await broken), {
    needs,
  });
  await hold('by-message', async () => demandByMessage(await byMessage), { needs });

  if (lesson.allHold() && !isQuick) reportWays(lesson, await measured);
});
