import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { rootFolder } from '../lessons/catalog.js';
import { hasCode } from '../common/files.js';
import { nearest, quoted } from '../common/nearest.js';
import { EnvironmentError, UsageError } from '../common/usage-error.js';
import { reportSaveErrors } from './saved/save-errors.js';
import { visible } from '../verdict/visible.js';

/** @typedef {import('./saved/progress.js').Io} Io */

/** @typedef {(argv: string[], io: Io) => Promise<number>} Command  argv: without the command's name; resolves to the exit code */

/** Each command's arguments and summary for the help; the command itself is the file of that name in commands/. */
const commands = {
  start: [
    '[--port N] [--no-page] [--join ADDRESS CODE [--name NAME]]',
    'start here: see where you are, and be checked whenever you save, here and on a page',
  ],
  check: ['[lesson]', 'run a lesson and see what your server really does'],
  list: ['', 'show all lessons and which ones have passed'],
  hint: ['[lesson]', 'show one more hint for the task that is open'],
  solution: ['[lesson]', 'show the finished files'],
  diff: ['[lesson]', 'show how your files differ from the finished ones'],
  try: ['[lesson] [experiment]', 'run an experiment of a lesson: predict, look, compare'],
  spot: ['[lesson]', "see someone's change, say what it breaks, and have it judged"],
  xray: [
    'server.js | -- command [--path /] [--rate N | --connections N] [--seconds N] [--kill] [--stop] [--reload SIGHUP [--times N]] [--scale 1,2,4] [--cost] [--all] [--html FILE] [--trace FILE] [--json]',
    'look into any Node.js server: what it does, and what a colleague would say',
  ],
  reset: ['[lesson] [--all] [--yes]', "put a lesson's files back to how they were"],
  doctor: ['[--json]', 'compare all parts of all lessons (for authors)'],
  new: ['NN-slug "Title"', 'create every part of a lesson (for authors)'],
  slides: [
    '[--port N] [--plan NAME] [--start HH:MM] [--agenda] [--pdf FILE [--notes]] [--handout FILE] [--script FILE] [--html FOLDER] [--record]',
    'serve the slide deck, with a window for the speaker',
  ],
  board: [
    '[--host ADDRESS] [--port N]',
    'show a class who is at which lesson, and whose hand is up (for instructors)',
  ],
  sync: ['[--check] [--starters]', 'refresh the quoted code in all texts (for authors)'],
};

/** Runs the command in process.argv. Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 undecided or a fault of ours. */
export async function main() {
  const { stdout, stderr, stdin, env } = process;
  const root = env.FORKSHOP_ROOT ? resolve(env.FORKSHOP_ROOT) : rootFolder;
  const [name] = process.argv.slice(2);
  for (const stream of [stdout, stderr])
    stream.on('error', (error) => readerHasLeft(error, String(name)));
  const fail = (/** @type {unknown} */ error) => {
    process.exitCode = report(error, stderr);
    process.exit();
  };
  process.on('uncaughtException', fail);
  if (cluster.isWorker) return fail(asWorker);
  process.exitCode = await dispatch(process.argv.slice(2), { stdout, stderr, stdin, env, root });
  stdout.write('', () => process.exit()); // a look that was started in advance may still be running
}

/** With NODE_UNIQUE_ID set, each listen() would wait forever for the reply of a primary that doesn't exist. */
const asWorker = new EnvironmentError(
  'NODE_UNIQUE_ID is set in your environment: to Node.js this command is a worker of a cluster, which opens no port itself.',
  'Run it without, as in: env -u NODE_UNIQUE_ID npm run check',
);

/** Runs a command and reports its errors. @param {string[]} argv  name first @param {Io} io @returns {Promise<number>}  exit code */
export async function dispatch([name, ...rest], io) {
  try {
    if (name === undefined || ['help', '--help', '-h'].includes(name)) return help(io);
    if (!Object.hasOwn(commands, name)) throw unknownCommand(name);
    if (rest.includes('--help') || rest.includes('-h')) return help(io, name);
    const command = await import(`./commands/${name}.js`);
    return await command.run(rest, io);
  } catch (error) {
    return report(error, io.stderr);
  } finally {
    reportSaveErrors(io);
  }
}

function help(/** @type {Io} */ io, only = '') {
  for (const [name, [takes, summary]] of Object.entries(commands)) {
    if (only && only !== name) continue;
    io.stdout.write(`npm run ${name}${takes && ` -- ${takes}`}\n    ${summary}\n`);
  }
  return 0;
}

function unknownCommand(/** @type {string} */ name) {
  const names = Object.keys(commands);
  const guess = nearest(name, names);
  return new UsageError(
    `Forkshop has no command ${quoted(name)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}The commands are: ${names.join(', ')}.`,
  );
}

const refusals = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOTDIR'];

function report(/** @type {any} */ error, /** @type {Io['stderr']} */ stderr) {
  const print = (/** @type {string} */ text) => stderr.write(visible(text));
  if (error instanceof UsageError) {
    print(`${error.message}\n${error.hint && `${error.hint}\n`}`);
    return error instanceof EnvironmentError ? 3 : 2;
  }
  if (hasCode(error, ...refusals)) {
    print(
      `The operating system refused: ${error.message}\n` +
        'See to the permissions and the free space there, then run the command again.\n',
    );
    return 3;
  }
  print(
    `This is a bug in Forkshop, not in your code. Please report it with these lines:\n` +
      `${error?.stack ?? error}\n`,
  );
  return 3;
}

const WITHOUT_VERDICT = ['start', 'try', 'slides', 'board'];

/** In `npm run check | head -1` the reader closes the pipe early; the check still runs to its exit code. */
function readerHasLeft(/** @type {NodeJS.ErrnoException} */ error, /** @type {string} */ command) {
  if (!hasCode(error, 'EPIPE')) throw error;
  if (WITHOUT_VERDICT.includes(command)) process.exit();
}
