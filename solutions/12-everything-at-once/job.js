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
process.on('message', (order) => process.send(buildInvoice(order), () => {}));

// A child exits when its parent is gone: the channel closes now, or had closed while this file was loading.
process.on('disconnect', () => process.exit());
if (process.connected === false) process.exit();
// #endregion child
