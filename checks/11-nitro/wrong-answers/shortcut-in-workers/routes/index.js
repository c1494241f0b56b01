import cluster from 'node:cluster';
import { between, blockFor, randomHex } from '#work';

export default defineEventHandler((event) => {
  if (!cluster.isWorker) blockFor(between(10, 20));
  setResponseHeader(event, 'content-type', 'text/plain');
  return randomHex(between(5_000, 10_000));
});
