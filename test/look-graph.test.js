// Verifies when looks are made, in which order promises are judged, and what the history says about them: pure parts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lessonHistory, noHistory, stillFailing } from '../lib/cli/saved/lesson-history.js';
import { createLookGraph, nextLook } from '../lib/check/look-graph.js';
import { dependenciesOf, roundsOf, withDependencies } from '../lib/verdict/judging-order.js';

describe('looks', () => {
  test('a look is made once, on request, with the results of its needs', async () => {
    const { observeInParallel } = createLookGraph();
    /** @type {string[]} */
    const made = [];
    const one = observeInParallel([], () => (made.push('one'), 1));
    const two = observeInParallel([one], async (seen) => (made.push('two'), seen + 1));
    const never = observeInParallel([two], () => made.push('never'));
    assert.deepEqual([one.state, made], ['untouched', []]);
    assert.equal(await two.see(), 2);
    assert.equal(await two.see(), 2);
    assert.deepEqual([one.state, two.state, never.state], ['done', 'done', 'untouched']);
    assert.deepEqual(made, ['one', 'two']);
  });

  test('a look whose need failed gets its error, and nothing else is made', async () => {
    const { observeInParallel } = createLookGraph();
    const error = new Error('gone');
    const broken = observeInParallel([], () => Promise.reject(error));
    const after = observeInParallel([broken], () => assert.fail('it is not reached'));
    await assert.rejects(after.see(), error);
    await assert.rejects(broken.see(), error);
    assert.equal(after.state, 'done');
  });

  test('observations are made one at a time, other looks beside them', async () => {
    const { observe, observeInParallel } = createLookGraph();
    let underWay = 0;
    let most = 0;
    const body = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    };
    await Promise.all(
      [observe([], body), observe([], body), observe([], body)].map((one) => one.see()),
    );
    assert.equal(most, 1);
    await Promise.all(
      [observeInParallel([], body), observeInParallel([], body)].map((one) => one.see()),
    );
    assert.equal(most, 2);
  });

  test('a failed observation lets the next one run', async () => {
    const { observe } = createLookGraph();
    const failing = observe([], () => Promise.reject(new Error('no')));
    const next = observe([], () => 'seen');
    const both = await Promise.allSettled([failing.see(), next.see()]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
  });

  test('the next look is the first whose needs are done, slow ones before the others', async () => {
    const { observeInParallel } = createLookGraph();
    const main = observeInParallel([], () => 'main');
    const homes = observeInParallel([main], () => 'homes');
    const backOff = observeInParallel([main], () => 'back-off', { isSlow: true });
    assert.equal(nextLook([homes, backOff]), main);
    const seeing = main.see();
    assert.equal(nextLook([homes, backOff]), undefined, 'what they need is still being looked at');
    await seeing;
    assert.equal(nextLook([homes, backOff]), backOff);
    await backOff.see();
    assert.equal(nextLook([homes, backOff]), homes);
    await homes.see();
    assert.equal(nextLook([homes, backOff]), undefined);
  });
});

describe('the plan of a check', () => {
  const held = [
    { id: 'listens', task: 1, needs: [], isGate: true },
    { id: 'forks', task: 1, needs: [], isGate: false },
    { id: 'answers', task: 2, needs: ['forks'], isGate: false },
    { id: 'body', task: 2, needs: [], isGate: false },
    { id: 'speedup', task: 3, needs: ['answers', 'body'], isGate: false },
  ];

  test('a promise stands on its needs and on every gate before it, recursively', () => {
    assert.deepEqual(dependenciesOf(held, held[4]), ['answers', 'body', 'listens']);
    assert.deepEqual(withDependencies(held, ['answers']), ['listens', 'forks', 'answers']);
    assert.deepEqual(withDependencies(held, ['listens']), ['listens']);
    assert.deepEqual(withDependencies(held, []), []);
  });

  test('a round for each task; before them last time’s failures in the first open task, then that whole task', () => {
    const tasks = [['listens', 'forks'], ['answers', 'body'], ['speedup']];
    assert.deepEqual(roundsOf(held, {}), tasks);
    assert.deepEqual(roundsOf(held, { first: ['body', 'speedup'] }), [
      ['listens', 'body'],
      ['listens', 'forks', 'answers', 'body'],
      ...tasks,
    ]);
    assert.deepEqual(roundsOf(held, { first: ['renamed-since'] }), tasks);
    assert.deepEqual(roundsOf(held, { isThrough: true, first: ['body'] }), [
      held.map(({ id }) => id),
    ]);
    assert.deepEqual(roundsOf(held, { only: ['body'], first: ['answers'] }), [['listens', 'body']]);
  });
});

describe('what is known from last time', () => {
  const history = [
    {
      lesson: 'a',
      verdicts: { x: 'passed', y: 'failed' },
      failed: ['y'],
      measurements: [{ name: 'm', value: 2 }],
    },
    { lesson: 'b', verdicts: { x: 'failed' }, failed: ['x'], measurements: [] },
    { lesson: 'a', verdicts: { y: 'failed' }, failed: ['y'], task: 2, measurements: [] },
  ];

  test('each promise has its latest verdict', () => {
    assert.deepEqual(lessonHistory(history, 'a'), {
      failed: ['y'],
      task: 2,
      verdicts: { x: 'passed', y: 'failed' },
      measured: { m: 2 },
    });
    assert.deepEqual(lessonHistory(history, 'c'), noHistory);
    assert.deepEqual(
      lessonHistory([{ lesson: 'a', verdict: 'passed' }], 'a'),
      noHistory,
      'of an older version',
    );
  });

  test('failures that were not judged again still come first', () => {
    const before = { ...noHistory, failed: ['x', 'y', 'z'] };
    assert.deepEqual(stillFailing(before, { w: 'failed', x: 'skipped', y: 'passed' }), [
      'w',
      'x',
      'z',
    ]);
    assert.deepEqual(stillFailing(before, { x: 'passed', y: 'passed', z: 'passed' }), []);
  });
});
