import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  forksOf,
  get,
  hasPid,
  interleave,
  mean,
  nowMs,
  ratioOf,
  startRedis,
  wrongAnswer,
} from '../../lib/check/checking.js';

const solution = 'solutions/09-shared-state/server.js';
const wrong = (name) => wrongAnswer('09-shared-state', name);
const CLIENTS = 16;
const PATIENCE_MS = 20_000;
const RETRY_MS = 20;

const start = async (
  { launch },
  file,
  state,
  { workers = 4, listeners = workers, ...more } = {},
) => {
  const { env, ...options } = more;
  const program = await launch(file, {
    args: ['--state', state],
    env: { NODE_CLUSTER_WORKERS: String(workers), ...env },
    ...options,
  });
  await program.ready(listeners);
  return program;
};

const post = ({ url }, name, id, agent) =>
  get(`${url}/count/${name}?id=${id}`, { agent, method: 'POST', timeoutMs: PATIENCE_MS });
const read = async ({ url }, name) => JSON.parse((await get(`${url}/count/${name}`)).body);

/** Increments by clients at once. A client that gets no 200 asks again, with the same id. */
async function count(program, name, times, onAcknowledged = undefined) {
  const seen = { acknowledged: 0, again: 0 };
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = client; index < times; index += CLIENTS) {
      const deadline = nowMs() + PATIENCE_MS;
      const ask = async () => (await post(program, name, `${name}-${index}`, agent)).status === 200;
      let isAcknowledged = await ask();
      while (!isAcknowledged && nowMs() < deadline) {
        seen.again += 1;
        await sleep(RETRY_MS);
        isAcknowledged = await ask();
      }
      if (isAcknowledged) seen.acknowledged += 1;
      onAcknowledged?.(seen.acknowledged);
    }
    agent.destroy();
  });
  await Promise.all(clients);
  return seen;
}

/** Each worker's count, over new connections, which go to the workers in turn. */
async function askAll(program, name, workers) {
  const counts = new Map();
  for (let turn = 0; turn < 3 * workers && counts.size < workers; turn += 1) {
    const { pid, count: told } = await read(program, name);
    counts.set(pid, told);
  }
  return [...counts.values()];
}

/** Clients count while the primary is frozen; a worker is killed; the primary resumes, and the clients ask again. */
async function loseAnswers(lab, file) {
  const program = await start(lab, file, 'primary', { workers: 2 });
  const [{ workerPid: victim }] = forksOf(program.events);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const ids = Array.from({ length: 8 }, (_, index) => `id-${index}`);
  await Promise.all(ids.map(() => get(`${program.url}/visits`, { agent })));
  program.kill(program.pid, 'SIGSTOP');
  const asked = ids.map((id) => post(program, 'pears', id, agent));
  await sleep(200);
  program.kill(victim, 'SIGKILL');
  await sleep(50);
  program.kill(program.pid, 'SIGCONT');
  const answers = await Promise.all(asked);
  const lost = ids.filter((_, index) => answers[index].status !== 200);
  await program.until(() => program.fate, 300);
  if (program.fate) return { sent: ids.length, lost: lost.length, fate: program.fate };
  for (const id of lost) await post(program, 'pears', id);
  const told = await read(program, 'pears');
  return { sent: ids.length, lost: lost.length, count: told.count };
}

export default [
  {
    name: 'naive-counts',
    title: 'Four workers, four counts',
    question:
      'Each worker counts in its own memory. After 200 increments by 16 clients every worker is asked for the count. What do they say?',
    async run(lab) {
      const program = await start(lab, solution, 'memory');
      await count(program, 'pears', 200);
      const told = await askAll(program, 'pears', 4);
      const sum = told.reduce((all, one) => all + one, 0);
      return {
        observed: [`they say ${told.join(', ')}`, `together: ${sum}`],
        because:
          'Every worker ran the file from the top and has its own Map. Nothing is lost yet, but no process has the total, and which one you ask depends on whose turn it is.',
        asExpected: sum === 200 && told.every((one) => one < 200),
      };
    },
  },
  {
    name: 'get-then-set',
    title: 'Ask for the count, add one, send it back',
    question:
      'The primary has the count. A worker asks for it, adds one, and sends the new count back. 400 increments by 16 clients: what is the count?',
    async run(lab) {
      const program = await start(lab, wrong('get-then-set'), 'primary');
      const { acknowledged } = await count(program, 'pears', 400);
      const { count: told } = await read(program, 'pears');
      return {
        observed: [`acknowledged: ${acknowledged}`, `the count: ${told}`],
        because:
          'Between the question and the new count other workers have asked, and got the same number. All of them send back the same new one: an update is lost, and there is no error.',
        asExpected: acknowledged === 400 && told < 400,
      };
    },
  },
  {
    name: 'retry-twice',
    title: 'A lost answer, and a client that asks again',
    question:
      'Eight clients ask, one of two workers dies when the primary has its questions but has not answered. Its clients ask again. What is the count, with ids and without?',
    async run(lab) {
      const [ours, without] = [
        await loseAnswers(lab, solution),
        await loseAnswers(lab, wrong('forgets-ids')),
      ];
      const say = ({ sent, lost, count: told }) =>
        `${sent} increments, ${lost} asked for again, the count is ${told}`;
      return {
        observed: [`with ids: ${say(ours)}`, `without: ${say(without)}`],
        because:
          "The dead worker's questions were in the channel, and the primary did them. A client that hears nothing cannot know that. The id tells the owner that it has seen this one before.",
        asExpected: ours.count === 8 && without.count === 8 + without.lost && without.lost > 0,
      };
    },
  },
  {
    name: 'answer-to-the-dead',
    title: 'An answer for a worker that has died',
    question:
      'The primary answers with worker.send(answer), without a callback, and that worker has just been killed. What becomes of the primary?',
    async run(lab) {
      const ours = await loseAnswers(lab, solution);
      const { fate } = await loseAnswers(lab, wrong('sends-to-the-dead'));
      const end = fate ? `ended with ${fate.signal ?? `exit code ${fate.code}`}` : 'lives on';
      return {
        observed: [`without a callback it ${end}`, `with one the count is ${ours.count} of 8`],
        because:
          "The channel is broken. Without a callback the error becomes an 'error' event of the worker object. Nothing listens for that, so it is an uncaught exception, in the primary: one dead worker takes all the others with it.",
        asExpected: fate?.code === 1 && ours.count === 8,
      };
    },
  },
  {
    name: 'sticky-death',
    title: 'One of four sticky workers dies',
    question:
      'Twenty-four clients, each with its place among four workers. One worker is killed. How many clients of the OTHER three have to move, in our solution, and how many if the place is the hash modulo the number of the living?',
    async run(lab) {
      const move = async (file) => {
        const program = await start(lab, file, 'sticky', { listeners: 1 });
        const clients = Array.from({ length: 24 }, (_, index) => `127.0.0.${index + 2}`);
        const visit = async (localAddress) => {
          const { body } = await get(`${program.url}/visits`, { localAddress });
          return body ? JSON.parse(body).pid : undefined;
        };
        const before = await Promise.all(clients.map(visit));
        program.kill(before[0], 'SIGKILL');
        await program.until(() => !hasPid(before[0]));
        const after = await Promise.all(clients.map(visit));
        const others = before.flatMap((pid, index) => (pid === before[0] ? [] : index));
        const moved = others.filter((index) => after[index] !== before[index]).length;
        return { others: others.length, moved };
      };
      const ours = await move(solution);
      const modulo = await move(wrong('modulo-of-the-living'));
      return {
        observed: [
          `ours: ${ours.moved} of ${ours.others}`,
          `modulo the living: ${modulo.moved} of ${modulo.others}`,
        ],
        because:
          'hash % 4 and hash % 3 have little to do with each other. With places that stay, only the clients of the empty one need another; the rest keep their worker and all that it knows about them.',
        asExpected: ours.moved === 0 && modulo.moved > 0,
      };
    },
  },
  {
    name: 'redis-away',
    title: 'Redis goes, and comes back',
    needs: 'redis',
    question:
      'Two workers count in Redis. Redis is killed, and after a while started again. What do clients see meanwhile, and what is the count then?',
    async run(lab) {
      const launch = (options) => lab.launch('', options);
      const store = await startRedis(launch);
      const env = { REDIS_URL: store.url };
      const program = await start(lab, solution, 'redis', { workers: 2, env });
      await count(program, 'pears', 50);
      const { count: before } = await read(program, 'pears');
      await store.program.stop();
      const sentMs = nowMs();
      const meanwhile = await post(program, 'pears', 'meanwhile');
      const tookMs = Math.round(nowMs() - sentMs);
      await startRedis(launch, { port: store.port });
      await count(program, 'pears', 1);
      const { count: after } = await read(program, 'pears');
      return {
        observed: [
          `before: ${before}`,
          `away: status ${meanwhile.status}, after ${tookMs} ms`,
          `back: ${after}; the workers are the same: ${forksOf(program.events).length === 2}`,
        ],
        because:
          'The client library has no connection and no queue, so each command fails at once; the route turns that into a 503. The library tries to connect every 200 ms. This Redis writes nothing to disk, so it has forgotten everything.',
        asExpected:
          before === 50 &&
          meanwhile.status === 503 &&
          after === 1 &&
          forksOf(program.events).length === 2,
      };
    },
  },
  {
    name: 'ten-thousand',
    title: 'Ten thousand increments and a kill -9',
    question:
      'Our solution, four workers, the primary owns the counts. 16 clients send 10,000 increments, and one worker is killed on the way. How many are asked for again, and what is the count?',
    async run(lab) {
      const program = await start(lab, solution, 'primary', { probe: 'life' });
      const [{ workerPid }] = forksOf(program.events);
      let isKilled = false;
      const { acknowledged, again } = await count(program, 'pears', 10_000, (soFar) => {
        if (!isKilled && soFar >= 4_000) isKilled = program.kill(workerPid, 'SIGKILL');
      });
      const told = await read(program, 'pears');
      return {
        observed: [
          `acknowledged: ${acknowledged} of 10000 ids`,
          `asked for again: ${again} times`,
          `the count: ${told.count}`,
        ],
        because:
          'Clients that lost their answer asked again with the same id, and the owner knew which ids it had counted. So the count is exact, whatever the dead worker had begun.',
        asExpected: acknowledged === 10_000 && told.count === 10_000,
      };
    },
  },
  {
    name: 'cost',
    title: 'What a question costs',
    needs: 'redis',
    question:
      'How many counts a second can two workers read: from their own memory, from the primary, from Redis?',
    async run(lab) {
      const store = await startRedis((options) => lab.launch('', options));
      const load = lab.load();
      const sideOf = async (state) => {
        const env = { REDIS_URL: store.url };
        const program = await start(lab, solution, state, { workers: 2, env, probe: 'life' });
        const window = { url: `${program.url}/count/pears`, connections: CLIENTS, durationMs: 250 };
        return async () => (await load.fire(window)).answers.length * 4;
      };
      const sides = {
        memory: await sideOf('memory'),
        primary: await sideOf('primary'),
        redis: await sideOf('redis'),
      };
      for (const side of Object.values(sides)) await side(); // a warm-up
      const rates = await interleave(sides, { isEnough: () => false, budgetMs: 2_500 });
      const primary = ratioOf(rates.memory, rates.primary);
      const redis = ratioOf(rates.memory, rates.redis);
      const say = (name) => `${name}: ${Math.round(mean(rates[name]))} a second`;
      const share = ({ value, low, high }) =>
        `${value.toFixed(2)} of it (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)})`;
      return {
        observed: [
          say('memory'),
          `${say('primary')}, ${share(primary)}`,
          `${say('redis')}, ${share(redis)}`,
        ],
        because:
          'A question to another process is written, read and answered, and both sides turn their event loops for it. The primary is a Node.js process that reads JSON; Redis is a program in C that reads a simpler protocol.',
        asExpected: primary.low < 1 && redis.low < 1, // no interval says otherwise
      };
    },
  },
];
