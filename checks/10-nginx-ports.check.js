import { check, demandTool } from '../lib/checking.js';
import { demandCleanStops, demandReasons } from './demands/10-nginx-ports.ends.js';
import {
  demandClientKnown,
  demandContained,
  demandEveryBackend,
  demandOwnPorts,
  demandValid,
} from './demands/10-nginx-ports.js';
import {
  demandDeathRoutedAround,
  demandMachines,
  demandTwoDeaths,
} from './demands/10-nginx-ports.machines.js';
import { lookAtFiles } from './looks/10-nginx-ports.files.js';
import {
  askEveryBackend,
  askWhoIsThere,
  openDoor,
  startInVain,
  stopAtWork,
} from './looks/10-nginx-ports.js';
import { killMachine, killTwice, openMachines } from './looks/10-nginx-ports.machines.js';
import { measure, startSides } from './looks/10-nginx-ports.measure.js';

const promises = {
  'own-ports': 'each server is a process with a port of its own, which only this machine can reach',
  'conf-valid':
    'nginx takes the configuration and starts, also in a folder with a blank in its name',
  contained: 'nginx needs no privilege: what it writes lies in a temporary folder',
  'one-front-door': 'through the one port of nginx every server answers, from the first moment on',
  'client-known': 'a server knows the address of its client, whatever the client claims',
  'stops-clean':
    'SIGTERM and Ctrl-C: what is under way is answered, then nothing and nobody is left',
  'says-why-not': 'when nginx cannot start, it says why, leaves nothing, and ends with exit code 1',
  'machines-serve': 'with --machines two clusters on two addresses answer behind one nginx',
  'death-routed-around':
    'a machine dies, and no request fails; it comes back each time, and is used, until all are to stop',
};
const FEW = 2;
const MANY = 3;

check('10-nginx-ports', promises, async (lesson) => {
  const { launch, observe, meanwhile, hold, isQuick } = lesson;
  const nginx = meanwhile(async () => demandTool('nginx'));
  const open = async (count) => openDoor(launch, { count, nginx: await nginx });

  const many = observe(() => open(MANY));
  const files = observe(async () => {
    demandValid(await many); // where there is no door nothing else is to be seen
    return lookAtFiles(await many, await nginx);
  });
  const machines = meanwhile(async () => (await files, openMachines(launch, await nginx)));
  const machinesFirst = Promise.allSettled([files, machines]); // whoever kills them waits longest
  const few = meanwhile(async () => (await machinesFirst, await files, open(FEW)));
  const vain = meanwhile(
    async () => (await machinesFirst, await files, startInVain(launch, await nginx)),
  );
  const killed = meanwhile(async () => killMachine(await machines));
  const twice = meanwhile(async () => (await files, killTwice(launch, await nginx)));
  const asked = observe(async () => askEveryBackend(await many));
  const told = observe(async () => askWhoIsThere(await many));
  const terminated = observe(async () => stopAtWork(await many, 'SIGTERM'));
  const interrupted = meanwhile(async () => stopAtWork(await few, 'Ctrl-C'));
  const ends = meanwhile(async () => [await terminated, await interrupted]);
  const sides = meanwhile(async () => !isQuick && (await ends) && startSides(launch, await nginx));

  await hold('own-ports', async () => demandOwnPorts(await many));
  await hold('conf-valid', async () => (await files, demandValid(await few)));
  let needs = ['conf-valid'];
  await hold('contained', async () => demandContained(await many, await files), { needs });
  needs = ['contained'];
  await hold('one-front-door', async () => demandEveryBackend(await many, await asked), { needs });
  needs = ['one-front-door'];
  await hold('client-known', async () => demandClientKnown(await told), { needs });
  await hold('stops-clean', async () => demandCleanStops(await ends), { needs });
  await hold('says-why-not', async () => demandReasons(await vain), { needs: ['contained'] });
  await hold('machines-serve', async () => demandMachines(await machines), { needs });
  needs = ['machines-serve'];
  await hold(
    'death-routed-around',
    async () => {
      demandDeathRoutedAround(await killed);
      demandTwoDeaths(await twice);
    },
    { needs },
  );

  if (lesson.allHold() && !isQuick) await measure(lesson, await sides);
});
