// Who may import what: every folder names it, all else is refused. Which room of lib/ may import which other one is drawn in
// CONTRIBUTING.md, and test/rooms.test.js holds the drawing against the imports.
// The rules of one file do not add up: the last zone that matches a file decides.
import { readFileSync } from 'node:fs';
import js from '@eslint/js';

const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const peers = JSON.parse(
  readFileSync(new URL('bench/peers/package.json', import.meta.url), 'utf8'),
);

/** Patterns of a whole import specifier. */
const NODE = 'node:(?!child_process$).+'; // a child of ours is started through lib/common/child.js
const ANY_NODE = 'node:.+';
const INSIDE = String.raw`\./(?!.*\.\.).+`; // this folder and below, never up
const LIB = String.raw`\.\./(?!.*\.\.).+`; // any room of lib, seen from another one
const LIB_FROM_BELOW = String.raw`(?:\.\./){1,2}(?!.*\.\.).+`; // the same, seen from a folder of a room
const packages = (...names) => `(?:${names.join('|')})(?:/.+)?`;
const DOOR = String.raw`\.\./\.\./lib/check/checking\.js`;
const DOOR_BELOW = String.raw`\.\./\.\./\.\./lib/check/checking\.js`;
const PACKAGES = packages(...Object.keys(manifest.dependencies));
const DEV_PACKAGES = packages(...Object.keys(manifest.devDependencies));
const PURE_NODE = 'node:(?:assert|path|url|util)';
const LEARNER = [ANY_NODE, 'express', '#work', 'nitropack/config', INSIDE];
const OTHERS = ['starter', 'right-answers', 'wrong-answers']; // programs in checks/NN-slug/
const learnerRooms = (key) => [
  ...[`lessons/${key}`, `solutions/${key}`],
  ...OTHERS.map((room) => `checks/${key}/${room}`),
];

/** Zones from general to special. `strict` also refuses import() and require() of computed names. */
const ZONES = [
  {
    files: ['test/**', 'bench/**', 'docs/**', '*.js'],
    may: [NODE, PACKAGES, DEV_PACKAGES, String.raw`\.\.?/.+`],
    because: 'a test imports node:*, declared packages and files of this repository',
  },
  {
    // What these start ends by itself, in the test's own time, or is to outlive what has started it.
    files: [
      ...['belonging', 'cli-check', 'cli-commands', 'probe', 'run'].map(
        (name) => `test/${name}.test.js`,
      ),
      ...['both-killed', 'fixture-root', 'jobs', 'matrix', 'nothing-left'].map(
        (name) => `test/${name}.js`,
      ),
      ...['test/crashes/crash-at.js', 'test/field/**', 'test/peers/**', 'test/without-proc/**'],
    ],
    may: [ANY_NODE, PACKAGES, DEV_PACKAGES, String.raw`\.\.?/.+`],
    because: 'a test imports node:*, declared packages and files of this repository',
  },
  {
    files: ['bench/mutants/**'],
    may: [
      NODE,
      'yaml',
      '@babel/parser',
      packages('@stryker-mutator', 'typed-inject'),
      String.raw`\.\.?/.+`,
    ],
    because: 'the mutants have packages of their own, beside node:* and files of this repository',
  },
  {
    files: ['bench/peers/servers/**', 'bench/peers/applications/**'],
    may: [ANY_NODE, packages(...Object.keys(peers.dependencies)), 'express', String.raw`\.\.?/.+`],
    because: 'a peer has packages of its own, beside node:* and files of this repository',
  },
  {
    files: ['lib/**'],
    may: [NODE, PACKAGES, INSIDE, LIB],
    because: 'lib imports node:*, the dependencies of package.json and files of lib',
  },
  {
    files: ['lib/cli/*/**'],
    may: [NODE, PACKAGES, INSIDE, LIB_FROM_BELOW],
    because: 'lib imports node:*, the dependencies of package.json and files of lib',
  },
  {
    files: ['lib/observe/**', 'lib/xray/**'],
    may: [NODE, INSIDE, LIB],
    because: 'lib/observe and lib/xray import node:* and files of lib, no packages',
  },
  {
    files: ['lib/common/child.js', 'lib/common/guard.js'],
    may: [ANY_NODE, INSIDE],
    because: 'the door to processes of ours imports node:* and its own files',
  },
  {
    files: ['keeper', 'runner'].map((name) => `lib/observe/${name}.js`),
    may: [ANY_NODE, INSIDE, LIB],
    because: 'the keeper has a lifeline of its own, and starts what is judged',
  },
  {
    // No process is started here, and the probe imports nothing of ours.
    files: ['lib/observe/preload/**'],
    may: [ANY_NODE, INSIDE],
    because: 'what is preloaded into a program imports node:* and its own files',
  },
  {
    files: ['lib/measure/stats.js', 'lib/measure/load-report.js', 'lib/verdict/**'],
    may: [PURE_NODE, INSIDE, String.raw`\.\./measure/stats\.js`],
    because: 'stats and verdict are pure: no I/O, no packages, only each other and node:util',
    strict: true,
  },
  {
    files: ['lib/xray/report/**'],
    may: [
      ...[PURE_NODE, INSIDE, String.raw`\.\./\.\./measure/(?:stats|load-report)\.js`],
      ...[String.raw`\.\./\.\./observe/timeline\.js`, String.raw`\.\./\.\./verdict/[^/]+`],
    ],
    because: 'what the X-ray says is pure: no I/O, no packages',
    strict: true,
  },
  {
    files: ['lib/*/client/**'],
    may: [String.raw`\./[^/]+`, String.raw`\.\./\.\./(?:web/client/[^/]+|reveal/reveal\.mjs)`],
    because: 'a page in the browser has only its own files, those of lib/web/client, and reveal.js',
    strict: true,
  },
  {
    files: ['lib/cli/main.cjs'],
    may: ['fs', 'module', 'path', String.raw`\./dispatch\.js`],
    because:
      'an old Node must get as far as its message: main.cjs has fs, module, path, ./dispatch.js',
    strict: true,
  },
  {
    files: ['lessons/*.js', ...learnerRooms('*').map((room) => `${room}/**`)],
    may: LEARNER,
    because: 'a lesson imports node:*, express, #work and files of its own folder',
    strict: true,
  },
  {
    files: learnerRooms('09-shared-state').map((room) => `${room}/**`),
    may: [...LEARNER, '@redis/client'],
    because: 'lesson 9 imports node:*, express, @redis/client, #work and files of its own folder',
    strict: true,
  },
  {
    files: ['checks/*/experiments.js'],
    may: [NODE, INSIDE, DOOR],
    because: 'an experiment imports node:*, lib/check/checking.js and files of its own folder',
    strict: true,
  },
  {
    files: ['slides/*/demos.js'],
    may: [NODE, INSIDE, DOOR],
    because: 'a demo imports node:*, lib/check/checking.js and files of its own folder',
    strict: true,
  },
  {
    files: ['checks/*/check.js'],
    may: [NODE, DOOR, String.raw`\./(?:looks|demands)(?:\.js|/[^/]+)`],
    because: 'a check imports node:*, lib/check/checking.js, and its looks and demands',
    strict: true,
  },
  {
    files: ['checks/*/looks.js', 'checks/*/looks/**'],
    may: [ANY_NODE, DOOR, DOOR_BELOW, String.raw`\./[^/]+`],
    because: 'a look imports node:*, lib/check/checking.js and other looks',
    strict: true,
  },
  {
    files: ['checks/*/demands.js', 'checks/*/demands/**'],
    may: [
      ...[ANY_NODE, DOOR, DOOR_BELOW, String.raw`\./[^/]+`],
      String.raw`(?:\.|\.\.)/looks(?:\.js|/[^/]+)`,
    ],
    because: 'a demand imports node:*, lib/check/checking.js, looks and other demands',
    strict: true,
  },
];

function importRules({ files, may, because, strict = false }) {
  const denied = `^(?!(?:${may.join('|')})$)`;
  const literal = `/${denied.replaceAll('/', String.raw`\u002F`)}/`; // a selector's regex has no "/"
  const selectors = [
    `ImportExpression[source.value=${literal}]`,
    `CallExpression[callee.name="require"][arguments.0.value=${literal}]`,
  ];
  if (strict) {
    selectors.push('ImportExpression[source.type!="Literal"]');
    selectors.push('CallExpression[callee.name="require"][arguments.0.type!="Literal"]');
  }
  const message = `Not from here: ${because}.`;
  return {
    files: files.flatMap((glob) =>
      glob.endsWith('**') ? [`${glob}/*.js`, `${glob}/*.cjs`] : glob,
    ),
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ regex: denied, message }] }],
      'no-restricted-syntax': ['error', ...selectors.map((selector) => ({ selector, message }))],
    },
  };
}

const NODE_GLOBALS = [
  ...[
    'AbortController',
    'AbortSignal',
    'Buffer',
    'Event',
    'EventTarget',
    'TextDecoder',
    'TextEncoder',
  ],
  ...[
    'URL',
    'URLSearchParams',
    'clearImmediate',
    'clearInterval',
    'clearTimeout',
    'console',
    'fetch',
  ],
  ...['performance', 'process', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout'],
  'structuredClone',
];
const BROWSER_GLOBALS = [
  ...[
    'BroadcastChannel',
    'CSS',
    'NodeFilter',
    'Response',
    'getComputedStyle',
    'DOMParser',
    'EventSource',
    'IntersectionObserver',
    'KeyboardEvent',
    'MutationObserver',
    'ResizeObserver',
    'TextDecoderStream',
  ],
  ...[
    'addEventListener',
    'history',
    'localStorage',
    'navigator',
    'sessionStorage',
    'document',
    'location',
    'matchMedia',
    'navigator',
    'requestAnimationFrame',
    'window',
  ],
];
const NITRO_GLOBALS = [
  'defineEventHandler',
  'defineNitroPlugin',
  'setResponseHeader',
  'useStorage',
];
const COMMONJS_GLOBALS = ['__dirname', '__filename', 'exports', 'module', 'require'];
const readonly = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

export default [
  {
    ignores: [
      ...['coverage/', '.forkshop/', '**/.nitro/', '**/.output/', 'test/fixtures/'],
      'checks/*/{right,wrong}-answers/**/*syntax-error*',
    ],
  },
  js.configs.recommended,
  {
    languageOptions: { globals: readonly(NODE_GLOBALS) },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  ...ZONES.map(importRules),
  {
    files: ['lib/measure/stats.js', 'lib/measure/load-report.js', 'lib/verdict/**/*.js'],
    rules: { 'no-restricted-globals': ['error', 'console', 'fetch', 'process'] },
  },
  {
    files: ['lib/*/client/*.js', 'test/browser/**/*.js', 'bench/page-soak.js'],
    languageOptions: { globals: readonly(BROWSER_GLOBALS) },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: readonly(COMMONJS_GLOBALS) },
  },
  {
    // Any Node, however old, must be able to parse it and read its message.
    files: ['lib/cli/main.cjs'],
    languageOptions: { ecmaVersion: 5 },
    rules: { 'no-var': 'off', 'prefer-const': 'off' },
  },
  {
    // Nitro imports these by itself.
    files: ['**/11-nitro/**/*.js', 'bench/peers/nitro/**/*.js'],
    languageOptions: { globals: readonly(NITRO_GLOBALS) },
  },
  {
    // A starter imports what its learner is about to use.
    files: ['lessons/*/**/*.js', 'checks/*/starter/**/*.js'],
    rules: { 'no-unused-vars': 'off' },
  },
  {
    // Right and deliberately wrong programs, in anybody's style: they parse, and import what they may.
    files: ['checks/*/{right,wrong}-answers/**/*.{js,cjs}'],
    languageOptions: { globals: readonly(COMMONJS_GLOBALS) },
    rules: Object.fromEntries(
      [...Object.keys(js.configs.recommended.rules), 'eqeqeq', 'no-var', 'prefer-const']
        .filter((name) => name !== 'no-undef')
        .map((name) => [name, 'off']),
    ),
  },
];
