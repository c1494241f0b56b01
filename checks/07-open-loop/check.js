import { check } from '../../lib/check/checking.js';
import {
  demandComputed,
  demandKeepsUp,
  demandMeasured,
  demandTold,
  demandWork,
} from './demands.js';
import { SETTINGS, TOLD, askAll, countWorkers, exactOf, load, report } from './looks.js';

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
  const { launch, ready, observe, meanwhile, hold, holdInSteps, measure } = lesson;
  const { usual, other, slow } = SETTINGS;
  const stopped = async (setting) => {
    const counted = await countWorkers(launch, setting);
    await counted.program.stop();
    return counted;
  };

  const told = observe([], async () => ready(await launch(TOLD), TOLD.workers));
  const counted = meanwhile([told], () => countWorkers(launch, usual));
  const countedOther = meanwhile([counted], () => stopped(other));
  const countedSlow = meanwhile([countedOther], () => stopped(slow));
  const asked = observe([told], askAll);
  const cluster = observe([counted], ({ program }) => ready(program, Math.ceil(exactOf(usual))));
  const single = meanwhile([asked], async () => ready(await launch({ isReference: true })));
  const loaded = observe([cluster, single], (many, one) => load(lesson, many, one));

  hold('told', [told], demandTold);
  holdInSteps('computed', [
    [[counted], demandComputed],
    [[countedOther], demandComputed],
  ]);
  hold('measured', [countedSlow], demandMeasured, { needs: ['computed'] });
  hold('work-done', [told, asked], demandWork, { needs: ['told'] });
  hold('keeps-up', [cluster, loaded], demandKeepsUp, { isAlone: true });
  measure([loaded], (seen) => report(lesson, seen));
});
