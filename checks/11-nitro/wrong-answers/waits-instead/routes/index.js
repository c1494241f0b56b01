import { setTimeout as sleep } from 'node:timers/promises';
import { between, randomHex } from '#work';

export default defineEventHandler(async (event) => {
  await sleep(between(10, 20));
  setResponseHeader(event, 'content-type', 'text/plain');
  return randomHex(between(5_000, 10_000));
});
