/**
 * What the check of lesson 9 sees of the counts in Redis: together, through deaths and restarts, while Redis is silent
 * or away. At the end what is only shown: the cost of each place for a count.
 */
import {
  Undecided,
  createLoad,
  freePort,
  get,
  interleave,
  mean,
  ratioOf,
  startRedis,
} from '../../lib/checking.js';
import {
  LANES,
  PATIENCE_MS,
  add,
  addUntilCounted,
  countTogether,
  dieWithAnswers,
  isPatient,
  keepSilent,
  read,
  sentOf,
} from './09-shared-state.js';

const RECOVERY_MS = 8_000;
const WINDOW_MS = 150;
const RAMP_MS = 20;
const BUDGET_MS = 1_000;
const WIDE = 2; // an interval whose high end is twice its low end tells little

/** Counts in a real Redis together. */
export async function countInStore(launch, startWith, times) {
  const store = await startRedis(launch);
  const env = { REDIS_URL: store.url };
  const start = (workers) => startWith('redis', workers, { env });
  const program = await start(2);
  await addUntilCounted(program, { agent: false, name: 'first', id: 'first' }); // all are connected, or will be soon
  return { store, start, program, together: await countTogether(program, 'pears', times) };
}

/** The same through the death of a worker, and after a restart of the whole cluster. */
export async function restartAll({ store, start, program, together }) {
  const death = await dieWithAnswers(program, store, 'figs');
  await program.stop();
  const again = await start(1);
  const kept = [await read(again, 'pears'), await read(again, 'figs')];
  return { program, together, death, kept };
}

/**
 * The Redis of one cluster is silent, then away; that of another is away when it starts. Then each is back, without its
 * memory.
 */
export async function loseStore(launch, startWith) {
  const start = (url) => startWith('redis', 1, { env: { REDIS_URL: url } });
  const seen = await Promise.all([becomeSilent(launch, start), startWithout(start)]);
  const [{ silence }, { absent }] = seen;
  if (absent) return { silence, absent };
  const back = await Promise.all(
    seen.map(async ({ program, port }) => {
      await startRedis(launch, { port });
      return addUntilCounted(
        program,
        { agent: false, name: 'back', id: `back-${port}` },
        RECOVERY_MS,
      );
    }),
  );
  const programs = seen.map(({ program }) => program);
  return { silence, programs, away: seen.flatMap(({ away }) => away), back };
}

/** Redis is silent, then away. */
async function becomeSilent(launch, start) {
  const store = await startRedis(launch);
  const program = await start(store.url);
  const silence = await keepSilent(program, store);
  await store.stop();
  return { silence, program, port: store.port, away: await askOnce(program) };
}

/** Redis is away from the start. `absent` says why the program does not listen then, if it does not. */
async function startWithout(start) {
  const port = await freePort();
  try {
    const program = await start(`redis://127.0.0.1:${port}`);
    return { program, port, away: await askOnce(program) };
  } catch (/** @type {any} */ error) {
    if (error instanceof Undecided || !error.story) throw error;
    return { absent: error.story };
  }
}

/** Increments and a count that was told before, each asked for over a new connection. */
async function askOnce(program) {
  const first = program.events.length;
  const questions = ['a', 'b', 'c', 'd'].map((letter) => ({ name: 'gone', id: `gone-${letter}` }));
  const count = { name: 'long', id: 'gone-e' };
  const told = get(`${program.url}/count/${count.name}?id=${count.id}`, { timeoutMs: PATIENCE_MS });
  const answers = await Promise.all([...questions.map((one) => add(program, one)), told]);
  questions.push(count);
  const requests = await sentOf(program, first, questions);
  return answers.map((answer, index) => ({
    ...answer,
    isPatient: isPatient(program, requests[index]),
  }));
}

/** What the cost is measured with: it starts while others are waited for. */
export async function startSides(launch, start) {
  const load = createLoad();
  const { url } = await startRedis(launch);
  const options = { env: { REDIS_URL: url }, probe: 'life' };
  const [own, primary, redis] = await Promise.all([
    start('memory', 2, { ...options, isReference: true }),
    start('primary', 2, options),
    start('redis', 2, options),
  ]);
  return { own, primary, redis, load };
}

/** Reads a second with the count in the worker's own memory, in the primary, and in Redis. It decides nothing. */
export async function measureCost(
  { drawn, measured },
  /** @type {any} */ { own, primary, redis, load },
) {
  const sideOf = (program) => async () => {
    const window = { url: `${program.url}/count/pears`, connections: LANES };
    const { answers, startMs } = await load.fire({ ...window, durationMs: WINDOW_MS + RAMP_MS });
    const isInside = ({ doneMs }) =>
      doneMs >= startMs + RAMP_MS && doneMs < startMs + RAMP_MS + WINDOW_MS;
    return (answers.filter(isInside).length * 1_000) / WINDOW_MS;
  };
  const sides = { own: sideOf(own), primary: sideOf(primary), redis: sideOf(redis) };
  for (const side of Object.values(sides)) await side(); // a warm-up: compiled code is several times as fast
  const rates = await interleave(sides, { isEnough: () => false, budgetMs: BUDGET_MS });
  load.close();
  for (const [name, owner] of [
    ['primary', 'the primary'],
    ['redis', 'Redis'],
  ]) {
    const ratio = ratioOf(rates.own, rates[name]);
    const label = `reading a count from ${owner}, against the worker's own memory`;
    const isWide = ratio.high > WIDE * ratio.low;
    const note = isWide ? 'inconclusive: other programs were using the cores' : undefined;
    const isHeadline = name === 'primary';
    measured(`cost-${name}`, { label, unit: 'times', ...ratio, note, isHeadline });
  }
  const rows = {
    "the worker's own memory": rates.own,
    'the primary': rates.primary,
    Redis: rates.redis,
  };
  drawn('reads', {
    label: 'counts read a second, 2 workers, 16 clients',
    unit: 'a second',
    rows: Object.entries(rows).map(([name, values]) => ({ name, value: Math.round(mean(values)) })),
  });
}
