// Installs the field into bench/peers/node_modules, unless it is there as its package-lock.json says: `node
// bench/peers/install.js`, or by `npm run bench:peers` and `npm run test:field`.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from '../../lib/common/child.js';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @returns {boolean} whether it is installed. Npm's output is shown. */
export function install() {
  if (isInstalled()) return true;
  console.error('Installing the peers into bench/peers/node_modules ...');
  // This repository makes npm insist on a package's Node.js version; the peers are exempt.
  const own = ['--no-engine-strict', '--ignore-scripts', '--no-audit', '--no-fund'];
  const args = ['ci', '--prefix', here, ...own];
  const isWindows = process.platform === 'win32';
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: isWindows });
  if (status === 0) return true;
  console.error('They could not be installed. See the output of npm above.');
  return false;
}

/** npm writes this file when everything is installed. */
function isInstalled() {
  const timeOf = (/** @type {string} */ file) =>
    statSync(join(here, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return timeOf('node_modules/.package-lock.json') > timeOf('package-lock.json');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = install() ? 0 : 3;
