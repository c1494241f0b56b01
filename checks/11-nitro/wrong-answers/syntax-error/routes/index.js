import { between, blockFor, randomHex } from '#work';

export default defineEventHandler((event) =>> {
  blockFor(between(10, 20));
  setResponseHeader(event, 'content-type', 'text/plain');
  return randomHex(between(5_000, 10_000));
});
