import { setTimeout as sleep } from 'node:timers/promises';
import { Undecided, eventsOf, exitsOf, forksOf, nowMs } from '../../lib/check/checking.js';

const solution = 'solutions/08-graceful-reload/server.js';
const ways = 'lessons/08-graceful-reload/ways.js';
const WORKERS = 3;
const QUICK_EVERY_MS = 50;
const SLOW_EVERY_MS = 250;
const TIMEOUT_MS = 2_000;
const DEADLINE_MS = 8_000;
const CALM_MS = 400; // before the order
const AFTERMATH_MS = 500;
const isFine = ({ status, error }) => status === 200 && !error;

/** A reload as it should not be, and ours, with the same requests. */
export default [
  {
    name: 'roll-by-kill',
    title: 'Renewed one by one, by SIGTERM',
    mayFail: true,
    perform: (stage) => roll(stage, ways, ['one-by-one']),
  },
  {
    name: 'roll',
    title: 'Renewed one by one, by our solution',
    mayFail: true,
    perform: (stage) => roll(stage, solution),
  },
];

async function roll(stage, file, args) {
  const { launch, say, begin, measured, signal } = stage;
  say(`A cluster of ${WORKERS} starts.`);
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const program = await launch(file, { as: 'primary', env, args });
  await program.ready(WORKERS);
  begin();
  say('20 quick requests a second, and 4 slow ones, which take 0.4 s.');
  const traffic = startTraffic(program, stage);
  await sleep(CALM_MS);
  const orderMs = nowMs();
  program.kill(program.pid, 'SIGHUP');
  say('SIGHUP: the first new worker is forked.');
  for (let count = 1; count <= WORKERS && !signal.aborted; count += 1) {
    const exit = await program.until((events) => exitsOf(events)[count - 1], DEADLINE_MS);
    if (!exit) throw new Error(signal.aborted ? 'It was stopped.' : 'It did not go on.');
    say(`${count} of ${WORKERS} old workers ${count === 1 ? 'has' : 'have'} left.`);
  }
  const all = 2 * WORKERS;
  const listening = () => eventsOf(program.events, 'worker-listening');
  if (!(await program.until(() => listening().length === all, DEADLINE_MS)))
    throw new Undecided({
      got: `Not all of the new workers listen after ${DEADLINE_MS / 1_000} s: this machine is too busy.`,
      why: 'How long a reload takes is not known before its end.',
      try: 'run it again, or play the recording',
    });
  const value = (Math.max(...listening().map(({ t }) => t)) - orderMs) / 1_000;
  measured({ name: 'reload', label: `From SIGHUP until all ${WORKERS} are new`, value, unit: 's' });
  await sleep(AFTERMATH_MS);
  const answers = await traffic.stop();
  const fine = answers.filter(isFine).length;
  const forks = forksOf(program.events).length - WORKERS;
  say(
    `Answered: ${fine} of ${answers.length}. Failed: ${answers.length - fine}. New workers: ${forks}.`,
  );
}

/** Quick requests and slow ones, on schedule. */
function startTraffic({ url }, { ask, signal }) {
  let isOn = true;
  const follow = async (path, everyMs) => {
    const asked = [];
    const since = performance.now();
    while (isOn && !signal.aborted) {
      asked.push(ask(url + path, { timeoutMs: TIMEOUT_MS }));
      await sleep(Math.max(0, since + asked.length * everyMs - performance.now()));
    }
    return Promise.all(asked);
  };
  const all = Promise.all([follow('/', QUICK_EVERY_MS), follow('/slow', SLOW_EVERY_MS)]);
  return {
    async stop() {
      isOn = false;
      return (await all).flat();
    },
  };
}
