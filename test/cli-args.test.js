// Verifies that arguments are understood even if npm has consumed flags, or that the message says how to write them. The
// environment of npm 10.9 and 11.19 was recorded from `npm run check ...` with a script that prints it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from '../lib/cli/args.js';

/** @type {Record<string, import('../lib/cli/args.js').Option>} */
const options = {
  json: { type: 'boolean' },
  timeline: { type: 'boolean' },
  in: { type: 'string' },
  predict: { type: 'string' },
  yes: { type: 'boolean', short: 'y', fromNpm: false },
};
/** @returns {Record<string, string>} */
const npm = (/** @type {Record<string, string>} */ config) => ({
  npm_lifecycle_event: 'check',
  ...Object.fromEntries(
    Object.entries(config).map(([name, value]) => [`npm_config_${name}`, value]),
  ),
});
const plain = (/** @type {ReturnType<typeof parse>} */ { values, positionals }) => ({
  values: { ...values },
  positionals,
});

test('flags and names without npm', () => {
  const argv = ['lesson-2', '--json', '--in', '/tmp/a b', '--predict=4', '-y'];
  assert.deepEqual(plain(parse(argv, options, {})), {
    values: { json: true, in: '/tmp/a b', predict: '4', yes: true },
    positionals: ['lesson-2'],
  });
  assert.deepEqual(plain(parse([], options, {})), { values: {}, positionals: [] });
});

test('npm run check lesson-2 --json --timeline: both are read from the environment', () => {
  const env = npm({ json: 'true', timeline: 'true' });
  assert.deepEqual(plain(parse(['lesson-2'], options, env)), {
    values: { json: true, timeline: true },
    positionals: ['lesson-2'],
  });
});

test('npm run check lesson-2 --predict=4 --in="/tmp/a b": the values are read', () => {
  const { values } = parse(['lesson-2'], options, npm({ predict: '4', in: '/tmp/a b' }));
  assert.deepEqual({ ...values }, { predict: '4', in: '/tmp/a b' });
});

test('npm run check lesson-2 --json -- --in DIR: some taken, some passed on; argv goes first', () => {
  const { values } = parse(['2', '--in', 'a'], options, npm({ json: 'true', in: 'b' }));
  assert.deepEqual({ ...values }, { json: true, in: 'a' });
  assert.equal(parse(['--in', 'a'], options, npm({ in: 'true' })).values.in, 'a');
});

test('npm run check lesson-2 --predict 4: the lost value is explained', () => {
  const lost = () => parse(['lesson-2', '4'], options, npm({ predict: 'true' }));
  const message = 'npm took the flag --predict for itself, and its value was lost.';
  const hint = /npm run check --predict=VALUE\n.*npm run check -- --predict VALUE/;
  assert.throws(lost, { name: 'UsageError', message, hint });
});

test('npm run check --predict -3 and --in=: these values are lost as well', () => {
  assert.throws(() => parse([], options, npm({ predict: 'true' })), /--predict/);
  assert.throws(() => parse([], options, npm({ in: '' })), /--in/);
});

test('npm writes false as an empty value', () => {
  assert.equal(parse([], options, npm({ json: '' })).values.json, false);
  assert.equal(parse([], options, npm({ json: 'false' })).values.json, false);
});

test('a setting of npm itself is not mistaken for a flag', () => {
  assert.equal(parse([], options, npm({ yes: 'true' })).values.yes, undefined);
});

test('npm settings count only under npm run', () => {
  const env = { npm_config_json: 'true', npm_config_predict: 'true' };
  assert.deepEqual({ ...parse([], options, env).values }, {});
});

test('a flag with a hyphen has an underscore in the environment', () => {
  const { values } = parse([], { 'dry-run': { type: 'boolean' } }, npm({ dry_run: 'true' }));
  assert.equal(values['dry-run'], true);
});

/** @type {Record<string, [argv: string[], message: RegExp, hint: RegExp]>} */
const mistakes = {
  'an unknown flag': [['--jsn'], /does not know the flag "--jsn"/, /Did you mean --json\?/],
  'an unknown short flag': [['-x'], /does not know the flag "-x"/, /The flags are: --json, /],
  'an escape code as flag': [['--\u001b[31m'], /does not know the flag "--\\u001b\[31m"/, /--json/],
  'a missing value': [['--in'], /--in.*argument missing/, /The flags are/],
  'a value too many': [['--json=yes'], /does not take an argument/, /The flags are/],
  'two names': [
    ['lesson', '3'],
    /takes at most 1 name, not 2: "lesson", "3"/,
    /without spaces, as in lesson-3/,
  ],
};
for (const [name, [argv, message, hint]] of Object.entries(mistakes)) {
  test(`a mistake is explained: ${name}`, () => {
    assert.throws(() => parse(argv, options, {}), { name: 'UsageError', message, hint });
  });
}

test('a command without flags says so', () => {
  const hint = 'This command takes no flags.';
  assert.throws(() => parse(['--json'], {}, {}), { name: 'UsageError', hint });
});
