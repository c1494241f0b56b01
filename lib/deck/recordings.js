/** Reads the demos of each chapter from its demos.js, and records them in its recordings/. */
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

/** @param {string} root  @returns {Promise<(import('./perform-demo.js').Demo & { key: string })[]>}  key: of its chapter */
export async function readDemos(root) {
  const chapters = chapterKeys(root)
    .map((key) => ({ key, file: join(root, lessonPaths(key).demos) }))
    .filter(({ file }) => existsSync(file));
  const demos = await Promise.all(
    chapters.map(async ({ key, file }) => {
      const module = await import(`${pathToFileURL(file).href}?${statSync(file).mtimeMs}`); // not a cached version
      return module.default.map((demo) => ({ ...demo, key }));
    }),
  );
  return [...demos.flat(), ...spotDemos(root)];
}

/**
 * Performs and records demos.
 * @param {{ root: string, name?: string, say: (line: string) => void }} options  name: this demo only
 * @returns {Promise<string[]>}  the demos that were not recorded: they failed, or the machine was crowded
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
 * The recordings of these chapters, by the demo's name.
 * @param {string} root  @param {import('./read-deck.js').Chapter[]} chapters
 * @returns {Record<string, any[]>}  @throws {UsageError}  if a recording is missing
 */
export function readRecordings(root, chapters) {
  const pairs = chapters.flatMap(({ key, slides }) =>
    slides.flatMap(({ demos }) => demos.map((name) => ({ key, name }))),
  );
  return Object.fromEntries(pairs.map(({ key, name }) => [name, readRecording(root, key, name)]));
}

/** The recording of one demo, if any. @param {string} root  @param {string} name  from a request  @returns {any[] | undefined} */
export function findRecording(root, name) {
  if (!/^[\w-]+$/.test(name)) return undefined; // no path out of recordings/
  const key = chapterKeys(root).find((one) => existsSync(recordingOf(root, one, name)));
  return key && readRecording(root, key, name);
}

const isMade = having({
  recorded: having({ cpu: isText, cores: isNumber, node: isText, date: isText }),
});

/** @type {import('../common/shape.js').Shape} */
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
