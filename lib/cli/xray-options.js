/** The options of `xray`: the server to start, the load, and the trials. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../common/usage-error.js';
import { environmentOfUser } from '../observe/environment.js';
import { visible } from '../verdict/visible.js';
import { tryCost } from '../xray/cost.js';
import { launch } from '../xray/launch.js';
import { tryReload } from '../xray/reload.js';
import { tryScale } from '../xray/scale.js';
import { tryKill, tryStop } from '../xray/trials.js';
import { parse } from './args.js';
import { resolveNewFile } from './new-file.js';

/** @typedef {import('./saved/progress.js').Io} Io */

const options = /** @type {const} */ ({
  port: { type: 'string' },
  path: { type: 'string' },
  method: { type: 'string' },
  header: { type: 'string', multiple: true },
  body: { type: 'string' },
  rate: { type: 'string' },
  connections: { type: 'string' },
  seconds: { type: 'string' },
  kill: { type: 'boolean' },
  stop: { type: 'boolean' },
  reload: { type: 'string' },
  times: { type: 'string' },
  scale: { type: 'string' },
  'workers-env': { type: 'string' },
  cost: { type: 'boolean' },
  all: { type: 'boolean' },
  trace: { type: 'string' },
  html: { type: 'string' },
  json: { type: 'boolean' },
});

const RATE = 50;
const SECONDS = 10;
const MOST = { rate: 1_000, connections: 200, seconds: 60, port: 65_535, times: 50 };
const MOST_REQUESTS = 10_000; // each takes a port, which stays in TIME_WAIT for a minute
const SCALE = '1,2,4';
const MOST_WORKERS = 16;
const MOST_STEPS = 5;
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Parses the command line: a script precedes `--`, otherwise a command follows it. */
export function parseXray(/** @type {string[]} */ argv, /** @type {Io} */ io) {
  const end = argv.indexOf('--');
  const [mine, theirs] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const { values, positionals } = parse(mine, options, io.env, Infinity);
  if (positionals.length > 1) throw tooMany(positionals);
  const cwd = resolve(io.env.INIT_CWD ?? process.cwd());
  const port = values.port === undefined ? undefined : numberOf('port', values.port);
  const [script] = positionals;
  for (const name of /** @type {const} */ (['trace', 'html']))
    if (values[name] !== undefined)
      values[name] = resolveNewFile(values[name], { cwd, example: `--${name} ${EXAMPLES[name]}` });
  if (values.trace !== undefined && values.trace === values.html)
    throw new UsageError(
      `--trace and --html both name ${values.trace}.`,
      `Name two files: --trace ${EXAMPLES.trace} --html ${EXAMPLES.html}`,
    );
  if (script)
    return {
      values,
      order: { entry: scriptAt(resolve(cwd, script)), args: theirs, isCommand: false, cwd, port },
    };
  const [entry, ...args] = theirs;
  if (entry) return { values, order: { entry, args, isCommand: true, cwd, port } };
  throw new UsageError(
    'Name the server to look into.',
    'A script: npm run xray -- ../shop/server.js\n' +
      'Or any command, in its own folder: npm --prefix ../forkshop run xray -- -- npm start',
  );
}

const tooMany = (/** @type {string[]} */ names) =>
  new UsageError(
    `One script is looked into, not ${names.length}: ${names.map((one) => `"${visible(one)}"`).join(', ')}.`,
    'Its own arguments go after two more dashes: npm run xray -- server.js -- --port 3000\n' +
      'So does a command: npm run xray -- -- npm start',
  );

function scriptAt(/** @type {string} */ file) {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isFile()) return file;
  throw new UsageError(
    there ? `${file} is a folder.` : `There is no file ${file}.`,
    'Name the script that Node.js runs. A command goes after two more dashes: npm run xray -- -- npm start',
  );
}

const EXAMPLES = { trace: 'shop-trace.json', html: 'shop.html' };

/** @param {Record<string, any>} values @returns {import('../xray/load.js').Plan} */
export function planOf({
  path = '/',
  method = 'GET',
  header = [],
  body,
  rate,
  connections,
  seconds,
}) {
  if (rate !== undefined && connections !== undefined)
    throw new UsageError(
      '--rate and --connections are two kinds of load.',
      'With --rate clients connect on schedule; with --connections each sends its next request when it has its answer.',
    );
  if (!/^\/[\x21-\x7e]*$/.test(path))
    throw new UsageError(
      'A path begins with / and has no spaces.',
      'Letters beyond ASCII are written as in a URL: --path /report?year=2024, or --path /caf%C3%A9',
    );
  if (!METHODS.includes(method.toUpperCase()))
    throw new UsageError('There is no such method.', `The methods are: ${METHODS.join(', ')}.`);
  const plan = {
    ...{ path, method: method.toUpperCase(), body },
    headers: Object.fromEntries(header.map(headerOf)),
    rate: connections === undefined ? numberOf('rate', rate ?? String(RATE)) : undefined,
    connections: connections === undefined ? undefined : numberOf('connections', connections),
    seconds: numberOf('seconds', seconds ?? String(SECONDS)),
  };
  if ((plan.rate ?? 0) * plan.seconds <= MOST_REQUESTS) return plan;
  throw new UsageError(
    `${plan.rate} requests a second for ${plan.seconds} s are more than ${MOST_REQUESTS} in all.`,
    'Take fewer seconds, or clients that keep their connections: --connections 50',
  );
}

function headerOf(/** @type {string} */ text) {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x20-\x7e\t]*)$/.exec(text) ?? [];
  if (name) return [name.toLowerCase(), value];
  throw new UsageError(
    'A header is a name, a colon and a value.',
    "For example: --header 'Accept: text/html'",
  );
}

function numberOf(/** @type {keyof typeof MOST} */ name, /** @type {string} */ text) {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MOST[name]) return value;
  throw new UsageError(
    `--${name} takes a whole number from 1 to ${MOST[name]}.`,
    `For example: --${name} ${name === 'port' ? 3000 : 20}`,
  );
}

/** @param {Record<string, any>} values @param {import('../xray/launch.js').Order} order @param {Io} io */
export function trialsOf({ kill, reload, stop, scale, cost, all, ...values }, { cwd }, { env }) {
  const trials = [];
  if (kill || all)
    trials.push({ kind: 'kill', head: 'A worker is killed', attempt: onFreshProgram(tryKill) });
  if (reload !== undefined) {
    const how = howToReload(reload, cwd, env);
    const times = numberOf('times', values.times ?? '1');
    const attempt = onFreshProgram((up, plan) => tryReload(up, plan, how, { times }));
    const often = times === 1 ? '' : `, ${times} times in a row`;
    trials.push({ kind: 'reload', head: `It reloads${often}`, attempt });
  } else if (values.times !== undefined) {
    throw new UsageError(
      '--times says how often it is to reload, and needs --reload.',
      'For example: --reload SIGHUP --times 20',
    );
  }
  if (values['workers-env'] !== undefined && scale === undefined && !all)
    throw new UsageError(
      '--workers-env names the variable that --scale sets, and needs --scale.',
      'For example: --scale 1,2,4 --workers-env WEB_CONCURRENCY',
    );
  if (scale !== undefined || all) {
    const what = { counts: countsOf(scale ?? SCALE), variable: variableOf(values['workers-env']) };
    const attempt = (runner, order, plan) => tryScale(runner, order, plan, what);
    const head = `With ${what.counts.join(', ')} workers in turn, which takes a minute or two`;
    trials.push({ kind: 'scale', head, attempt });
  }
  if (cost || all) trials.push({ kind: 'cost', head: 'The cost of looking', attempt: tryCost });
  if (stop || all)
    trials.push({ kind: 'stop', head: 'It stops', attempt: onFreshProgram(tryStop) });
  return trials;
}

/** Runs a trial on a program that was started for it alone. */
const onFreshProgram =
  (/** @type {(up: import('../xray/launch.js').Up, plan: any) => Promise<any>} */ attempt) =>
  async (runner, order, plan) => {
    const up = await launch(runner, order, plan);
    try {
      return await attempt(up, plan);
    } finally {
      await up.program.stop();
    }
  };

/** Parses "4,1,2" to [1, 2, 4]. */
function countsOf(/** @type {string} */ text) {
  const counts = [...new Set(text.split(',').map(Number))].sort((a, b) => a - b);
  const isFine = counts.every((one) => Number.isInteger(one) && one >= 1 && one <= MOST_WORKERS);
  if (/^[\d,]+$/.test(text) && isFine && counts.length >= 2 && counts.length <= MOST_STEPS)
    return counts;
  throw new UsageError(
    `--scale takes 2 to ${MOST_STEPS} numbers of workers, each from 1 to ${MOST_WORKERS}.`,
    'For example: --scale 1,2,4',
  );
}

function variableOf(/** @type {string} */ name = 'NODE_CLUSTER_WORKERS') {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new UsageError(
    '--workers-env takes the name of an environment variable.',
    'For example: --workers-env WEB_CONCURRENCY',
  );
}

/** SIGHUP and SIGUSR2 are signals; any other name of a signal is refused rather than run as a command. */
function howToReload(/** @type {string} */ text, cwd, env) {
  const signal = /** @type {NodeJS.Signals} */ (text.toUpperCase());
  if (['SIGHUP', 'SIGUSR2'].includes(signal)) return { signal };
  if (text.trim() !== '' && !/^(SIG)?[A-Z]+[12]?$/.test(text))
    return { command: text, cwd, env: environmentOfUser(env) };
  throw new UsageError(
    'A reload is asked for by SIGHUP or SIGUSR2, or by a command.',
    "For example: --reload SIGHUP, or --reload 'pm2 reload shop'",
  );
}
