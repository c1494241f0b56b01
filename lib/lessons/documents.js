import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { chapterKeys, lessonKeys } from './catalog.js';
import { hasCode } from '../common/files.js';
import { lessonPaths } from './lesson-paths.js';
import { refreshQuotes } from './quotes.js';
import { UsageError } from '../common/usage-error.js';

/** The Markdown files that may quote code. @param {string} root @returns {string[]}  paths from the root */
export function documentPaths(root) {
  const texts = lessonKeys(root).map((key) => lessonPaths(key).text);
  const slides = chapterKeys(root).map((key) => lessonPaths(key).slides);
  return ['README.md', 'CONTRIBUTING.md', ...texts, ...slides].filter((path) =>
    existsSync(join(root, path)),
  );
}

/**
 * Refreshes the quotes of a document, without writing it. @param {string} root @param {string} path  from the root
 * @returns {{ text: string, stale: import('./quotes.js').Quote[] }} @throws {UsageError}  if a quoted file or region is missing
 */
export function refreshDocument(root, path) {
  try {
    return refreshQuotes(readFileSync(join(root, path), 'utf8'), (file) => readQuoted(root, file));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${path} cannot be filled in: ${error.message}`, error.hint);
  }
}

function readQuoted(/** @type {string} */ root, /** @type {string} */ file) {
  const inside = !posix.normalize(file).startsWith('..') && !posix.isAbsolute(file);
  try {
    if (inside) return readFileSync(join(root, file), 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) throw error;
  }
  throw new UsageError(
    `There is no file ${file} to quote.`,
    'Write the path from the root of the repository, as in file=solutions/01-slug/server.js#name',
  );
}

/** Relative links and images whose file is missing, but not anchors. @param {string} root @param {string} path  from the root */
export async function brokenLinks(root, path) {
  const { default: MarkdownIt } = await import('markdown-it');
  const tokens = new MarkdownIt({ html: true }).parse(readFileSync(join(root, path), 'utf8'), {});
  return tokens
    .flatMap((token) => [token, ...(token.children ?? [])])
    .flatMap(linksOf)
    .filter((link) => !/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(link))
    .filter((link) => !existsSync(join(root, targetOf(link, path))));
}

function linksOf(/** @type {import('markdown-it').Token} */ token) {
  if (token.type === 'link_open') return [String(token.attrGet('href'))];
  if (token.type === 'image') return [String(token.attrGet('src'))];
  if (!token.type.startsWith('html_')) return [];
  return [...token.content.matchAll(/\b(?:href|src)=["']([^"']+)["']/g)].map(([, link]) => link);
}

/** Path from the root, at which a link with a leading slash starts, as on GitHub. */
function targetOf(/** @type {string} */ link, /** @type {string} */ path) {
  const [target] = link.split(/[?#]/);
  const decoded = decode(target);
  return decoded.startsWith('/') ? decoded : join(dirname(path), decoded);
}

function decode(/** @type {string} */ target) {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
