// Who may import whom (DESIGN.md): every folder names what it may import, all else is refused.
// The rules of one file do not add up: the last zone that matches a file decides.
import { readFileSync } from 'node:fs';
import js from '@eslint/js';

const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** Patterns of a whole import specifier. */
const NODE = 'node:.+';
const INSIDE = String.raw`\./(?!.*\.\.).+`; // this folder and below, never up
const LIB_ROOT = String.raw`\.\./(?!checking\.)[^/]+`; // lib/catalog.js seen from lib/observe
const LIB = String.raw`\.\./(?!.*\.\.).+`; // any of lib, seen from lib/cli
const LIB_BELOW = String.raw`\.\./(?!cli/|web/|.*\.\.).+`; // the same without cli and web
const packages = (...names) => `(?:${names.join('|')})(?:/.+)?`;
const PACKAGES = packages(...Object.keys(manifest.dependencies));
const DEV_PACKAGES = packages(...Object.keys(manifest.devDependencies));
const PURE_NODE = 'node:(?:assert|path|url|util)';
const LEARNER = [NODE, 'express', '#work', 'nitropack/config', INSIDE];
const LEARNER_ROOMS = ['lessons', 'solutions', 'checks/starters', 'checks/submissions'];

/** Zones from general to special. `strict` also refuses import() and require() of computed names. */
const ZONES = [
  {
    files: ['test/**', 'bench/**', '*.js'],
    may: [NODE, PACKAGES, DEV_PACKAGES, String.raw`\.\.?/.+`],
    because: 'a test imports node:*, declared packages and files of this repository',
  },
  {
    files: ['lib/**'],
    may: [NODE, PACKAGES, INSIDE, LIB_BELOW],
    because: 'in lib only lib/cli imports lib/cli and lib/web',
  },
  {
    files: ['lib/*.js'],
    may: [NODE, PACKAGES, String.raw`\./(?!cli/|web/|.*\.\.).+`],
    because: 'in lib only lib/cli imports lib/cli and lib/web',
  },
  {
    files: ['lib/observe/**'],
    may: [NODE, INSIDE, LIB_ROOT],
    because: 'lib/observe imports node:*, its own files and those of lib/ itself; no packages',
  },
  {
    files: ['lib/measure/**'],
    may: [NODE, PACKAGES, INSIDE, LIB_ROOT, String.raw`\.\./observe/[^/]+`],
    because: 'lib/measure imports node:*, packages, its own files, lib/observe and those of lib/',
  },
  {
    files: ['lib/measure/stats.js', 'lib/measure/report.js', 'lib/verdict/**'],
    may: [PURE_NODE, INSIDE, String.raw`\.\./measure/stats\.js`],
    because: 'stats and verdict are pure: no I/O, no packages, only each other and node:util',
    strict: true,
  },
  {
    files: ['lib/web/**'],
    may: [NODE, PACKAGES, INSIDE, LIB_BELOW],
    because: 'lib/web may use all of lib except lib/cli',
  },
  {
    files: ['lib/web/client/**'],
    may: [INSIDE, String.raw`\.\./reveal/reveal\.mjs`],
    because: 'the page in the browser has only its own files, and reveal.js',
    strict: true,
  },
  {
    files: ['lib/cli/**'],
    may: [NODE, PACKAGES, INSIDE, LIB],
    because: 'lib/cli imports node:*, the dependencies of package.json and files of lib',
  },
  {
    files: ['lib/cli/main.cjs'],
    may: ['fs', 'module', 'path', String.raw`\./dispatch\.js`],
    because:
      'an old Node must get as far as its message: main.cjs has fs, module, path, ./dispatch.js',
    strict: true,
  },
  {
    files: LEARNER_ROOMS.map((room) => `${room}/**`),
    may: LEARNER,
    because: 'a lesson imports node:*, express, #work and files of its own folder',
    strict: true,
  },
  {
    files: LEARNER_ROOMS.map((room) => `${room}/09-shared-state/**`),
    may: [...LEARNER, '@redis/client'],
    because: 'lesson 9 imports node:*, express, @redis/client, #work and files of its own folder',
    strict: true,
  },
  {
    files: ['checks/experiments/*.js'],
    may: [NODE, INSIDE, String.raw`\.\./\.\./lib/checking\.js`],
    because: 'an experiment imports node:*, ../../lib/checking.js and files of its own folder',
    strict: true,
  },
  {
    files: ['slides/demos/*.js'],
    may: [NODE, INSIDE, String.raw`\.\./\.\./lib/checking\.js`],
    because: 'a demo imports node:*, ../../lib/checking.js and files of its own folder',
    strict: true,
  },
  {
    files: ['checks/*.check.js'],
    may: [NODE, String.raw`\.\./lib/checking\.js`, String.raw`\./(?:looks|demands)/[^/]+`],
    because: 'a check imports node:*, ../lib/checking.js, and its looks and demands',
    strict: true,
  },
  {
    files: ['checks/looks/**'],
    may: [NODE, INSIDE, String.raw`\.\./\.\./lib/checking\.js`],
    because: 'a look imports node:*, ../../lib/checking.js and files of its own folder',
    strict: true,
  },
  {
    files: ['checks/demands/**'],
    may: [NODE, INSIDE, String.raw`\.\./\.\./lib/checking\.js`, String.raw`\.\./looks/[^/]+`],
    because: 'a demand imports node:*, ../../lib/checking.js, looks and files of its own folder',
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
    'TextDecoderStream',
  ],
  ...['addEventListener', 'document', 'location', 'matchMedia', 'requestAnimationFrame', 'window'],
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
      'checks/submissions/**/*syntax-error*',
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
    files: ['lib/measure/stats.js', 'lib/measure/report.js', 'lib/verdict/**/*.js'],
    rules: { 'no-restricted-globals': ['error', 'console', 'fetch', 'process'] },
  },
  {
    files: ['lib/web/client/**/*.js', 'test/browser/**/*.js'],
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
    files: ['**/11-nitro/**/*.js'],
    languageOptions: { globals: readonly(NITRO_GLOBALS) },
  },
  {
    // A starter imports what its learner is about to use.
    files: ['lessons/*/**/*.js', 'checks/starters/**/*.js'],
    rules: { 'no-unused-vars': 'off' },
  },
  {
    // Right and deliberately wrong programs, in anybody's style: they parse, and import what they may.
    files: ['checks/submissions/**/*.js', 'checks/submissions/**/*.cjs'],
    languageOptions: { globals: readonly(COMMONJS_GLOBALS) },
    rules: Object.fromEntries(
      [...Object.keys(js.configs.recommended.rules), 'eqeqeq', 'no-var', 'prefer-const']
        .filter((name) => name !== 'no-undef')
        .map((name) => [name, 'off']),
    ),
  },
];
