import { parseArgs } from 'node:util';
import { nearest, quoted } from '../common/nearest.js';
import { UsageError } from '../common/usage-error.js';

/**
 * @typedef {{ type: 'boolean' | 'string', short?: string, multiple?: boolean, fromNpm?: boolean }} Option  short: one letter;
 *   multiple: may be repeated, its value is an array; fromNpm: false if a setting of npm has the same name
 */

/**
 * Parses a command's arguments. Without a `--` before them, npm 10 and 11 take the flags of `npm run check lesson-3 --json
 * --predict 4` themselves: the command gets `['lesson-3', '4']`, npm_config_json=true and npm_config_predict=true. So flags
 * without a value and `--predict=4` are read from the environment, and `--predict 4` is refused with an explanation.
 * @param {string[]} argv @param {Record<string, Option>} options @param {Record<string, string | undefined>} env
 * @param {number} [most]  arguments other than flags @returns {{ values: Record<string, any>, positionals: string[] }}
 * @throws {UsageError}  for unknown flags and superfluous arguments
 */
export function parse(argv, options, env, most = 1) {
  const { values, positionals } = parseStrictly(argv, options);
  const swallowed = env.npm_lifecycle_event ? readSwallowed(options, values, env) : {};
  if (positionals.length > most) throw tooMany(positionals, most);
  return { values: { ...swallowed, ...values }, positionals };
}

/** @param {string[]} args @param {Record<string, Option>} options */
function parseStrictly(args, options) {
  try {
    const known = Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      short ? { type, short, multiple } : { type, multiple },
    ]);
    return parseArgs({ args, options: Object.fromEntries(known), allowPositionals: true });
  } catch (/** @type {any} */ error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    throw explain(error, Object.keys(options));
  }
}

function explain(/** @type {Error & { code: string }} */ error, /** @type {string[]} */ names) {
  const flags = names.map((name) => `--${name}`);
  const all = flags.length ? `The flags are: ${flags.join(', ')}.` : 'This command takes no flags.';
  if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return new UsageError(`${error.message.split('\n')[0]}.`, all);
  }
  const [, flag] = /'(-[^]*?)'/.exec(error.message) ?? ['', ''];
  const guess = nearest(flag, flags);
  const message = `This command does not know the flag ${quoted(flag)}.`;
  return new UsageError(message, guess ? `Did you mean ${guess}? ${all}` : all);
}

/** @param {Record<string, Option>} options @param {Record<string, unknown>} given @param {Record<string, string | undefined>} env */
function readSwallowed(options, given, env) {
  /** @type {Record<string, string | boolean | string[]>} */
  const swallowed = {};
  for (const [name, { type, multiple, fromNpm = true }] of Object.entries(options)) {
    const value = env[`npm_config_${name.replaceAll('-', '_')}`];
    if (!fromNpm || name in given || value === undefined) continue;
    if (type === 'boolean') swallowed[name] = !['', 'false'].includes(value);
    else if (['', 'true'].includes(value)) throw valueLost(name, env.npm_lifecycle_event);
    else swallowed[name] = multiple ? [value] : value;
  }
  return swallowed;
}

const valueLost = (/** @type {string} */ name, /** @type {string | undefined} */ script) =>
  new UsageError(
    `npm took the flag --${name} for itself, and its value was lost.`,
    `Write it with an equals sign, as in: npm run ${script} --${name}=VALUE\n` +
      `Or put -- before your flags, as in: npm run ${script} -- --${name} VALUE`,
  );

const tooMany = (/** @type {string[]} */ positionals, /** @type {number} */ most) =>
  new UsageError(
    `This command takes at most ${most} ${most === 1 ? 'name' : 'names'}, not ${positionals.length}: ` +
      `${positionals.map(quoted).join(', ')}.`,
    most === 1
      ? 'Name one lesson, without spaces, as in lesson-3.'
      : 'Put quotes around text with spaces.',
  );

/** @param {string | undefined} text @param {number} otherwise @returns {number}  0 means any free port @throws {UsageError} */
export function parsePort(text, otherwise) {
  if (text === undefined) return otherwise;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`"${text}" isn't a port.`, 'Take one from 1024 to 65535, or 0 for any.');
}
