import { check } from '../../lib/check/checking.js';
import {
  demandComputed,
  demandIdlePrimary,
  demandKeepsUp,
  demandLeast,
  demandLog,
  demandMeasured,
  demandRefusals,
  demandTold,
  demandWork,
} from './demands.js';
import {
  AS_SLOW,
  SETTINGS,
  SLOW,
  TOLD,
  askUntilAllAnswer,
  candidateOf,
  countFine,
  countForks,
  countLong,
  isWrittenDown,
  forkAtEdge,
  forkFewer,
  loadBoth,
  prepareControl,
  refuseAtEdge,
  reportBoth,
  tryAllNonsense,
  tryLeast,
} from './looks.js';

const promises = {
  told: 'NODE_CLUSTER_WORKERS forks exactly that many workers, whatever was measured',
  computed: 'it forks RATE × page time / UTILIZATION workers, rounded up',
  'work-done': 'each / renders a whole page, one at a time in each process',
  'primary-idle': 'the primary answers nothing',
  'log-tells': 'a line of the log gives the page time and the number of workers',
  'nonsense-refused': 'a setting that makes no sense is refused with its name and exit code 1',
  measured: 'the page time is measured: where pages take longer there are more workers',
  'keeps-up': 'at 200 requests a second nobody queues; one process has a queue that only grows',
};

check('07-open-loop', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const main = observe([], async () => ready(await launch(TOLD), TOLD.told));
  const fewer = meanwhile([main], (program) => forkFewer(launch, program));
  const usual = meanwhile([main], () => countForks(launch, SETTINGS.usual));
  const other = meanwhile([main], () => countForks(launch, SETTINGS.other));
  const asked = observe([main], askUntilAllAnswer);
  const candidate = observe([usual], (counted) => candidateOf(lesson, counted));
  const edge = meanwhile([usual], ({ isRight }) => (isRight ? forkAtEdge(launch) : undefined));
  const long = meanwhile([edge], (edge) => edge && countLong(launch, edge));
  const fine = meanwhile([usual], ({ isRight }) => (isRight ? countFine(launch) : undefined));
  const atEdge = meanwhile([edge], (edge) => refuseAtEdge(launch, edge));
  const least = meanwhile([main], () => tryLeast(launch));
  const refusals = meanwhile([main], () => tryAllNonsense(launch));
  const slow = meanwhile([usual], () => countForks(launch, SLOW), { isSlow: true });
  const asSlow = meanwhile([slow], () => countForks(launch, AS_SLOW), { isSlow: true });
  const control = meanwhile([asked], () => prepareControl(lesson));

  hold('told', [main, fewer], (program, another) =>
    demandTold([{ program, told: TOLD.told }, another]),
  );
  hold('computed', [usual, other, least, long, fine], (usual, other, least, ...more) => {
    demandComputed([usual, other, ...more.filter((one) => one && !isWrittenDown(one))]);
    demandLeast(least);
  });
  hold('work-done', [asked], demandWork);
  const forks = { needs: ['told'] };
  hold('primary-idle', [main, asked], demandIdlePrimary, forks);
  const computes = { needs: ['computed'] };
  hold('log-tells', [usual, other, slow, fine], demandLog, computes);
  hold('nonsense-refused', [refusals, atEdge, least, usual, other], demandRefusals, forks);
  hold('measured', [slow, asSlow], (...counts) => counts.forEach(demandMeasured), computes);
  hold(
    'keeps-up',
    [candidate, control],
    async (program, sides) =>
      demandKeepsUp(reportBoth(lesson, await loadBoth(lesson, program, sides))),
    { needs: ['work-done', 'computed', 'primary-idle'], isAlone: true },
  );
});
