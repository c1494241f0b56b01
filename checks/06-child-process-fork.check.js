import { tmpdir } from 'node:os';
import { check } from '../lib/checking.js';
import {
  demandElsewhere,
  demandFirst,
  demandMatch,
  demandOwnFile,
  demandResponsive,
  demandSize,
  tellOfImport,
} from './demands/06-child-process-fork.js';
import {
  askLater,
  demandNoneLeft,
  demandOneFailure,
  demandReplaced,
} from './demands/06-child-process-fork.deaths.js';
import {
  CHILDREN,
  JOBS,
  WHILE_ROWS,
  ask,
  askAtOnce,
  askMeanwhile,
  measure,
} from './looks/06-child-process-fork.js';
import { endServer, killBoth } from './looks/06-child-process-fork.deaths.js';

const promises = {
  answers: 'a report is answered, with the right digest',
  'own-file': 'the server forks children that run a file of their own',
  'stays-responsive': 'while a report is built, the server answers /',
  'answers-match': 'of 20 reports asked for at once, each gets the answer to its own request',
  'any-cwd': 'started from another folder it works all the same',
  'small-pool': 'JOB_CHILDREN tells how many children there are, however many requests come',
  'fails-one': 'when a child is killed, the report that it was building fails, and no other',
  replaced: 'another child takes its place, and what was queued is answered',
  'ends-with-parent': 'when the server ends, its children end too',
};
const CHILDREN_ELSEWHERE = 3;
const PRETENDED_CORES = 5; // a pool of this size has not read JOB_CHILDREN

check('06-child-process-fork', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (children, options) =>
    ready(await launch({ env: { JOB_CHILDREN: String(children) }, ...options }));
  const main = observe(() =>
    start(CHILDREN, { pretendCores: PRETENDED_CORES }).catch(tellOfImport),
  );
  const first = observe(async () => ask(await main, { name: 'first', rows: 1_000 }));
  const elsewhere = meanwhile(async () => {
    await first;
    return start(CHILDREN_ELSEWHERE, { cwd: tmpdir() });
  });

  const isGate = true;
  await hold('answers', async () => demandFirst(await main, await first), { isGate });
  await hold('own-file', async () => demandOwnFile(await main), { isGate });

  /** @type {Promise<any>} */
  const responsive = observe(async () => askMeanwhile(await main));
  const batch = observe(async () => {
    const { unanswered } = await responsive; // twenty more would only wait, too
    return unanswered ?? Promise.all(JOBS.map(async (job) => ask(await main, job)));
  });
  const elsewhereFirst = meanwhile(async () => ask(await elsewhere, JOBS[19]));

  await hold('stays-responsive', async () => demandResponsive(await responsive));
  await hold('answers-match', async () => demandMatch(await main, await batch));
  await hold('any-cwd', async () => demandElsewhere(await elsewhere, await elsewhereFirst));
  await hold(
    'small-pool',
    async () => {
      await batch;
      demandSize(await main, CHILDREN);
      await askAtOnce(await elsewhere, ['p', 'q', 'r', 's'], WHILE_ROWS);
      demandSize(await elsewhere, CHILDREN_ELSEWHERE);
    },
    { needs: ['answers-match', 'any-cwd'] },
  );

  /** @type {Promise<any>} */
  const crash = observe(async () => lesson.allHold() && killBoth(await main));
  await hold('fails-one', async () => demandOneFailure(await main, await crash), {
    needs: ['stays-responsive', 'answers-match', 'small-pool'],
  });

  /** @type {Promise<any>} */
  const later = observe(async () => lesson.allHold() && askLater(await main, await crash));
  await hold('replaced', async () => demandReplaced(await main, await later), {
    needs: ['fails-one'],
  });

  await hold('ends-with-parent', async () => {
    await Promise.allSettled([crash, later]);
    demandNoneLeft(await endServer(await main, 'SIGTERM'));
    demandNoneLeft(await endServer(await elsewhere, 'SIGKILL'));
  });

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson);
});
