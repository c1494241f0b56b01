// Runs the tests: `node test/run.js unit`, `proofs` (test/proofs/; `proofs all` proves every wrong answer), `browser`
// (test/browser/) or `peers` (test/peers/: ours beside other tools).
// A list of its own, because no glob or folder argument of `node --test` works on Node 20, 22 and 24 alike.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [wanted, amount] = process.argv.slice(2);
if (!['unit', 'proofs', 'browser', 'peers'].includes(wanted)) {
  console.error('Say which tests to run: node test/run.js unit, proofs, browser or peers.');
  process.exit(2);
}

const roomOf = (file) => /^(proofs|browser|peers)\b/.exec(file)?.[1] ?? 'unit';

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && !/^fixtures[/\\]/.test(file))
  .filter((file) => roomOf(file) === wanted)
  .sort();
if (files.length === 0) {
  console.error(`There are no ${wanted} in test/: a run that proves nothing is an error.`);
  process.exit(1);
}

// One file at a time: many tests measure time, and neighbours would disturb them.
const { status, signal } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=1',
    '--test-reporter=spec',
    ...files.map((file) => join('test', file)),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, FORKSHOP_PROOFS: amount } },
);
if (signal) console.error(`The tests were ended by ${signal}.`);
process.exit(status ?? 1);
