// Verifies that ESLint refuses every import that DESIGN.md forbids and accepts what it allows.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { ESLint } from 'eslint';

const root = fileURLToPath(new URL('..', import.meta.url));
const eslint = new ESLint({ cwd: root });
const IMPORT_RULES = new Set(['no-restricted-imports', 'no-restricted-syntax']);

const LEARNER = {
  allowed: ['node:cluster', 'express', '#work', './jobs.js', './jobs/heavy.js'],
  refused: [
    ...['autocannon', 'http', '#other', 'express/lib/router', '../02-cluster-fork/server.js'],
    ...['../../lib/checking.js', './../server.js', '../work.js', '/etc/passwd', 'eslint'],
  ],
};

/** @type {Record<string, { allowed: string[], refused: string[] }>} */
const ZONES = {
  'lessons/01-blocking-server/server.js': LEARNER,
  'solutions/01-blocking-server/server.js': LEARNER,
  'checks/starters/01-blocking-server/server.js': LEARNER,
  'checks/submissions/01-blocking-server/accept-plain.js': LEARNER,
  'checks/submissions/01-blocking-server/reject-folder/server.js': LEARNER,
  'checks/01-blocking-server.check.js': {
    allowed: [
      ...['node:test', 'node:assert/strict', '../lib/checking.js'],
      ...['./looks/01-blocking-server.js', './demands/01-blocking-server.part.js'],
    ],
    refused: [
      ...['express', '#work', '../lib/catalog.js', '../lib/observe/run.js', './other.check.js'],
      ...['../lib/measure/stats.js', '../solutions/01-blocking-server/server.js'],
      ...['./experiments/01-blocking-server.js', './looks/../other.check.js'],
    ],
  },
  'checks/looks/01-blocking-server.js': {
    allowed: ['node:net', '../../lib/checking.js', './01-blocking-server.part.js'],
    refused: [
      ...['express', '#work', '../../lib/observe/run.js', '../01-blocking-server.check.js'],
      ...['../demands/01-blocking-server.js', './../demands/01-blocking-server.js'],
    ],
  },
  'checks/demands/01-blocking-server.js': {
    allowed: [
      ...['node:os', '../../lib/checking.js', './01-blocking-server.part.js'],
      '../looks/01-blocking-server.js',
    ],
    refused: [
      ...['express', '#work', '../../lib/verdict/outcome.js', '../01-blocking-server.check.js'],
      ...['../experiments/01-blocking-server.js', '../looks/../01-blocking-server.check.js'],
    ],
  },
  'lib/catalog.js': {
    allowed: ['node:fs', 'yaml', './checking.js', './observe/run.js', './verdict/style.js'],
    refused: [
      './cli/args.js',
      './web/server.js',
      './observe/../cli/args.js',
      'eslint',
      '../lessons/work.js',
      'fs',
    ],
  },
  'lib/any-new-folder/file.js': {
    allowed: ['node:fs', 'yaml', './other.js', '../catalog.js', '../observe/run.js'],
    refused: [
      '../cli/args.js',
      '../web/server.js',
      '../../lessons/work.js',
      'fs',
      '../a/../cli/x.js',
    ],
  },
  'lib/observe/run.js': {
    allowed: ['node:child_process', './timeline.js', '../catalog.js'],
    refused: [
      ...['../measure/stats.js', '../measure/load.js', '../cli/args.js', '../web/server.js'],
      ...['autocannon', '../verdict/style.js', '../checking.js', '../../test/run.js'],
    ],
  },
  'lib/measure/load.js': {
    allowed: ['node:net', 'autocannon', './stats.js', '../observe/run.js', '../catalog.js'],
    refused: ['../cli/args.js', '../web/server.js', '../checking.js', '../observe/../cli/x.js'],
  },
  'lib/measure/stats.js': {
    allowed: ['node:util', './intervals.js'],
    refused: ['node:fs', 'node:child_process', 'autocannon', '../observe/run.js', '../catalog.js'],
  },
  'lib/verdict/style.js': {
    allowed: ['node:util', './promise.js', '../measure/stats.js'],
    refused: [
      ...['node:fs', 'node:fs/promises', 'node:child_process', 'node:net', 'node:http', 'yaml'],
      ...['node:worker_threads', 'node:os', '../measure/load.js', '../observe/run.js'],
      ...['../cli/args.js', '../catalog.js'],
    ],
  },
  'lib/web/server.js': {
    allowed: ['node:http', 'markdown-it', './page.js', '../catalog.js', '../observe/run.js'],
    refused: ['../cli/args.js', 'eslint', '../../lessons/work.js'],
  },
  'lib/web/client/xray.js': {
    allowed: ['./lanes.js'],
    refused: ['node:fs', 'yaml', '../server.js', '../../verdict/style.js'],
  },
  'lib/cli/check.js': {
    allowed: ['node:fs', 'yaml', 'diff', './args.js', '../catalog.js', '../web/server.js'],
    refused: ['eslint', '../../test/run.js', '../../solutions/01-blocking-server/server.js'],
  },
  'test/args.test.js': {
    allowed: ['node:test', 'eslint', 'yaml', '../lib/cli/args.js', './helpers.js'],
    refused: ['not-declared', 'fs'],
  },
};

/** @param {string} code @param {string} filePath */
async function complaints(code, filePath) {
  const [{ messages }] = await eslint.lintText(code, { filePath: `${root}/${filePath}` });
  const fatal = messages.find((message) => message.fatal);
  assert.equal(fatal, undefined, fatal?.message);
  return messages.filter(({ ruleId }) => IMPORT_RULES.has(String(ruleId))).length;
}

/** @param {string} name */
const everyForm = (name) => [
  `import '${name}';`,
  `import x from '${name}';\nx();`,
  `export * from '${name}';`,
  `export { x } from '${name}';`,
  `await import('${name}');`,
  `import { createRequire } from 'node:module';\nconst require = createRequire('/');\nrequire('${name}');`,
];

for (const [file, { allowed, refused }] of Object.entries(ZONES)) {
  test(`${file} may import ${allowed.join(', ')}`, async () => {
    for (const name of allowed)
      for (const code of everyForm(name).slice(0, 5))
        assert.equal(await complaints(code, file), 0, `${file} refuses: ${code}`);
  });
  test(`${file} may not import ${refused.join(', ')}`, async () => {
    for (const name of refused)
      for (const code of everyForm(name))
        assert.notEqual(await complaints(code, file), 0, `${file} accepts: ${code}`);
  });
}

test('CommonJS submissions are held to the same imports', async () => {
  const file = 'checks/submissions/02-cluster-fork/accept-commonjs.cjs';
  assert.equal(await complaints("require('node:cluster'); require('express');", file), 0);
  for (const name of LEARNER.refused)
    assert.equal(await complaints(`require('${name}');`, file), 1, `${file} accepts ${name}`);
});

test('main.cjs is ES5, and requires what every Node has', async () => {
  const file = 'lib/cli/main.cjs';
  assert.equal(
    await complaints("require('fs'); require('path'); require('./dispatch.js');", file),
    0,
  );
  for (const name of ['node:fs', 'yaml', './check.js'])
    assert.equal(await complaints(`require('${name}');`, file), 1, `${file} accepts ${name}`);
  await assert.rejects(complaints('const modern = 1;', file), /reserved/);
});

test('a computed name is no way around the rule where the rule is strict', async () => {
  for (const file of [
    ...['lessons/work.js', 'lib/verdict/style.js', 'checks/01-x.check.js'],
    ...['checks/looks/01-x.js', 'checks/demands/01-x.js'],
  ])
    for (const code of ["await import('node:' + 'fs');", 'await import(`node:fs`);'])
      assert.equal(await complaints(code, file), 1, `${file} accepts: ${code}`);
});

test('every folder of code has an import rule', async () => {
  for (const folder of [
    ...['lessons/1', 'solutions/1', 'checks/starters/1', 'checks/submissions/1'],
    ...['checks/looks', 'checks/demands', 'checks/experiments'],
  ])
    assert.equal(await complaints("import 'left-pad';", `${folder}/any.js`), 1, folder);
  for (const folder of [
    'lib',
    'lib/new',
    'lib/observe',
    'lib/measure',
    'lib/verdict',
    'lib/cli',
    'lib/web',
  ])
    assert.equal(await complaints("import 'left-pad';", `${folder}/any.js`), 1, folder);
});
