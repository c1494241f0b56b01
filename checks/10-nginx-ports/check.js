import { cpus } from 'node:os';
import { check, demandTool } from '../../lib/check/checking.js';
import {
  demandAnotherAnswers,
  demandCleanStop,
  demandClientKnown,
  demandEveryBackend,
  demandMachines,
  demandMachinesStop,
  demandOwnPorts,
  demandStartFailure,
  demandReturn,
  demandValid,
} from './demands.js';
import {
  askEveryBackend,
  askClientAddress,
  failToStart,
  killMachine,
  measureWays,
  startBehindNginx,
  openMachines,
  stopInFlight,
  stopMachines,
} from './looks.js';

const tasks = {
  2: {
    'own-ports': 'each server is a process with its own port, which only this computer can reach',
    'conf-valid': 'nginx accepts the configuration and starts',
    'one-front-door': "every server answers through nginx's one port, from the first moment",
    'client-known': "a server knows its client's address, whatever the client claims",
    'stops-clean': 'SIGTERM and Ctrl-C: what is in flight is answered, then nothing is left',
    'says-why-not': 'when nginx cannot start: a message, exit code 1, and nothing is left',
  },
  3: {
    'machines-serve': 'with --machines two clusters on two addresses answer behind one nginx',
    'death-routed-around': 'a machine dies, and no request fails; it comes back, and is used',
  },
};

/** Not the number of cores, which is also the default number of servers. */
const PORTS = cpus().length === 4 ? 3 : 4;

export default check('10-nginx-ports', tasks, (lesson) => {
  const { launch, observe, observeInParallel, measure } = lesson;
  const nginx = observeInParallel([], () => demandTool('nginx'));
  const many = observe([nginx], (bin) => startBehindNginx(launch, { count: PORTS, nginx: bin }));
  holdPorts(lesson, nginx, many);
  const machinesStopped = holdMachines(lesson, nginx, many);
  measure([many, machinesStopped], (door) => measureWays(lesson, door));
});

/** Task 2: servers with a port each, behind one nginx. */
function holdPorts({ launch, observe, observeInParallel, hold, holdInSteps }, nginx, many) {
  const asked = observe([many], askEveryBackend);
  const told = observe([many], askClientAddress);
  hold('own-ports', [many], demandOwnPorts);
  hold('conf-valid', [many], demandValid);
  hold('one-front-door', [many, asked], demandEveryBackend, { needs: ['conf-valid'] });
  const needs = ['one-front-door'];
  hold('client-known', [many, told], demandClientKnown, { needs });

  const stop = (how) => async (bin) =>
    stopInFlight(await startBehindNginx(launch, { count: 1, nginx: bin }), how);
  const stops = ['SIGTERM', 'Ctrl-C'].map((how) => observeInParallel([nginx, asked], stop(how)));
  const steps = stops.map((stopped) => [[stopped], demandCleanStop]);
  holdInSteps('stops-clean', steps, { needs });
  const failures = [
    observeInParallel([asked], () => failToStart(launch, { NGINX_BIN: '/nowhere/nginx' })),
    observeInParallel([nginx, asked], (bin) =>
      failToStart(launch, { NGINX_BIN: bin, PORT: '99999' }),
    ),
  ];
  const reasons = failures.map((failed) => [[failed], demandStartFailure]);
  holdInSteps('says-why-not', reasons, { needs: ['conf-valid'] });
}

/** Task 3: two machines, each a cluster, behind one nginx. */
function holdMachines({ launch, observeInParallel, hold, holdInSteps }, nginx, many) {
  const machines = observeInParallel([nginx, many], (bin) => openMachines(launch, bin), {
    isSlow: true,
  });
  const death = observeInParallel([machines], killMachine, { isSlow: true });
  const stopped = observeInParallel([machines, death], stopMachines);
  hold('machines-serve', [machines, death], demandMachines, { needs: ['one-front-door'] });
  const routedAround = [
    [[death], demandAnotherAnswers],
    [[death], demandReturn],
    [[stopped], demandMachinesStop],
  ];
  holdInSteps('death-routed-around', routedAround, { needs: ['machines-serve'] });
  return stopped;
}
