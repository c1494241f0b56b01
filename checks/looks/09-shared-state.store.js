/**
 * What the check of lesson 9 sees of the counts in Redis: together, through deaths and restarts, while Redis is silent
 * or away. At the end what is only shown: the cost of each place for a count.
 */
import { createLoad, interleave, mean, ratioOf, startRedis } from '../../lib/checking.js';
import {
  LANES,
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
const WINDOW_MS = 200;
const RAMP_MS = 20;
const BUDGET_MS = 1_200;
const WIDE = 2; // an interval whose high end is twice its low end tells little

/** Counts in a real Redis: together, through the death of a worker, and after a restart of the whole cluster. */
export async function countInStore(launch, startWith, times) {
  const store = await startRedis(launch);
  const env = { REDIS_URL: store.url };
  const start = (workers) => startWith('redis', workers, { env });
  const program = await start(2);
  await addUntilCounted(program, { agent: false, name: 'first', id: 'first' }); // all are connected, or will be soon
  const together = await countTogether(program, 'pears', times);
  const death = await dieWithAnswers(program, store, 'figs');
  await program.stop();
  const again = await start(1);
  const kept = [await read(again, 'pears'), await read(again, 'figs')];
  return { store, start, program, again, together, death, kept };
}

/** Redis is silent, then away, also for a cluster that starts meanwhile; then it is back, without its memory. */
export async function loseStore(launch, { store, start, again }) {
  const silence = await keepSilent(again, store);
  await store.stop();
  const cold = await start(1);
  const programs = [again, cold];
  const away = await Promise.all(programs.map(askOnce));
  await startRedis(launch, { port: store.port });
  const back = await Promise.all(
    programs.map((program, index) =>
      addUntilCounted(program, { agent: false, name: 'back', id: `back-${index}` }, RECOVERY_MS),
    ),
  );
  return { silence, programs, away: away.flat(), back };
}

/** Each worker is asked, over a new connection each time. */
async function askOnce(program) {
  const first = program.events.length;
  const questions = ['a', 'b', 'c', 'd'].map((letter) => ({ name: 'gone', id: `gone-${letter}` }));
  const answers = await Promise.all(questions.map((question) => add(program, question)));
  const requests = await sentOf(program, first, questions);
  return answers.map((answer, index) => ({
    ...answer,
    isPatient: isPatient(program, requests[index]),
  }));
}

/** Reads a second with the count in the worker's own memory, in the primary, and in Redis. It decides nothing. */
export async function measureCost({ launch, drawn, measured }, start) {
  const store = await startRedis(launch);
  const env = { REDIS_URL: store.url };
  const load = createLoad();
  const sideOf = async (state, more = {}) => {
    const program = await start(state, 2, { env, probe: 'life', ...more });
    return async () => {
      const window = { url: `${program.url}/count/pears`, connections: LANES };
      const { answers, startMs } = await load.fire({ ...window, durationMs: WINDOW_MS + RAMP_MS });
      const isInside = ({ doneMs }) =>
        doneMs >= startMs + RAMP_MS && doneMs < startMs + RAMP_MS + WINDOW_MS;
      return (answers.filter(isInside).length * 1_000) / WINDOW_MS;
    };
  };
  const sides = {
    own: await sideOf('memory', { isReference: true }),
    primary: await sideOf('primary'),
    redis: await sideOf('redis'),
  };
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
