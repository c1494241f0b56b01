import { parse } from 'yaml';
import { UsageError } from '../common/usage-error.js';

/** What a lesson may need beside `npm ci`; lib/tools/tools.js finds each. @typedef {'nginx' | 'redis' | 'nitropack' | 'vegeta'} Tool */

/** @type {Tool[]} */
export const toolNames = ['nginx', 'redis', 'nitropack', 'vegeta'];

const isText = (/** @type {unknown} */ value) => typeof value === 'string' && value.trim() !== '';
const isTextList = (/** @type {unknown} */ value) =>
  Array.isArray(value) && value.length > 0 && value.every(isText);

const isTool = (/** @type {any} */ value) => toolNames.includes(value);

const PREDICTED = ['ms', 's', 'times'];

const fields = {
  title: [isText, 'text'],
  minutes: [(value) => Number.isFinite(value) && value > 0, 'a number of minutes, such as 30'],
  goal: [isText, 'text'],
  concepts: [isTextList, 'a list of texts'],
  starterFails: [isTextList, 'a list of promise ids'],
  predicts: [
    (value) => value === undefined || PREDICTED.includes(value),
    `left out, or one of ${PREDICTED.join(', ')}`,
  ],
  needs: [
    (value) => value === undefined || (isTextList(value) && value.every(isTool)),
    `left out, or a list of ${toolNames.join(', ')}`,
  ],
};

const howToMend = 'Fix it there; text with a colon needs quotes around it.';

/**
 * @typedef {{ title: string, minutes: number, goal: string, concepts: string[], starterFails: string[], predicts?: 'ms' | 's' | 'times',
 *   needs?: Tool[] }} LessonYml  starterFails: promises that the starter breaks; predicts: the prediction's unit
 */

/** Drops unknown fields. @param {string} source @param {string} file  for messages @throws {UsageError}  with every invalid field */
export function parseLessonYml(source, file) {
  const given = parseYaml(source, file);
  const names = Object.keys(fields);
  const wrong = names.filter((name) => !fields[name][0](given[name]));
  if (wrong.length === 0)
    return /** @type {any} */ (Object.fromEntries(names.map((name) => [name, given[name]])));
  const rules = wrong.map((name) => `${name} must be ${fields[name][1]}`).join('; ');
  throw new UsageError(`${file} is not right: ${rules}.`, howToMend);
}

/** @param {string} source @param {string} file  for messages @returns {Record<string, any>} @throws {UsageError} */
export function parseYaml(source, file) {
  try {
    return parse(source, { logLevel: 'error' }) ?? {};
  } catch (/** @type {any} */ error) {
    const [reason] = error.message.split('\n');
    throw new UsageError(`${file} is not YAML: ${reason}`, howToMend);
  }
}
