// The page, which changes every week. To deploy is to write another page.js: processes that start
// after that load the new one. There is nothing for you to build here.
import { between, blockFor, randomHex } from '#work';

export const version = '1';

export function renderPage() {
  blockFor(between(10, 20)); // a template is read from a slow disk
  return randomHex(between(5_000, 10_000));
}
