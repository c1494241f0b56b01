import { UsageError } from '../common/usage-error.js';
import { parseYaml } from './lesson-yml.js';

/**
 * Splits YAML between two `---` lines from the Markdown below. @throws {UsageError}
 * @param {string} source @param {string} file  for messages @returns {{ values: Record<string, any>, text: string }}
 */
export function splitFrontMatter(source, file) {
  const match = /^\uFEFF?---\r?\n([^]*?\r?\n)??---[ \t]*(?:\r?\n([^]*))?$/.exec(source);
  if (match) return { values: parseYaml(match[1] ?? '', file), text: match[2] ?? '' };
  throw new UsageError(
    `${file} has no front matter.`,
    'Begin the file with a line "---", then its title, then a line "---".',
  );
}
