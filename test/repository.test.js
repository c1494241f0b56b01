// Verifies the repository's own promises: no test is silenced, line endings are LF, the install and its pictures are small.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { drawTerminal } from '../docs/terminal.js';
import { productionPackages } from '../bench/install-size.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const NOT_OURS = new Set(['.git', '.forkshop', '.nitro', '.output', 'coverage', 'node_modules']);
const BINARY = /\.(?:png|webp|ico|woff2|pdf)$/;

/** Every file of the repository, even in a copy without git. @returns {string[]} */
function allFiles(folder = root) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return allFiles(path);
    return entry.isFile() ? [relative(root, path).replaceAll('\\', '/')] : [];
  });
}

const files = allFiles();
const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
/** @param {string[]} among @param {RegExp} pattern */
const linesWith = (among, pattern) =>
  among.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );

test('no test has only, skip or todo', () => {
  const tests = files.filter((file) =>
    /^test\/(?!fixtures\/).*\.js$|^checks\/.*\.check\.js$/.test(file),
  );
  assert.ok(tests.length > 0);
  const calls = /\b(?:test|it|describe|suite|t|context)\.(?:only|skip|todo)\b/;
  const options = /\b(?:only|skip|todo): *(?:true|['"`])/;
  assert.deepEqual(linesWith(tests, calls), []);
  assert.deepEqual(linesWith(tests, options), []);
});

test('no comment switches off coverage or types, and a lint rule only with its reason', () => {
  const code = files.filter((file) => /\.c?js$/.test(file) && !/^test\/fixtures\//.test(file));
  assert.ok(code.length > 0);
  assert.deepEqual(
    linesWith(code, /\/[/*] *(?:c8|v8|istanbul|node:coverage) (?:ignore|disable)/),
    [],
  );
  assert.deepEqual(linesWith(code, /\/[/*]+ *@ts-(?:nocheck|ignore)\b/), []);
  assert.deepEqual(linesWith(code, /\/[/*] *eslint-disable(?!.* -- \w)/), []);
});

test('every line ends with LF', () => {
  const text = files.filter((file) => !BINARY.test(file));
  assert.ok(text.includes('package.json') && text.includes('.ci/run'));
  assert.deepEqual(
    text.filter((file) => read(file).includes('\r')),
    [],
  );
});

test('the workflow runs the line that the README gives to authors, and may only read', () => {
  const { jobs, permissions } = parse(read('.github/workflows/test.yml'));
  const { steps, strategy } = jobs.test;
  const { run: line } = steps.at(-1);
  assert.ok(read('README.md').includes(`\`${line}\` runs the tests`));
  assert.deepEqual(permissions, { contents: 'read' });
  assert.deepEqual(strategy.matrix.node, [22, 24, 26]);
  for (const { uses } of steps) if (uses) assert.match(uses, /^actions\/[\w-]+@v\d+$/);
});

test('the dev container forwards the ports that the README names', () => {
  const { forwardPorts, build } = JSON.parse(read('.devcontainer/devcontainer.json'));
  assert.ok(read(`.devcontainer/${build.dockerfile}`).startsWith('FROM node:'));
  assert.ok(forwardPorts.length > 0);
  for (const port of forwardPorts)
    assert.match(read('README.md'), new RegExp(`127.0.0.1:${port}/`));
});

test('every picture of docs/ is in the README, described, and small', () => {
  const pictures = files.filter((file) => file.startsWith('docs/pictures/'));
  assert.ok(pictures.length > 0);
  const text = read('README.md');
  for (const file of pictures) {
    assert.ok(text.includes(`"${file}"`), file);
    assert.ok(statSync(join(root, file)).size <= 120_000, file);
  }
  for (const [image] of text.matchAll(/<img [^>]*>/g)) assert.match(image, / alt="[^"]{20,}"/);
});

test('a drawing of terminal output keeps its colours, and contains no markup from it', () => {
  const svg = drawTerminal('$ a\n\u001b[1m\u001b[31mbad\u001b[39m <b>\u001b[22m & so', 'a "title"');
  assert.match(svg, /<title>a &quot;title&quot;<\/title>/);
  assert.match(
    svg,
    /<tspan class="bold red">bad<\/tspan><tspan class="bold"> &lt;b&gt;<\/tspan> &amp; so</,
  );
});

test('.ci/run can be executed', { skip: process.platform === 'win32' }, () => {
  assert.ok(statSync(join(root, '.ci/run')).mode & 0o100);
});

test('an install without development packages brings at most 140 packages', () => {
  const count = productionPackages(root).length;
  assert.ok(count > 0 && count <= 140, `package-lock.json lists ${count} packages`);
});

test('no package-lock.json names a registry', () => {
  const locks = files.filter((file) => /(^|\/)package-lock\.json$/.test(file));
  assert.ok(locks.includes('package-lock.json'));
  assert.deepEqual(linesWith(locks, /"resolved": *"http/), []);
});
