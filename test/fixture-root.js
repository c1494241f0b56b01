// A small workshop in a temporary folder, and a way to run the real commands on it.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { rootFolder } from '../lib/lessons/catalog.js';
import { dispatch } from '../lib/cli/dispatch.js';

const main = join(rootFolder, 'lib/cli/main.cjs');

export const starter = `const port = 1;
// #region task
// Task 1: greet.
// #endregion task
console.log(port);
`;
export const solution = starter.replace('// Task 1: greet.', "console.log('hello');");

/** @param {string} slug */
export const about = (slug, { title = `About ${slug}` } = {}) => `title: ${title}
minutes: 20
goal: Know ${slug}.
concepts: [${slug}]
starterFails: [greets]
`;

export const hints =
  '# Hints\n\n## Task 1\n\n### First\n\nnudge\n\n### Second\n\nlook\nit up\n\n### Third\n\nthe answer\n';

/** @param {string} slug */
export function readme(slug) {
  return `# About ${slug}

### Task 1: greet

\`\`\`js file=solutions/${slug}/server.js#task
console.log('hello');
\`\`\`
`;
}

/** A catalogue of one answer, which says another word. */
export const answers = (/** @type {string} */ head, /** @type {string} */ word) =>
  `# Answers\n\n${head}\n\n\`\`\`diff\n-console.log('hello');\n+console.log('${word}');\n\`\`\`\n`;

/** Every part of one lesson, by path. */
export function lessonParts(/** @type {string} */ key) {
  return {
    [`lessons/${key}/README.md`]: readme(key),
    [`lessons/${key}/lesson.yml`]: about(key),
    [`checks/${key}/hints.md`]: hints,
    [`lessons/${key}/server.js`]: starter,
    [`solutions/${key}/server.js`]: solution,
    [`checks/${key}/starter/server.js`]: starter,
    [`checks/${key}/check.js`]: "const tasks = {\n  1: {\n    greets: 'it says hello',\n  },\n};\n",
    [`checks/${key}/experiments.js`]: 'export default [];\n',
    [`slides/${key}/slides.md`]:
      '---\ntitle: One\n---\n\n# Hello {minutes=1}\n\nNote:\n\nSay hello.\n',
    [`checks/${key}/right-answers.md`]: answers('## loud\n\nIt says it loudly.', 'HELLO'),
    [`checks/${key}/wrong-answers.md`]: answers('## mute\n\nBreaks: `greets`\n\nShy.', ''),
  };
}

export const keys = ['01-blocking-server', '02-cluster-fork', '03-scheduling-policies'];

/** @type {string[]} removed when all hooks have run: a program started by a test may write there until it is killed */
const made = [];
process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

/** Makes a root that doctor finds nothing wrong with; its name has a space and a non-ASCII letter. */
export function makeRoot() {
  const folder = mkdtempSync(join(tmpdir(), 'forkshop root ü '));
  made.push(folder);
  for (const key of keys) write(folder, lessonParts(key));
  return folder;
}

/**
 * @param {string} root
 * @param {Record<string, string>} files texts by path
 */
export function write(root, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/**
 * @param {string} root
 * @param {string} path
 */
export function read(root, path) {
  return readFileSync(join(root, path), 'utf8');
}

/**
 * A command's view of the world: a workshop, and no terminal.
 *
 * @param {string} root
 * @param {Record<string, string>} [env]
 */
export const ioOf = (root, env = {}) => ({
  root,
  env,
  stdin: Object.assign(new PassThrough(), { isTTY: false }),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
});

/**
 * Runs a command in this process, for tests with many cases of one command.
 *
 * @param {string} root
 * @param {string[]} argv
 * @param {Record<string, string>} [env] all of it
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export async function dispatched(root, argv, env) {
  const io = ioOf(root, env);
  const code = await dispatch(argv, io);
  const textOf = (/** @type {PassThrough} */ stream) => String(stream.read() ?? '');
  return { code, stdout: textOf(io.stdout), stderr: textOf(io.stderr) };
}

const foreign = /^(npm_|FORKSHOP_|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$|NODE_TEST_CONTEXT$)/;

/**
 * Runs a command as a separate process, piped.
 *
 * @param {string} root
 * @param {string[]} argv
 * @param {Record<string, string>} [env]
 * @returns {Promise<{ code: number | string, stdout: string, stderr: string }>} code: or the signal
 */
export function forkshop(root, argv, env = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const all = { ...Object.fromEntries(inherited), FORKSHOP_ROOT: root, ...env };
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [main, ...argv],
      { env: all },
      (error, stdout, stderr) =>
        done({ code: error?.signal ?? Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end();
  });
}
