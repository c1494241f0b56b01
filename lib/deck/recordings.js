/** The demos of a chapter, in its demos.js, and what was recorded of them, in its recordings/. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chapterKeys } from '../lessons/catalog.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { conditionsNow } from '../measure/conditions.js';
import { having, isNumber, isText, listOf, parseAs } from '../common/shape.js';
import { UsageError } from '../common/usage-error.js';
import { spotDemos } from './spots.js';
import { perform } from './perform-demo.js';

/**
 * @param {string} root
 * @returns {Promise<(import('./perform-demo.js').Demo & { key: string })[]>}  those of all chapters, with their keys
 */
export async function readDemos(root) {
  const chapters = chapterKeys(root)
    .map((key) => ({ key, file: join(root, lessonPaths(key).demos) }))
    .filter(({ file }) => existsSync(file));
  const demos = await Promise.all(
    chapters.map(async ({ key, file }) => {
      const module = await import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`); // as it is saved now
      return module.default.map((demo) => ({ ...demo, key }));
    }),
  );
  return [...demos.flat(), ...spotDemos(root)];
}

/**
 * Performs demos and writes each down, in the recordings/ of its chapter.
 * @param {{ root: string, name?: string, say: (line: string) => void }} options  name: this demo only
 * @returns {Promise<string[]>}  the demos that failed, or that ran on a crowded machine: those are not written down
 */
export async function recordDemos({ root, name, say }) {
  const demos = (await readDemos(root)).filter((demo) => name === undefined || demo.name === name);
  if (demos.length === 0)
    throw new UsageError(`There is no demo ${name}.`, 'The demos.js of each chapter has them.');
  const failed = [];
  for (const demo of demos) {
    const messages = await record(demo, root);
    const error = messages.at(-1).end.error ?? messages.find(({ doubt }) => doubt)?.doubt;
    if (error) failed.push(demo.name);
    else writeRecording(recordingOf(root, demo.key, demo.name), messages);
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

const recordingOf = (root, key, name) => join(root, 'slides', key, 'recordings', `${name}.json`);

function writeRecording(file, messages) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `[\n${messages.map((message) => JSON.stringify(message)).join(',\n')}\n]\n`);
}

/**
 * What was recorded, by the demo's name.
 * @param {string} root
 * @param {import('./read-deck.js').Chapter[]} chapters
 * @returns {Record<string, any[]>}
 * @throws {UsageError}  that names the demo which has no recording
 */
export function readRecordings(root, chapters) {
  const pairs = chapters.flatMap(({ key, slides }) =>
    slides.flatMap(({ demos }) => demos.map((name) => ({ key, name }))),
  );
  return Object.fromEntries(pairs.map(({ key, name }) => [name, readRecording(root, key, name)]));
}

/**
 * What was recorded of one demo.
 * @param {string} root
 * @param {string} name  as somebody asks for it
 * @returns {any[] | undefined}  undefined when there is none
 */
export function findRecording(root, name) {
  if (!/^[\w-]+$/.test(name)) return undefined; // no way out of the folders of recordings
  const key = chapterKeys(root).find((one) => existsSync(recordingOf(root, one, name)));
  return key && readRecording(root, key, name);
}

const isMade = having({
  recorded: having({ cpu: isText, cores: isNumber, node: isText, date: isText }),
});

/** @type {import('../common/shape.js').Shape} what record() writes */
const isRecording = (value) =>
  listOf(having({ at: isNumber }))(value) && isMade(/** @type {any[]} */ (value)[0]);

function readRecording(root, key, name) {
  const file = recordingOf(root, key, name);
  const isThere = existsSync(file);
  const recording = isThere && parseAs(readFileSync(file, 'utf8'), isRecording);
  if (recording) return recording;
  throw new UsageError(
    isThere ? `${file} is no recording.` : `The demo ${name} has no recording.`,
    `Record it: npm run slides -- --record ${name}`,
  );
}
