/** The starter's code, for a slide that turns it into the solution's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { parseRegions } from '../lessons/regions.js';

const QUOTED = /\bfile=solutions\/([\w-]+)\/([^\s#:]+)#([\w-]+)/;

/**
 * The same region in the starter, without the comments that describe the task; undefined if the block asks for none.
 * @param {string} root  @param {string} info  of the block: js file=solutions/02-cluster-fork/server.js#start starter
 * @returns {string | undefined}
 */
export function starterCode(root, info) {
  const [, key, name, region] = QUOTED.exec(info) ?? [];
  if (!key || !/\bstarter\b/.test(info)) return undefined;
  const file = `${lessonPaths(key).starter}/${name}`;
  const regions = parseRegions(readFileSync(join(root, file), 'utf8'), file);
  const lines = regions.find((one) => one.name === region)?.body.split('\n') ?? [];
  const code = lines.filter((line) => !/^\s*\/\//.test(line));
  return code.join('\n').trim() || undefined;
}
