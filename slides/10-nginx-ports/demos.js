import { setTimeout as sleep } from 'node:timers/promises';
import { Undecided, demandTool, eventsOf, get } from '../../lib/check/checking.js';

const PER_SECOND = 30; // so that the drawing shows each request apart from the next
const SECONDS = 5;
const CALM_MS = 800; // before the death
const MACHINE = '127.0.0.2';
const STARTS_WITHIN_MS = 5_000;

/** Two machines behind nginx: one of them dies, and the traffic continues. */
export default [
  {
    name: 'kill-a-machine',
    title: 'A machine is killed, and no client notices',
    needs: 'nginx',
    mayFail: true,
    async perform(stage) {
      const { launch, say, begin, signal } = stage;
      say('Two machines start, with two workers each, and nginx in front of them.');
      const program = await launch('solutions/10-nginx-ports/server.js', {
        as: 'server.js',
        hosts: { [MACHINE]: 'machine 1', '127.0.0.3': 'machine 2' },
        args: ['--machines'],
        temporary: 'temporary',
        env: { NODE_CLUSTER_WORKERS: '2', NGINX_BIN: demandTool('nginx') },
      });
      await opened(program);
      begin();
      say(`A steady ${PER_SECOND} requests a second, through one port.`);
      const traffic = startTraffic(`${program.url}/`, stage);
      await sleep(CALM_MS, undefined, { signal });
      const dead = listenersAt(program, MACHINE);
      for (const { pid } of dead) program.kill(pid, 'SIGKILL');
      say(`Machine ${MACHINE} is gone, all of it. Which one does nginx ask now?`);
      const isHeir = ({ pid }) => !dead.some((one) => one.pid === pid);
      const heir = () => listenersAt(program, MACHINE).find(isHeir);
      if (await program.until(heir)) say(`Machine ${MACHINE} has booted. When is it asked again?`);
      const answers = await traffic;
      const failed = answers.filter(({ status, error }) => status !== 200 || error).length;
      say(`Asked: ${answers.length}. Failed: ${failed}.`);
    },
  },
];

/** Waits until nginx answers. */
async function opened(program) {
  const isReached = program.cpuTime.limit(STARTS_WITHIN_MS);
  while ((await get(`${program.url}/pid`)).status !== 200) {
    if (isReached())
      throw new Undecided({
        got: 'No answer arrived through nginx.',
        why: 'nginx, or the two machines behind it, did not come up.',
        try: 'run it again, or play the recording',
      });
    await sleep(20);
  }
}

const listenersAt = ({ events }, wanted) =>
  eventsOf(events, 'listening').filter(({ address }) => address === wanted);

/** Asks on schedule, whatever the answers are. */
async function startTraffic(url, { ask, signal }) {
  const asked = [];
  const since = performance.now();
  while (!signal.aborted && asked.length < PER_SECOND * SECONDS) {
    asked.push(ask(url));
    await sleep(Math.max(0, since + (asked.length * 1_000) / PER_SECOND - performance.now()));
  }
  return Promise.all(asked);
}
