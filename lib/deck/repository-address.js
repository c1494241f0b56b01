/** Where the workshop can be had: what the last slide says. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from '../common/child.js';

const LIMIT_MS = 2_000;
/** Hosts that everybody can reach. Another may be a company's own, which is not for every wall. */
const PUBLIC = ['github.com', 'gitlab.com', 'codeberg.org', 'bitbucket.org', 'git.sr.ht'];

/**
 * @param {string} root
 * @returns {string | undefined}  what a browser and git can read, from package.json's `repository` or, where it has none,
 *   from the remote `origin`; undefined where neither is on a public host
 */
export const repositoryOf = (root) => publicAddress(named(root) ?? originOf(root));

function named(root) {
  try {
    const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return repository?.url ?? repository;
  } catch {
    return undefined;
  }
}

function originOf(root) {
  if (!existsSync(join(root, '.git'))) return undefined; // one further up is another's
  try {
    const git = ['remote', 'get-url', 'origin'];
    const options = /** @type {const} */ ({ cwd: root, encoding: 'utf8', timeout: LIMIT_MS });
    return execFileSync('git', git, { ...options, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // there is no git, or no such remote
  }
}

/**
 * An address without user, password and port.
 * @param {unknown} address  as package.json or git has it: https://, ssh:// or git@host:path
 * @returns {string | undefined}  undefined for anything that is not on a public host
 */
export function publicAddress(address) {
  const [, host, path] =
    /^(?:git\+)?(?:https?|ssh):\/\/(?:[^@/]*@)?([\w.-]+)(?::\d+)?\/([\w.~/-]+)$/.exec(
      String(address),
    ) ??
    /^(?:[\w.-]+@)?([\w.-]+):([\w.~/-]+)$/.exec(String(address)) ??
    [];
  if (!PUBLIC.includes(host?.toLowerCase())) return undefined;
  return `https://${host.toLowerCase()}/${path.replace(/\.git\/?$/, '')}`;
}
