/**
 * Builds lesson 11's applications with the nitropack of lessons/11-nitro and copies them to a folder where they can run. Nothing is
 * written beside the learner's files. .forkshop/nitro caches each build by a hash of its sources; server.js isn't among them.
 * @typedef {import('../observe/program.js').Program} Program @typedef {import('../observe/program.js').StartOptions} StartOptions
 * @typedef {{ command: string, code: number, output: string, outputs: Output[] }} Build  one run of `nitropack build`; command: as typed
 *   in a shell; outputs: what it wrote, even if the next build removed that, empty if it failed
 * @typedef {{ preset: string, folder: string, server: string }} Output  preset: by its nitro.json; folder: relative to the program's
 *   folder, such as .output/node-cluster; server: absolute path of its index.mjs
 * @typedef {{ builds: Build[], outputs: Output[], entry: string }} Built  builds: as configured, and with the preset node-server;
 *   outputs: left after both, none if one failed; entry: absolute path of the copied program, beside the outputs
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { filesBelow, rootFolder } from '../lessons/catalog.js';
import { hasCode, isFile, readIfThere } from '../common/files.js';
import { having, isCount, isText, parseAs } from '../common/shape.js';
import { findEntry } from '../lessons/program-entry.js';
import { demandTool, findTool } from './tools.js';
import { shortageIn } from '../observe/shortage.js';
import { Undecided } from '../verdict/outcome.js';

const KEY = '11-nitro';
const lessonFolder = join(rootFolder, 'lessons', KEY);
const workFile = join(rootFolder, 'lessons/work.js');
const COMMANDS = [
  { command: 'nitropack build', env: {} },
  { command: 'NITRO_PRESET=node-server nitropack build', env: { NITRO_PRESET: 'node-server' } },
];
const ENVIRONMENT = { NODE_OPTIONS: '', NO_COLOR: '1', JITI_FS_CACHE: 'false' }; // no probe, no other cache
const DOING = 'Nitro is building the application, which takes a while.';
const DEADLINE_MS = 40_000;
const MOST_KEPT = 30; // builds, and that many runs; each has less than 2 MB
const LONGEST_MS = 10 * 60_000; // no build takes that long
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;
const ENTRY = /^server\.[cm]?js$/;

/**
 * Builds with both commands, unless the cache has them, and copies the program and the builds to a folder for running.
 * @param {(options: import('../check/programs.js').LaunchOptions & { entry: string }) => Promise<Program>} start
 * @param {string} place  the learner's folder or another program; other places take the files they lack from the solution
 * @param {{ manifest?: string, cache?: string }} [options]  manifest: nitropack's package.json; cache: the builds' folder
 * @returns {Promise<Built>}
 * @throws {import('../verdict/outcome.js').Broken | Undecided | import('../observe/shortage.js').Shortage}  Broken without a program;
 *   Undecided without nitropack, or when a build was killed or took too long; Shortage when it ran out of open files, for example
 */
export async function buildNitro(
  start,
  place,
  { manifest = demandTool('nitropack'), cache = join(rootFolder, '.forkshop/nitro') } = {},
) {
  const { entry, program, sources, key, folders } = planOf(place, { manifest, cache });
  const buildOne = async (what, index) =>
    readBuild(folders[index]) ?? buildInto(folders[index], { ...what, start, manifest, sources });
  const settled = await Promise.allSettled(COMMANDS.map(buildOne)); // wait for both, even if one fails
  const builds = settled.map((one, index) => {
    if (one.status === 'rejected') throw one.reason;
    return { ...one.value, outputs: one.value.code === 0 ? outputsIn(folders[index]) : [] };
  });
  if (builds.some(({ code }) => code !== 0)) return { builds, outputs: [], entry };
  const edition = hashOf([], new Map([[program.name, program.bytes]]));
  const run = join(cache, 'runs', `${key}-${edition}`);
  if (!existsSync(run)) copyForRun(folders, run, program);
  for (const folder of [...folders, run]) touch(folder);
  forgetOld(cache);
  return { builds, outputs: outputsIn(run), entry: join(run, program.name) };
}

/** Does the cache have both builds? @param {string} place @returns {boolean}  false without nitropack */
export function isNitroBuilt(place) {
  const manifest = findTool('nitropack');
  if (!manifest) return false;
  const { folders } = planOf(place, { manifest, cache: join(rootFolder, '.forkshop/nitro') });
  return folders.every((folder) => readBuild(folder) !== undefined);
}

function planOf(place, { manifest, cache }) {
  const entry = findEntry(place);
  const program = { name: `server${extname(entry)}`, bytes: readFileSync(entry) };
  const sources = sourcesOf(place, program);
  const key = hashOf([manifest, import.meta.filename, workFile], sources);
  const folders = COMMANDS.map((_, index) => join(cache, 'builds', `${key}-${index}`));
  return { entry, program, sources, key, folders };
}

/** The sources of a build, by name; server.js only if another file mentions it. @returns {Map<string, Buffer>} */
function sourcesOf(place, program) {
  const own = statSync(place).isDirectory() ? sourceNames(place) : [];
  const stems = new Set(own.map(withoutExtension));
  const isOwn = place === lessonFolder;
  const lent = isOwn ? [] : sourceNames(join(rootFolder, 'solutions', KEY));
  const missing = lent.filter((name) => !stems.has(withoutExtension(name)));
  const sources = new Map([
    ['package.json', readFileSync(join(lessonFolder, 'package.json'))],
    ...missing.map((name) => read(join(rootFolder, 'solutions', KEY), name)),
    ...own.map((name) => read(place, name)),
  ]);
  const isNamed = [...sources.values()].some((bytes) => bytes.includes(program.name));
  if (isNamed) sources.set(program.name, program.bytes);
  return sources;
}

const sourceNames = (folder) =>
  filesBelow(folder).filter(
    (name) =>
      SOURCE.test(name) &&
      !ENTRY.test(name) &&
      name !== 'package-lock.json' &&
      isFile(join(folder, name)),
  );
const withoutExtension = (name) => name.slice(0, -extname(name).length);
/** @returns {[string, Buffer]} */
const read = (folder, name) => [name, readFileSync(join(folder, name))];

function hashOf(files, sources) {
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(readFileSync(file));
  for (const name of [...sources.keys()].sort())
    hash.update(`\0${name}\0`).update(sources.get(name));
  return hash.digest('hex').slice(0, 12);
}

/** A corrupt build.json is deleted, and the build repeated. @returns {Omit<Build, 'outputs'> | undefined} */
function readBuild(folder) {
  const text = readIfThere(join(folder, 'build.json'));
  if (text === undefined) return undefined;
  const build = parseAs(text, having({ command: isText, code: isCount, output: isText }));
  if (!build) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return build;
}

/**
 * Builds in a draft folder and renames it at the end, so that no other check finds half a build. The draft lies in the repository's
 * layout, which is removed afterwards: an application that left '#work' outside its build must not find it later.
 */
async function buildInto(folder, { start, manifest, sources, command, env }) {
  const around = `${folder}.${randomUUID()}`;
  const draft = join(around, 'lessons', KEY);
  const entry = join(dirname(manifest), 'dist/cli/index.mjs');
  const shown = { named: command, doing: DOING };
  linkPackages(dirname(dirname(manifest)), join(dirname(folder), '../node_modules'));
  write(dirname(draft), new Map([['work.js', readFileSync(workFile)]]));
  write(draft, sources);
  try {
    const options = {
      entry,
      args: ['build'],
      cwd: draft,
      env: { ...ENVIRONMENT, ...env },
      ...shown,
    };
    const build = { command, ...(await outcomeOf(await start(options), draft)) };
    if (build.code !== 0) return build;
    writeFileSync(join(draft, 'build.json'), JSON.stringify(build));
    publish(draft, folder);
    return build;
  } finally {
    rmSync(around, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Lets a configuration or route import packages by name (nitropack/config, h3). */
function linkPackages(packages, link) {
  if (existsSync(link)) return;
  try {
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(packages, link, 'junction');
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error; // another check was quicker
  }
}

async function outcomeOf(program, folder) {
  const fate = await program.ended(DEADLINE_MS).finally(() => program.stop());
  const output = program.output().replaceAll(`${folder}/`, '');
  const shortage = fate?.code !== 0 && shortageIn(output);
  if (shortage) throw shortage;
  if (typeof fate?.code === 'number') return { code: fate.code, output };
  throw new Undecided({
    got: fate
      ? `nitropack build was killed by ${fate.signal ?? fate.of ?? fate.kind}.`
      : `nitropack build was not finished after ${DEADLINE_MS / 1_000} s.`,
    why: 'A build takes a few seconds of CPU time, and the machine is busy.',
    try: 'npm run check lesson-11, when it is less busy',
  });
}

/** No program can spoil the cache. The second build empties its output folder first, as it would have done in the same place. */
function copyForRun(folders, run, program) {
  const [first, second] = folders;
  const draft = `${run}.${randomUUID()}`;
  const isWanted = (file) => !['.nitro', 'build.json'].includes(basename(file));
  cpSync(first, draft, { recursive: true, filter: isWanted });
  for (const { folder } of outputsIn(second)) {
    rmSync(join(draft, folder), { recursive: true, force: true });
    cpSync(join(second, folder), join(draft, folder), { recursive: true });
  }
  write(draft, new Map([[program.name, program.bytes]]));
  publish(draft, run);
}

/** If another check has published the same folder, the draft is dropped. */
function publish(draft, folder) {
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'ENOTEMPTY', 'EPERM')) throw error;
    rmSync(draft, { recursive: true, force: true, maxRetries: 3 });
  }
}

function write(folder, files) {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
}

/** Each build writes a nitro.json with its preset. @returns {Output[]} */
function outputsIn(run) {
  return readdirSync(run, { recursive: true, encoding: 'utf8' })
    .filter((name) => basename(name) === 'nitro.json')
    .flatMap((name) => {
      const text = readFileSync(join(run, name), 'utf8');
      const nitro = parseAs(text, having({ preset: isText }));
      const folder = dirname(name);
      const server = join(run, folder, 'server/index.mjs');
      return nitro ? [{ preset: nitro.preset, folder, server }] : [];
    });
}

const mtimeMs = (folder) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const touch = (folder) => utimesSync(folder, new Date(), new Date());

/** Keeps the most recently used folders, and drafts that may still be in use. */
function forgetOld(cache) {
  for (const kind of ['builds', 'runs']) {
    const folders = readdirSync(join(cache, kind)).map((name) => join(cache, kind, name));
    const usedMs = new Map(folders.map((folder) => [folder, mtimeMs(folder)]));
    folders.sort((a, b) => Number(usedMs.get(b)) - Number(usedMs.get(a)));
    const whole = folders.filter((folder) => !basename(folder).includes('.'));
    const kept = new Set(whole.slice(0, MOST_KEPT));
    for (const folder of folders) {
      const isDraft = basename(folder).includes('.');
      const isOld = Date.now() - Number(usedMs.get(folder)) > LONGEST_MS;
      if (isDraft ? isOld : !kept.has(folder)) rmSync(folder, { recursive: true, force: true });
    }
  }
}
