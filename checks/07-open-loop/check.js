import { check } from '../../lib/check/checking.js';
import {
  demandComputed,
  demandKeepsUp,
  demandMeasured,
  demandNotTooMany,
  demandExplicit,
  demandWork,
} from './demands.js';
import {
  SETTINGS,
  EXPLICIT,
  askAll,
  countWorkers,
  exactOf,
  loadBoth,
  reportLoad,
} from './looks.js';

const tasks = {
  3: {
    told: 'NODE_CLUSTER_WORKERS forks exactly that many workers, whatever was measured',
    computed: 'if it is not set, there are RATE × page time / UTILIZATION workers, rounded up',
    measured:
      'the page time is measured at each start: where pages take longer there are more workers',
    'work-done': 'workers render a whole page for each /, and the primary renders none',
    'keeps-up': 'at 200 requests a second no queue grows',
  },
};

export default check('07-open-loop', tasks, (lesson) => {
  const { launch, ready, observe, observeInParallel, hold, holdInSteps, measure } = lesson;
  const { usual, other, slow } = SETTINGS;
  const stopped = async (setting) => {
    const counted = await countWorkers(launch, setting);
    await counted.program.stop();
    return counted;
  };

  const told = observe([], async () => ready(await launch(EXPLICIT), EXPLICIT.workers));
  const counted = observeInParallel([told], () => countWorkers(launch, usual));
  const countedOther = observeInParallel([counted], () => stopped(other));
  const countedSlow = observeInParallel([countedOther], () => stopped(slow));
  const asked = observe([told], askAll);
  const cluster = observe([counted], ({ program }) => ready(program, Math.ceil(exactOf(usual))));
  const single = observeInParallel([asked], async () => ready(await launch({ isReference: true })));
  const loaded = observe([cluster, single], (many, one) => loadBoth(lesson, many, one));

  hold('told', [told], demandExplicit);
  holdInSteps('computed', [
    [[counted], demandNotTooMany],
    [[counted, countedOther], demandComputed],
  ]);
  hold('measured', [countedSlow], demandMeasured, { needs: ['computed'] });
  hold('work-done', [told, asked], demandWork, { needs: ['told'] });
  hold('keeps-up', [cluster, loaded], demandKeepsUp, { isMeasurement: true });
  measure([loaded], (seen) => reportLoad(lesson, seen));
});
