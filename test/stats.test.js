// Verifies the arithmetic of measurement against values that were calculated elsewhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mean,
  meanInterval,
  quantile,
  ratioOf,
  servedWithin,
  shareOf,
  sideOf,
} from '../lib/measure/stats.js';

const near = (actual, expected, within = 0.005) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not near ${expected}`);

test('mean and quantile', () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(quantile([5, 1, 4, 2, 3], 0.5), 3);
  assert.equal(quantile([5, 1, 4, 2, 3], 0.99), 5);
  assert.equal(quantile([7], 0), 7);
});

test("the mean's interval is Student's: five values, four degrees of freedom", () => {
  const { value, low, high } = meanInterval([9, 10, 11, 10, 10]);
  near(value, 10);
  near(high - value, 2.776 * Math.sqrt(0.5 / 5));
  near(value - low, high - value, 1e-12);
});

test("a share's interval is Wilson's, even for a share of 0 or 1", () => {
  const { value, low, high } = shareOf(15, 50);
  near(value, 0.3);
  near(low, 0.191, 0.001);
  near(high, 0.438, 0.001);
  const none = shareOf(0, 100);
  assert.equal(none.low, 0);
  near(none.high, 0.037, 0.001);
  near(shareOf(100, 100).high, 1);
});

test('one value has no known error', () => {
  assert.deepEqual(meanInterval([4]), { value: 4, low: -Infinity, high: Infinity });
  const { value, ...reach } = ratioOf([2], [8]);
  near(value, 4, 1e-9);
  assert.deepEqual(reach, { low: 0, high: Infinity });
});

test('a window without requests leaves the ratio unknown; if all are empty, it is 0', () => {
  assert.deepEqual(ratioOf([60, 60], [0, 0]), { value: 0, low: 0, high: 0 });
  const { low, high } = ratioOf([60, 60], [240, 0]);
  assert.deepEqual({ low, high }, { low: 0, high: Infinity });
  assert.equal(sideOf(ratioOf([60, 0], [240, 240]), 2.8), 'open');
});

test('the ratio is that of the geometric means, its interval symmetrical in the logarithm', () => {
  const { value, low, high } = ratioOf([10, 10.5, 9.5, 10], [40, 41, 39, 40]);
  near(value, 4, 0.02);
  near(Math.log(high / value), Math.log(value / low), 1e-9);
  assert.ok(low > 3.7 && high < 4.3, `${low} to ${high}`);
});

test('a control against itself gives 1 within its interval, about 95 times in 100', () => {
  const random = createRandom(7);
  const noisy = () => 60 * (1 + 0.04 * (random() + random() + random() - 1.5));
  let hits = 0;
  for (let round = 0; round < 1000; round += 1) {
    const [a, b] = [0, 1].map(() => Array.from({ length: 2 }, noisy));
    const { low, high } = ratioOf(a, b);
    if (low <= 1 && high >= 1) hits += 1;
  }
  assert.ok(hits > 920 && hits < 980, `${hits} of 1000`);
});

test('a target is above, below, or inside the interval', () => {
  assert.equal(sideOf({ value: 4, low: 3.5, high: 4.5 }, 3.5), 'above');
  assert.equal(sideOf({ value: 4, low: 3.5, high: 4.5 }, 5), 'below');
  assert.equal(sideOf({ value: 4, low: 3.5, high: 4.5 }, 4), 'open');
  assert.equal(sideOf({ value: 4, low: 0, high: Infinity }, 1), 'open');
});

test('only the part of a request inside the window counts', () => {
  const requests = [
    { startMs: -10, endMs: 10 }, // half of it
    { startMs: 10, endMs: 30 },
    { startMs: 90, endMs: 130 }, // a quarter
    { startMs: 95 }, // never answered
    { startMs: 100, endMs: 110 }, // after it
    { startMs: 50, endMs: 50 }, // too quick to measure
  ];
  near(servedWithin(requests, 0, 100), 0.5 + 1 + 0.25 + 1);
  assert.equal(servedWithin([], 0, 100), 0);
});

/** A small generator (Park and Miller), so that the test is the same every time. */
function createRandom(seed) {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
