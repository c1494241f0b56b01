/** The environment of a started program: without what it must not inherit from us, with what the probe needs. */
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCompleteCopy } from './program-copy.js';
import { pidNamespace } from './processes.js';

const here = (file) => new URL(file, import.meta.url);

/** The absolute path of this repository. */
export const rootFolder = fileURLToPath(here('../../'));

/**
 * NODE_UNIQUE_ID would make a plain server a worker. TERM: the program has no terminal. NODE_EXTRA_CA_CERTS: Node 20 reads the file at
 * each start, which takes longer than the rest of the start.
 */
const SCRUBBED =
  /^(TERM|NODE_UNIQUE_ID|NODE_CHANNEL_(FD|SERIALIZATION_MODE)|NODE_CLUSTER_\w+|NODE_OPTIONS|NODE_TEST_CONTEXT|NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|NODE_ENV|NITRO_\w+|HOST|PORT|RATE|UTILIZATION|WORK_MS|FORKSHOP_\w+)$/;

/** @param {NodeJS.ProcessEnv} env @returns {NodeJS.ProcessEnv}  without variables that would change the program */
export function scrub(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SCRUBBED.test(name)));
}

/** The environment of our own processes, with our compile cache. @returns {NodeJS.ProcessEnv} */
export function environmentOfOurs() {
  const { NODE_COMPILE_CACHE } = process.env; // main.cjs has set it
  return { ...scrub(process.env), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

const OURS = /^(FORKSHOP_\w+|NODE_TEST_CONTEXT)$/;
const OF_NPM = /^(npm_\w+|INIT_CWD)$/;
const BIN_OF_A_SCRIPT = /[/\\]node_modules[/\\](\.bin|@npmcli[/\\]run-script[/\\].*)$/;

/** The user's environment, without the additions of npm and ours. @param {NodeJS.ProcessEnv} env @returns {NodeJS.ProcessEnv} */
export function environmentOfUser(env) {
  const isScript = Boolean(env.npm_lifecycle_event);
  const isOurs = ([name, value = '']) =>
    OURS.test(name) ||
    (isScript && OF_NPM.test(name)) ||
    (name === 'NODE_COMPILE_CACHE' && value.startsWith(rootFolder));
  const own = Object.fromEntries(Object.entries(env).filter((entry) => !isOurs(entry)));
  if (!isScript || !env.PATH) return own;
  const path = env.PATH.split(delimiter).filter((folder) => !BIN_OF_A_SCRIPT.test(folder));
  return { ...own, PATH: path.join(delimiter) };
}

/** @param {import('./program.js').Program} program @returns {NodeJS.ProcessEnv} */
export function environmentOf({ options, port, folder, temporary, compileCache, keeper }) {
  const {
    entry,
    env = {},
    probe = 'requests',
    followsChildren,
    haltsChildren,
    isExternal,
  } = options;
  const { pretendCores, pretendExitCode, pretendForks, pretendWaits, seesStacks } = options;
  const preloads = [requiring('probe.cjs')];
  if (pretendCores) preloads.push(requiring('pretend-cores.cjs'));
  if (pretendExitCode !== undefined) preloads.push(requiring('pretend-exit-code.cjs'));
  if (pretendForks) preloads.push(requiring('pretend-forks.cjs'));
  if (pretendWaits) preloads.push(requiring('pretend-waits.cjs'));
  if (seesStacks) preloads.push(requiring('stacks.cjs'));
  if (!isExternal && !entry.startsWith(rootFolder) && !isCompleteCopy(entry))
    preloads.push(`--import=${here('preload/resolve-elsewhere.js')}`);
  if (haltsChildren) preloads.push(requiring('halt-children.cjs')); // last, after the probe has reported the start
  if (isExternal && process.env.NODE_OPTIONS) preloads.unshift(process.env.NODE_OPTIONS);
  return {
    ...(isExternal
      ? environmentOfUser(process.env)
      : { ...scrub(process.env), PORT: String(port) }),
    NODE_OPTIONS: preloads.join(' '),
    FORKSHOP_TIMELINE: join(folder, 'timeline.jsonl'),
    FORKSHOP_PROBE: probe,
    FORKSHOP_KEPT_BY: `${keeper.pid} ${process.pid} ${pidNamespace()}`,
    ...(compileCache && !isExternal && { NODE_COMPILE_CACHE: compileCache }),
    ...(temporary && { TMPDIR: temporary }),
    ...(pretendCores && { FORKSHOP_PRETEND_CORES: String(pretendCores) }),
    ...(pretendExitCode !== undefined && {
      FORKSHOP_PRETEND_EXIT_CODE: String(pretendExitCode),
    }),
    ...(pretendWaits && { FORKSHOP_PRETEND_WAITS: String(pretendWaits) }),
    ...(followsChildren && { FORKSHOP_FOLLOWS: '1' }),
    ...(haltsChildren && { FORKSHOP_HALT_BELOW: String(keeper.pid) }),
    ...env,
  };
}

/** A --require option for NODE_OPTIONS, in quotes because of blanks; a backslash there escapes the next character. */
const requiring = (file) =>
  `--require="${fileURLToPath(here(`preload/${file}`)).replace(/["\\]/g, '\\$&')}"`;
