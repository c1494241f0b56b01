import { setTimeout as sleep } from 'node:timers/promises';
import { askAtOnce, eventsOf, exitsOf, forksOf } from '../../lib/check/checking.js';

const solution = 'solutions/05-crash-restart/server.js';
const starter = 'checks/05-crash-restart/starter/server.js';
const WORKERS = 4;
const PER_SECOND = 60;
const SPARSE_PER_SECOND = 30; // so that the drawing shows each request apart from the next
const TIMEOUT_MS = 1_000; // a connection on its way to a worker that dies may wait for nothing
const KILL_EVERY_MS = 400;
const CALM_MS = 400; // before a death
const AFTERMATH_MS = 700; // at least, after it: room to write what happened
const LOOK_EVERY_MS = 200;

const isFine = ({ status, error }) => status === 200 && !error;

/** A cluster without a restart, and ours when one worker is killed at its work. */
export default [
  {
    name: 'nobody-replaces',
    title: 'Four workers, four kills, and none is replaced',
    mayFail: true,
    async perform(stage) {
      const { launch, say, begin, drawn, signal } = stage;
      say('A cluster of four starts and warms up. It replaces no worker.');
      const program = await launchCluster(launch, starter);
      const report = ({ asked, answers }) => drawn(scoreOf(asked, answers));
      begin();
      say(`${PER_SECOND} requests a second for two seconds. Every 0.4 s one worker gets kill -9.`);
      const traffic = startTraffic(program, { ...stage, report, count: 2 * PER_SECOND });
      for (const [index, { workerPid }] of forksOf(program.events).entries()) {
        await sleep(KILL_EVERY_MS);
        if (signal.aborted) return;
        program.kill(workerPid, 'SIGKILL');
        say(`Worker ${index + 1} is killed. ${WORKERS - 1 - index} of ${WORKERS} are left.`);
      }
      const answers = await traffic.end;
      const fate = await program.ended(TIMEOUT_MS);
      const end = fate ? `exited with ${fate.signal ?? `code ${fate.code}`}` : 'still runs';
      const fine = answers.filter(isFine).length;
      say(
        `Answered: ${fine} of ${answers.length}. Failed: ${answers.length - fine}. The primary ${end}.`,
      );
    },
  },
  {
    name: 'kill-one',
    title: 'A worker is killed, and replaced',
    mayFail: true,
    async perform(stage) {
      const { launch, say, begin, measured, signal } = stage;
      say('Our cluster of four starts and warms up.');
      const program = await launchCluster(launch, solution);
      begin();
      say(`A steady ${SPARSE_PER_SECOND} requests a second, and all is well.`);
      const traffic = startTraffic(program, { ...stage, perSecond: SPARSE_PER_SECOND });
      await sleep(CALM_MS);
      const victim = await killAtWork(program);
      say(`Worker ${victim.worker} is at work, and gets kill -9. The other three keep serving.`);
      const death = await program.until((events) => exitsOf(events)[0]);
      const isHeir = ({ pid, t }) => t > death.t && pid !== program.pid;
      const birth = await program.until((events) => eventsOf(events, 'listening').find(isHeir));
      if (!birth) throw new Error(signal.aborted ? 'It was stopped.' : 'No worker replaced it.');
      const gapMs = birth.t - death.t;
      measured({
        name: 'gap',
        label: 'From its exit until another listens',
        value: gapMs,
        unit: 'ms',
      });
      say('The replacement listens: four again.');
      await sleep(Math.max(AFTERMATH_MS, gapMs / 2));
      traffic.stop();
      const answers = await traffic.end;
      const fine = answers.filter(isFine);
      const meanwhile = fine.filter(({ doneMs }) => doneMs > death.t && doneMs < birth.t).length;
      say(
        `Answered: ${fine.length} of ${answers.length}. Failed: ${answers.length - fine.length}. ` +
          `The gap: ${Math.round(gapMs)} ms, in which the other three answered ${meanwhile}.`,
      );
    },
  },
];

async function launchCluster(launch, file) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const program = await launch(file, { as: 'primary', env });
  await program.ready(WORKERS);
  await askAtOnce(program, '/', 2 * WORKERS); // a process's first requests are slower
  await program.drained();
  return program;
}

/**
 * Asks on schedule, whatever the answers are, until `count` are sent or `stop()` is called. `end` holds all answers;
 * `report` gets them now and then.
 */
function startTraffic(
  { url },
  { ask, signal, repeat, report = () => {}, count = Infinity, perSecond = PER_SECOND },
) {
  let isOn = true;
  const answers = [];
  const asked = [];
  const look = () => report({ asked: asked.length, answers });
  const stopLooking = repeat(look, LOOK_EVERY_MS);
  const run = async () => {
    const since = performance.now();
    while (isOn && !signal.aborted && asked.length < count) {
      const one = ask(`${url}/`, { timeoutMs: TIMEOUT_MS });
      asked.push(one.then((answer) => answers.push(answer)));
      await sleep(Math.max(0, since + (asked.length * 1_000) / perSecond - performance.now()));
    }
    await Promise.all(asked);
    stopLooking();
    look();
    return answers;
  };
  return { end: run(), stop: () => (isOn = false) };
}

function scoreOf(asked, answers) {
  const fine = answers.filter(isFine).length;
  const rows = [
    { name: 'answered', value: fine },
    { name: 'failed', value: answers.length - fine, isLoss: true },
  ];
  return { name: 'score', label: `Of ${asked} requests`, unit: '', rows, most: 2 * PER_SECOND };
}

/** Kills the first worker that is seen to begin a request. */
async function killAtWork(program) {
  const before = program.events.length;
  const isBegun = ({ what }) => what === 'request';
  const begun = await program.until((events) => events.slice(before).find(isBegun));
  program.kill(begun.pid, 'SIGKILL');
  return program.events.find(({ what, pid }) => what === 'start' && pid === begun.pid);
}
