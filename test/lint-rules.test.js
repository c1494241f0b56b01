// Verifies that ESLint refuses every import that a folder may not have, and accepts the others. rooms.test.js verifies which
// rooms of lib/ may import which.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { ESLint } from 'eslint';

const root = fileURLToPath(new URL('..', import.meta.url));
const eslint = new ESLint({ cwd: root });
const IMPORT_RULES = new Set(['no-restricted-imports', 'no-restricted-syntax']);

const DOOR = '../../lib/check/checking.js';

const LEARNER = {
  allowed: ['node:cluster', 'express', '#work', './jobs.js', './jobs/heavy.js'],
  refused: [
    ...['autocannon', 'http', '#other', 'express/lib/router', '../02-cluster-fork/server.js'],
    ...['../../lib/check/checking.js', './../server.js', '../work.js', '/etc/passwd', 'eslint'],
  ],
};

/** @type {Record<string, { allowed: string[], refused: string[] }>} */
const ZONES = {
  'lessons/01-blocking-server/server.js': LEARNER,
  'solutions/01-blocking-server/server.js': LEARNER,
  'checks/01-blocking-server/starter/server.js': LEARNER,
  'checks/01-blocking-server/right-answers/plain.js': LEARNER,
  'checks/01-blocking-server/wrong-answers/folder/server.js': LEARNER,
  'solutions/09-shared-state/store.js': {
    allowed: [...LEARNER.allowed, '@redis/client'],
    refused: [...LEARNER.refused, '@redis/other'],
  },
  'checks/01-blocking-server/check.js': {
    allowed: [
      ...['node:test', 'node:assert/strict', DOOR, './looks.js', './demands.js'],
      ...['./looks/deaths.js', './demands/deaths.js'],
    ],
    refused: [
      ...['express', '#work', '../../lib/lessons/catalog.js', '../../lib/observe/runner.js'],
      ...['../../lib/measure/stats.js', '../../solutions/01-blocking-server/server.js'],
      ...['./experiments.js', './looks/../other.js', '../02-cluster-fork/looks.js'],
    ],
  },
  'checks/01-blocking-server/looks.js': {
    allowed: ['node:net', DOOR, './other.js'],
    refused: ['express', '#work', '../../lib/observe/runner.js', '../02-cluster-fork/looks.js'],
  },
  'checks/01-blocking-server/looks/deaths.js': {
    allowed: ['node:net', `../${DOOR}`, './jobs.js'],
    refused: ['express', '#work', '../../../lib/observe/runner.js', '../demands.js', '../check.js'],
  },
  'checks/01-blocking-server/demands/deaths.js': {
    allowed: ['node:os', `../${DOOR}`, './jobs.js', '../looks/jobs.js', '../looks.js'],
    refused: [
      ...['express', '#work', '../../../lib/verdict/outcome.js', '../check.js'],
      ...['../experiments.js', '../looks/../check.js'],
    ],
  },
  'checks/01-blocking-server/experiments.js': {
    allowed: ['node:os', DOOR],
    refused: ['express', '#work', '../../lib/observe/runner.js', '../02-cluster-fork/looks.js'],
  },
  'slides/01-blocking-server/demos.js': {
    allowed: ['node:os', DOOR],
    refused: ['express', '#work', '../../lib/deck/serve.js'],
  },
  'lib/lessons/catalog.js': {
    allowed: [
      'node:fs',
      'yaml',
      '../lib/lessons/lesson-paths.js',
      '../observe/runner.js',
      '../lib/verdict/style.js',
    ],
    refused: ['../observe/../cli/args.js', 'eslint', '../../lessons/work.js', 'fs'],
  },
  'lib/any-new-folder/file.js': {
    allowed: ['node:fs', 'yaml', './other.js', '../lessons/catalog.js', '../observe/runner.js'],
    refused: ['../../lessons/work.js', 'fs', '../a/../cli/x.js'],
  },
  'lib/observe/runner.js': {
    allowed: ['node:child_process', './timeline.js', '../common/files.js'],
    refused: ['autocannon', '../../test/run.js'],
  },
  'lib/observe/client.js': {
    allowed: ['node:http', './clock.js', '../common/child.js'],
    refused: ['node:child_process', 'autocannon'],
  },
  'lib/common/child.js': {
    allowed: ['node:child_process', './tell-parent.js'],
    refused: ['../observe/runner.js', 'yaml'],
  },
  'test/any.test.js': {
    allowed: ['node:test', '../lib/common/child.js', './limits.js'],
    refused: ['node:child_process'],
  },
  'lib/measure/load.js': {
    allowed: ['node:net', 'autocannon', './stats.js', '../observe/runner.js', '../common/files.js'],
    refused: ['node:child_process', '../observe/../cli/x.js'],
  },
  'lib/measure/stats.js': {
    allowed: ['node:util', './intervals.js'],
    refused: [
      'node:fs',
      'node:child_process',
      'autocannon',
      '../observe/runner.js',
      '../lessons/catalog.js',
    ],
  },
  'lib/verdict/style.js': {
    allowed: ['node:util', './promise.js', '../measure/stats.js'],
    refused: [
      ...['node:fs', 'node:fs/promises', 'node:child_process', 'node:net', 'node:http', 'yaml'],
      ...['node:worker_threads', 'node:os', '../measure/load.js', '../observe/runner.js'],
      ...['../cli/args.js', '../lessons/catalog.js'],
    ],
  },
  'lib/xray/look.js': {
    allowed: ['node:fs', './facts.js', '../observe/runner.js', '../measure/load.js'],
    refused: ['express', 'yaml', '../../test/run.js'],
  },
  'lib/xray/report/findings.js': {
    allowed: ['./facts.js', '../../measure/load-report.js', '../../observe/timeline.js'],
    refused: ['node:fs', '../look.js', '../../observe/runner.js', '../../measure/load.js', 'yaml'],
  },
  'lib/web/server.js': {
    allowed: [
      'node:http',
      'markdown-it',
      './page.js',
      '../lessons/catalog.js',
      '../observe/runner.js',
    ],
    refused: ['eslint', '../../lessons/work.js'],
  },
  'lib/web/client/xray.js': {
    allowed: ['./lanes.js'],
    refused: ['node:fs', 'yaml', '../server.js', '../../verdict/style.js'],
  },
  'lib/deck/client/deck.js': {
    allowed: ['./demo.js', '../../web/client/elements.js', '../../reveal/reveal.mjs'],
    refused: ['node:fs', 'yaml', '../serve.js', '../../learner/client/verdict.js'],
  },
  'lib/cli/commands/check.js': {
    allowed: ['node:fs', 'yaml', 'diff', './try.js', '../args.js', '../../lessons/catalog.js'],
    refused: ['eslint', '../../../test/run.js', '../../../solutions/01-blocking-server/server.js'],
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

test('CommonJS answers are held to the same imports', async () => {
  const file = 'checks/02-cluster-fork/right-answers/commonjs.cjs';
  assert.equal(await complaints("require('node:cluster'); require('express');", file), 0);
  for (const name of LEARNER.refused)
    assert.equal(await complaints(`require('${name}');`, file), 1, `${file} accepts ${name}`);
});

test('main.cjs is ES5, and requires only what every Node has', async () => {
  const file = 'lib/cli/main.cjs';
  assert.equal(
    await complaints("require('fs'); require('path'); require('./dispatch.js');", file),
    0,
  );
  for (const name of ['node:fs', 'yaml', './check.js'])
    assert.equal(await complaints(`require('${name}');`, file), 1, `${file} accepts ${name}`);
  await assert.rejects(complaints('const modern = 1;', file), /reserved/);
});

test('a computed name does not bypass the rule where the rule is strict', async () => {
  for (const file of [
    ...['lessons/work.js', 'lib/verdict/style.js', 'checks/01-x/check.js'],
    ...['checks/01-x/looks.js', 'checks/01-x/demands.js', 'slides/01-x/demos.js'],
  ])
    for (const code of ["await import('node:' + 'fs');", 'await import(`node:fs`);'])
      assert.equal(await complaints(code, file), 1, `${file} accepts: ${code}`);
});

test('every folder of code has an import rule', async () => {
  for (const folder of [
    ...['lessons/1', 'solutions/1', 'checks/1/starter', 'checks/1/wrong-answers'],
    ...['checks/1/looks', 'checks/1/demands'],
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
