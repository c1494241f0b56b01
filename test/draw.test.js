// Verifies what a seed draws: the same for the same seed, other orders for others, each item once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDraw, randomSeed } from '../lib/check/draw.js';

const all = ['kill', 'block', 'deploy', 'bad deploy', 'silence'];

test('the same seed draws the same, in the same order', () => {
  const drawn = (/** @type {number} */ seed) => {
    const { below, pick, shuffle } = createDraw(seed);
    return [shuffle(all), pick(all), below(1_000)];
  };
  assert.deepEqual(drawn(42), drawn(42));
  assert.notDeepEqual(drawn(42), drawn(43));
});

test('an order has each item once, and every item is first with some seed', () => {
  const orders = Array.from({ length: 100 }, (_, seed) => createDraw(seed).shuffle(all));
  for (const order of orders) assert.deepEqual([...order].sort(), [...all].sort());
  assert.deepEqual(new Set(orders.map(([first]) => first)), new Set(all));
});

test('a number below a limit is an integer from 0, and a random seed can be typed', () => {
  const { below } = createDraw(7);
  const drawn = Array.from({ length: 100 }, () => below(3));
  assert.deepEqual(new Set(drawn), new Set([0, 1, 2]));
  assert.match(String(randomSeed()), /^[1-9]\d{0,3}$/);
});
