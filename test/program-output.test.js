// Verifies that of a program's output the lines are shown that matter to its author.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputLines } from '../lib/verdict/program-output.js';

const root = '/home/ada/forkshop';
const TRACE = `worker 1 listens
${root}/lessons/05-crash-restart/server.js:12
    if (error) throw error;
               ^

Error: bind EADDRINUSE null:8080
    at listenOnPrimaryHandle (node:net:1919:18)
    at Server.probed [as listen] (${root}/lib/observe/preload/probe.cjs:212:20)
    at app.listen (${root}/node_modules/express/lib/application.js:605:24)
    at serve (file://${root}/lessons/05-crash-restart/server.js:11:7)
    at Module._compile (node:internal/modules/cjs/loader:1554:14) {
  code: 'EADDRINUSE'
}

Node.js v20.20.2
`;

test('of a stack trace it shows the place in the source, the error and the frames of the program', () => {
  assert.deepEqual(outputLines(TRACE, { most: 12, root }), [
    'worker 1 listens',
    'lessons/05-crash-restart/server.js:12',
    '    if (error) throw error;',
    '               ^',
    'Error: bind EADDRINUSE null:8080',
    '    at serve (lessons/05-crash-restart/server.js:11:7)',
  ]);
});

test('with little room it shows the last error, and its place above it', () => {
  assert.deepEqual(outputLines(TRACE.repeat(3), { most: 4, root }), [
    'lessons/05-crash-restart/server.js:12',
    '    if (error) throw error;',
    '               ^',
    'Error: bind EADDRINUSE null:8080',
  ]);
});

test('an error that Node.js threw is shown without the line of Node.js', () => {
  const output = `node:events:497
      throw er; // Unhandled 'error' event
      ^

Error: spawn nginx ENOENT
    at ChildProcess._handle.onexit (node:internal/child_process:285:19)
Emitted 'error' event on ChildProcess instance at:
    at onErrorNT (node:internal/child_process:483:16)
`;
  assert.deepEqual(outputLines(output, { most: 12 }), [
    'Error: spawn nginx ENOENT',
    "Emitted 'error' event on ChildProcess instance at:",
  ]);
});

test('without an error it shows the last lines', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  assert.deepEqual(outputLines(lines.join('\n'), { most: 3 }), lines.slice(-3));
  assert.deepEqual(outputLines('\n \n', { most: 3 }), []);
});
