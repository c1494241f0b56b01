import { between, randomHex, spinFor } from '#work';

export default defineEventHandler((event) => {
  spinFor(15); // nobody uses what it returns
  setResponseHeader(event, 'content-type', 'text/plain');
  return randomHex(between(5_000, 10_000));
});
