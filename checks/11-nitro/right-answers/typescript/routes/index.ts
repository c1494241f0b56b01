import { between, blockFor, randomHex } from '#work';

export default defineEventHandler((event): string => {
  blockFor(between(10, 20));
  setResponseHeader(event, 'content-type', 'text/plain; charset=utf-8');
  return randomHex(between(5_000, 10_000));
});
