/** What a learner begins with, where a slide shows what becomes of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { parseRegions } from '../lessons/regions.js';

const QUOTED = /\bfile=solutions\/([\w-]+)\/([^\s#:]+)#([\w-]+)/;

/**
 * The code of the same region in the starter, without the lines that tell the task.
 * @param {string} root
 * @param {string} info  of a block: js file=solutions/02-cluster-fork/server.js#start starter
 * @returns {string | undefined}  unless it asks for a starter that has such code
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
