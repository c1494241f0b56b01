import { createHash } from 'node:crypto';

const ROUNDS = 180_000; // 100 to 200 ms of computing

/** An invoice with its seal: each round is the SHA-256 of the round before. The work can't be split. */
export function buildInvoice(order) {
  let seal = order;
  for (let round = 0; round < ROUNDS; round += 1)
    seal = createHash('sha256').update(seal).digest('hex');
  return { order, seal };
}

// #region child
// Nothing yet: this file is imported, not started.
// #endregion child
