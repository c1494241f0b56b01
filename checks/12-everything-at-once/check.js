import { check } from '../../lib/check/checking.js';
import {
  demandCapacity,
  demandEnd,
  demandHealth,
  demandNoFailures,
  demandOrders,
} from './demands.js';
import { attemptsIn, isGood, playScene } from './looks.js';

const tasks = {
  1: {
    'capacity-back':
      'after each blow as many workers serve as before, with the last good version, and the others have finished',
    'orders-kept': 'no acknowledged order is lost or counted twice',
    'nothing-else-fails': 'nothing fails but what was in the hands of a killed worker',
    'health-answers': '/health is answered throughout, also while invoices are made',
    'clean-end': 'SIGTERM: what is in flight is answered, every process exits, the exit code is 0',
  },
};

/** A scene that is played a second time, with a fresh program, may break off where the first one did not. */
const ofWhole = (judge) => (/** @type {any} */ scene) => {
  demandCapacity(scene);
  judge(scene);
};

export default check('12-everything-at-once', tasks, (lesson) => {
  const { observe, hold, measure, measured } = lesson;
  const scene = observe([], () => playScene(lesson), { isSlow: true });
  hold('capacity-back', [scene], demandCapacity, { isGate: true });
  hold('orders-kept', [scene], ofWhole(demandOrders));
  hold('nothing-else-fails', [scene], ofWhole(demandNoFailures));
  hold('health-answers', [scene], ofWhole(demandHealth), { needs: ['nothing-else-fails'] });
  hold('clean-end', [scene], ofWhole(demandEnd), { needs: ['nothing-else-fails'] });
  measure([scene], (seen) => {
    const attempts = attemptsIn(seen);
    const failed = attempts.filter(({ attempt }) => !isGood(attempt)).length;
    measured('failed', {
      label: `failed, of 1,000: ${failed} of ${attempts.length}, each in the hands of a killed worker`,
      unit: 'requests',
      value: (1_000 * failed) / attempts.length,
      isHeadline: true,
    });
  });
});
