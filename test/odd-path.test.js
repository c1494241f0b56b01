// Verifies that programs are observed as usual if the path of the repository has line breaks, tabs and quotes in it:
// NODE_OPTIONS, which names the probe, has its own escapes.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { spawnSync } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { limitMs } from './limits.js';

test('a program is observed wherever the repository lies', (t) => {
  const around = mkdtempSync(join(tmpdir(), 'forkshop-path-'));
  t.after(() => rmSync(around, { recursive: true, force: true }));
  const root = join(around, 'a\nb\t"c d');
  mkdirSync(root);
  for (const name of ['lib', 'package.json'])
    cpSync(join(rootFolder, name), join(root, name), { recursive: true });
  symlinkSync(join(rootFolder, 'node_modules'), join(root, 'node_modules'));
  const entry = join(around, 'server.js');
  writeFileSync(entry, "require('http').createServer().listen(process.env.PORT);");
  writeFileSync(
    join(root, 'look.js'),
    `import { createRunner } from './lib/observe/runner.js';
    const runner = createRunner();
    const program = await runner.start({ entry: ${JSON.stringify(entry)} });
    await program.ready(1);
    console.log([...new Set(program.events.map(({ what }) => what))].join(), program.output());
    await runner.close();`,
  );
  const options = /** @type {const} */ ({ encoding: 'utf8', timeout: limitMs(15) });
  const { stdout, stderr } = spawnSync(process.execPath, [join(root, 'look.js')], options);
  assert.equal(stderr, '');
  assert.match(stdout, /^start,.*\blistening\b\S* \n$/);
});
