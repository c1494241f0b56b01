import { setTimeout as sleep } from 'node:timers/promises';
import { forksOf } from '../../lib/check/checking.js';

const solution = 'solutions/09-shared-state/server.js';
const WORKERS = 2; // two clusters are six lanes
const INCREMENTS = 20;
const EVERY_MS = 60;
const REST_MS = 500;

/** The same increments for workers that count for themselves, and for workers that ask the primary. */
export default [
  {
    name: 'two-counts',
    title: 'Twenty increments, counted by each worker or by the primary',
    async perform({ launch, ask, say, begin, drawn, signal }) {
      const start = async (state, as) => {
        const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
        const program = await launch(solution, { as, env, args: ['--state', state] });
        await program.ready(WORKERS);
        return { name: as, program };
      };
      say(`Two clusters of ${WORKERS} start.`);
      const clusters = [await start('memory', 'own memory'), await start('primary', 'the primary')];
      begin();
      say(`${INCREMENTS} increments for each, one after the other.`);
      const sent = [];
      for (let index = 0; index < INCREMENTS && !signal.aborted; index += 1) {
        for (const { program } of clusters)
          sent.push(ask(`${program.url}/count/pears?id=${index}`, { method: 'POST' }));
        await sleep(EVERY_MS);
      }
      await Promise.all(sent); // before that no client can read all of them
      const before = await tellAll(clusters, ask);
      show(drawn, before);
      await sleep(REST_MS);
      for (const { program } of clusters) {
        const [{ workerPid }] = forksOf(program.events);
        program.kill(workerPid, 'SIGKILL');
      }
      say('In both of them one worker gets kill -9. It is replaced.');
      for (const { program } of clusters)
        await program.until((events) => forksOf(events).length > WORKERS);
      await Promise.all(clusters.map(({ program }) => program.ready(WORKERS + 1)));
      await sleep(REST_MS);
      const after = await tellAll(clusters, ask);
      show(drawn, after);
      say(
        `Sent: ${INCREMENTS}. Read before: ${before.map(wordsOf).join('; ')}. After: ${after.map(wordsOf).join('; ')}.`,
      );
    },
  },
];

const wordsOf = ({ name, told }) => `${name} ${told.join(' and ')}`;

/** Each worker is asked once: new connections go round. */
async function tellAll(clusters, ask) {
  const all = [];
  for (const { name, program } of clusters) {
    const told = [];
    for (let turn = 0; turn < WORKERS; turn += 1) {
      const { body } = await ask(`${program.url}/count/pears`);
      told.push(JSON.parse(body).count);
    }
    all.push({ name, told });
  }
  return all;
}

/** One chart for both moments: there are many lanes on the slide already. */
function show(drawn, clusters) {
  const rows = clusters.map(({ name, told }) => ({ name, value: told.at(-1) }));
  const unit = `of ${INCREMENTS}`;
  drawn({ name: 'told', label: 'a client reads', unit, rows, most: INCREMENTS });
}
