/** The demos of slides/demos/, and what was recorded of them, in slides/recordings/. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesBelow, keyPattern } from '../catalog.js';
import { conditionsNow } from '../measure/conditions.js';
import { UsageError } from '../usage-error.js';
import { perform } from './stage.js';

/**
 * @param {string} root
 * @returns {Promise<import('./stage.js').Demo[]>}  those of slides/demos/NN-slug.js
 */
export async function readDemos(root) {
  const folder = join(root, 'slides/demos');
  const names = filesBelow(folder).filter((name) => keyPattern.test(name.replace(/\.js$/, '')));
  const modules = await Promise.all(
    names.map((name) => {
      const file = join(folder, name);
      return import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`); // as it is saved now
    }),
  );
  return modules.flatMap((module) => module.default);
}

/**
 * Performs demos and writes each down, in slides/recordings/.
 * @param {{ root: string, name?: string, say: (line: string) => void }} options  name: this demo only
 * @returns {Promise<string[]>}  the demos that failed
 */
export async function recordDemos({ root, name, say }) {
  const demos = (await readDemos(root)).filter((demo) => name === undefined || demo.name === name);
  if (demos.length === 0)
    throw new UsageError(`There is no demo ${name}.`, 'slides/demos/ has them.');
  const failed = [];
  for (const demo of demos) {
    const messages = await record(demo, root);
    const { error } = messages.at(-1).end;
    if (error) failed.push(demo.name);
    else writeRecording(root, demo.name, messages);
    say(error ? `${demo.name} failed: ${error}` : `${demo.name}: ${messages.length} messages`);
  }
  return failed;
}

/** @returns {Promise<any[]>} */
async function record(demo, root) {
  const since = performance.now();
  const { cpu, cores, node } = conditionsNow();
  const date = new Date().toISOString().slice(0, 10);
  const messages = [{ at: 0, recorded: { cpu, cores, node, date } }];
  const send = (message) =>
    messages.push({ at: Math.round(performance.now() - since), ...message });
  await perform(demo, { root, send, signal: new AbortController().signal });
  return messages;
}

function writeRecording(root, name, messages) {
  const file = join(root, 'slides/recordings', `${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `[\n${messages.map((message) => JSON.stringify(message)).join(',\n')}\n]\n`);
}

/**
 * What was recorded, by the demo's name.
 * @param {string} root
 * @param {import('./deck.js').Chapter[]} chapters
 * @returns {Record<string, any[]>}
 * @throws {UsageError}  that names the demo which has no recording
 */
export function readRecordings(root, chapters) {
  const names = chapters.flatMap(({ slides }) => slides.flatMap(({ demos }) => demos));
  return Object.fromEntries(names.map((name) => [name, readRecording(root, name)]));
}

function readRecording(root, name) {
  const file = join(root, 'slides/recordings', `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  throw new UsageError(
    `The demo ${name} has no recording.`,
    `Record it: npm run slides -- --record ${name}`,
  );
}
