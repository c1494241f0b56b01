/** The address of the workshop, for the last slide. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from '../common/child.js';

const LIMIT_MS = 2_000;
/** Public hosts: a company's own must not appear on every wall. */
const PUBLIC = ['github.com', 'gitlab.com', 'codeberg.org', 'bitbucket.org', 'git.sr.ht'];

/** From package.json's `repository`, else from the remote `origin`. @param {string} root  @returns {string | undefined} */
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
  if (!existsSync(join(root, '.git'))) return undefined; // a .git further up belongs to another project
  try {
    const git = ['remote', 'get-url', 'origin'];
    const options = /** @type {const} */ ({ cwd: root, encoding: 'utf8', timeout: LIMIT_MS });
    return execFileSync('git', git, { ...options, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // no git, or no such remote
  }
}

/**
 * An address without user, password and port; undefined unless its host is public.
 * @param {unknown} address  https://, ssh:// or git@host:path  @returns {string | undefined}
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
