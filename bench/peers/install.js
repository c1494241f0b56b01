// Installs what the field is, into bench/peers/node_modules, unless it is there as its package-lock.json says:
// `node bench/peers/install.js`, or by `npm run bench:peers` and `npm run test:field`.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from '../../lib/common/child.js';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @returns {boolean} is it there? What npm says meanwhile is shown. */
export function install() {
  if (isInstalled()) return true;
  console.error('Installing what is measured, into bench/peers/node_modules ...');
  // Each says which Node.js it wants; that npm should insist is a setting of this repository's, for itself.
  const own = ['--no-engine-strict', '--ignore-scripts', '--no-audit', '--no-fund'];
  const args = ['ci', '--prefix', here, ...own];
  const isWindows = process.platform === 'win32';
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: isWindows });
  if (status === 0) return true;
  console.error('They could not be installed. See what npm says above.');
  return false;
}

/** npm writes down what it has installed when all of it is there. */
function isInstalled() {
  const timeOf = (/** @type {string} */ file) =>
    statSync(join(here, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return timeOf('node_modules/.package-lock.json') > timeOf('package-lock.json');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = install() ? 0 : 3;
