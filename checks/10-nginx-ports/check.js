import { cpus } from 'node:os';
import { check, demandTool } from '../../lib/check/checking.js';
import { demandCleanStop, demandReasons } from './demands/ends.js';
import {
  demandClientKnown,
  demandContained,
  demandEveryBackend,
  demandOwnPorts,
  demandValid,
} from './demands/nginx.js';
import {
  demandDeaths,
  demandEndWithoutOne,
  demandMachines,
  demandNoneAgain,
} from './demands/machines.js';
import { lookAtFiles } from './looks/files.js';
import {
  SOONER,
  askEveryBackend,
  askWhoIsThere,
  openDoor,
  failToStart,
  startTwice,
  stopAtWork,
} from './looks/nginx.js';
import {
  failWithMachines,
  killAgainAndAgain,
  openMachines,
  stopWhileGone,
  stopWithoutBoth,
} from './looks/machines.js';
import { measureWays } from './looks/measure.js';

const promises = {
  'own-ports': 'each server is a process with its own port, which only this machine can reach',
  'conf-valid':
    'nginx accepts the configuration and starts, even in a folder with a space in its name',
  contained: 'nginx needs no privileges: what it writes goes to a temporary folder',
  'one-front-door': "every server answers through nginx's one port, from the first moment",
  'client-known': "a server knows its client's address, whatever the client claims",
  'stops-clean': 'SIGTERM and Ctrl-C: what is under way is answered, then nothing is left',
  'says-why-not':
    'when nginx cannot start, it says why, leaves nothing, takes nothing from others, and ends with exit code 1',
  'machines-serve': 'with --machines two clusters on two addresses answer behind one nginx',
  'death-routed-around':
    'a machine dies, and no request fails; it comes back each time, and is used, until told to stop',
};

/** Not the number of cores, which is also the default number of servers. */
const PORTS = cpus().length === 4 ? 3 : 4;

check('10-nginx-ports', promises, (lesson) => {
  const { launch, observe, meanwhile, hold, holdInSteps, measure } = lesson;
  const nginx = meanwhile([], () => demandTool('nginx'));
  const open = (count, pretendTimers) => (bin) =>
    openDoor(launch, { count, nginx: bin, pretendTimers });
  const stop = (how, timers) => async (bin) => stopAtWork(await open(1, timers)(bin), how);

  const many = observe([nginx], open(PORTS));
  const files = observe([many, nginx], lookAtFiles);
  const asked = observe([many], askEveryBackend);
  const told = observe([many], askWhoIsThere);
  const deaths = meanwhile([nginx, asked], (bin) => killAgainAndAgain(launch, bin), {
    isSlow: true,
  });
  const stoppedWhileGone = meanwhile([nginx, asked], (bin) => stopWhileGone(launch, bin), {
    isSlow: true,
  });
  const stoppedWithoutBoth = meanwhile([nginx, asked], (bin) => stopWithoutBoth(launch, bin), {
    isSlow: true,
  });
  const machines = meanwhile([nginx, asked], (bin) => openMachines(launch, bin));
  const terminated = meanwhile([nginx, asked], stop('SIGTERM', SOONER));
  const interrupted = meanwhile([nginx, asked], stop('Ctrl-C'));
  const failedStarts = meanwhile([nginx, asked], (bin) => failToStart(launch, bin));
  const failedMachines = meanwhile([asked], () => failWithMachines(launch));
  const blocked = meanwhile(
    [nginx, failedStarts, many],
    (bin, ends, door) => {
      demandReasons(ends); // nginx takes 2.5 s to say that the port is taken
      return startTwice(launch, bin, door);
    },
    { isSlow: true },
  );

  hold('own-ports', [many], demandOwnPorts);
  hold('conf-valid', [many], demandValid);
  hold('contained', [many, files], demandContained, { needs: ['conf-valid'] });
  hold('one-front-door', [many, asked], demandEveryBackend, { needs: ['contained'] });
  const needs = ['one-front-door'];
  hold('client-known', [told, many], demandClientKnown, { needs });
  holdInSteps(
    'stops-clean',
    [terminated, interrupted].map((stopped) => [[stopped], demandCleanStop]),
    { needs },
  );
  hold('says-why-not', [blocked], (end) => demandReasons([end]), { needs: ['contained'] });
  hold('machines-serve', [machines], demandMachines, { needs });
  holdInSteps(
    'death-routed-around',
    [
      [[deaths], demandDeaths],
      [[deaths, stoppedWhileGone, terminated], demandEndWithoutOne],
      [[deaths, interrupted], (seen, stop) => demandEndWithoutOne(seen, seen?.ended, stop)],
      [[deaths, stoppedWithoutBoth, terminated], demandEndWithoutOne],
      [[failedMachines], demandNoneAgain],
    ],
    { needs: ['machines-serve'] },
  );

  measure([many, machines], (door, pair) => measureWays(lesson, door, pair));
});
