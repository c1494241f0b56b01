// How long a learner waits from saving a file to the verdict under `npm start`: node bench/save-to-verdict.js [TIMES]
// The bar, on an idle machine with 2 cores, medians of 10: a wrong behaviour 1 s, a passing lesson 2 4 s.
import { cpSync, copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnOurs } from '../lib/common/child.js';
import { wrongAnswer } from '../lib/lessons/answer-programs.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';
import { quantile } from '../lib/measure/stats.js';
import { countGiven } from './argument.js';

const times = countGiven(1, 10, 'saves');
const key = '02-cluster-fork';
const { starter, solution } = lessonPaths(key);
const cases = {
  'the starter': join(rootFolder, starter, 'server.js'),
  'one worker too many': wrongAnswer(key, 'one-too-many'),
  'the solution': join(rootFolder, solution, 'server.js'),
};

const copy = mkdtempSync(join(tmpdir(), 'forkshop-bench-'));
for (const part of ['lessons', 'solutions', 'checks', 'lib', 'package.json']) {
  cpSync(join(rootFolder, part), join(copy, part), { recursive: true });
}
symlinkSync(join(rootFolder, 'node_modules'), join(copy, 'node_modules'));
const child = spawnOurs(['lib/cli/main.cjs', 'start'], { cwd: copy });
let output = '';
child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
await shows('whenever you save');
for (const [name, file] of Object.entries(cases)) {
  const seconds = [];
  for (let count = 0; count < times; count += 1) {
    output = '';
    const since = performance.now();
    copyFileSync(file, join(copy, 'lessons', key, 'server.js'));
    await shows('waiting for the next save');
    seconds.push((performance.now() - since) / 1000);
  }
  const verdict = /^(Passed|Not yet|Undecided)/m.exec(output)?.[0];
  const [median, most] = [quantile(seconds, 0.5), Math.max(...seconds)].map((one) =>
    one.toFixed(2),
  );
  console.log(`${name} (${verdict}): median ${median} s, most ${most} s, ${times} times`);
}
child.kill('SIGINT');
await new Promise((resolve) => child.once('exit', resolve));
rmSync(copy, { recursive: true });

async function shows(text) {
  while (!output.toLowerCase().includes(text))
    await new Promise((resolve) => child.stdout.once('data', resolve));
}
