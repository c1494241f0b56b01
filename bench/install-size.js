// Prints how many packages and how many megabytes `npm ci --omit=dev` brings: `npm run bench`.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folders that `npm ci --omit=dev` would fill, from package-lock.json.
 *
 * @param {string} root the repository
 * @returns {string[]} such as `node_modules/express`
 */
export function productionPackages(root) {
  /** @type {{ packages: Record<string, { dev?: boolean }> }} */
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.keys(lock.packages).filter((path) => path !== '' && !lock.packages[path].dev);
}

/**
 * Bytes of a package's own files on the disk, without the packages inside it.
 *
 * @param {string} folder
 * @returns {number}
 */
export function bytesOnDisk(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : bytesOnDisk(path);
    else if (entry.isFile()) bytes += Math.ceil(statSync(path).size / 4096) * 4096;
  }
  return bytes;
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const listed = productionPackages(root);
  // Optional packages of other platforms are listed, but not here.
  const installed = listed.filter((path) => existsSync(join(root, path)));
  const megabytes =
    installed.reduce((sum, path) => sum + bytesOnDisk(join(root, path)), 0) / 2 ** 20;
  console.log(`npm ci --omit=dev: ${listed.length} packages (${installed.length} installed here)`);
  console.log(`on disk: ${megabytes.toFixed(1)} MB (in blocks of 4 kB)`);
  console.log('bars: 140 packages, 35 MB');
  if (installed.length === 0 || listed.length > 140 || megabytes > 35) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
