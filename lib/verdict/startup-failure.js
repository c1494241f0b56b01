/** Explains why a program didn't start listening, and how to fix it. */
import { basename, dirname, relative } from 'node:path';
import { Broken } from './outcome.js';
import { describeStartError } from './thrown-errors.js';

const MEGABYTE = 1024 ** 2;
const BLOCKED_MS = 2_000;
const MANY_CHILDREN = 12;
const WHICH_PORT = 'look at where the port comes from; the starter read it from process.env.PORT';
const FORKS =
  'Something forks endlessly: a loop without a limit, or a worker that forks workers or is replaced forever.';

/** Its event loop runs, but no process called listen(). */
const NOT_LISTENING = "It runs, but isn't listening on any port.";

/** For a timeline that names a process which isn't the program's. @param {number} pid @returns {Broken} */
export const explainStranger = (pid) =>
  new Broken({
    expected: 'Every process that is reported belongs to this program.',
    got: `Process ${pid} is reported, but it does not belong to this run.`,
    why: 'Something other than the probe has written to the timeline: nothing in it can be trusted.',
    try: 'take out what writes to FORKSHOP_TIMELINE',
  });

/** For processes in their own PID namespace. */
const APART = {
  got: 'It starts a process in its own PID namespace, as in a container: from here nothing is known of it.',
  why: 'Its pids belong to other processes here. Its processes there are killed with the program anyway.',
  try: 'start the server without unshare, bwrap, docker and the like',
};

/**
 * @param {{ name: string, command?: string, port: number, fate?: import('../observe/program.js').Fate, output: string,
 *   events: import('../observe/timeline.js').Event[], nowMs?: number, isUnseen?: boolean, isFutile?: boolean }} run  name: the
 *   program's path, relative as in messages; command: the path with its arguments; nowMs: on the timeline's clock; isUnseen: a worker
 *   runs without the probe; isFutile: one worker after the other exits before it listens
 * @param {string} expected @returns {Broken}
 */
export function explainNotReady({ fate, ...run }, expected) {
  const { name, command = name } = run;
  const story = (fate ? fromFate(fate, run) : (fromWorkers(run) ?? fromSilence(run))) ?? {};
  return new Broken({ expected, try: `PORT=8080 node ${command}`, ...story });
}

/** @param {import('../observe/program.js').Fate} fate */
function fromFate({ kind, code, signal, of, amount, error }, { name, port, events, output }) {
  if (kind === 'unstarted') return { got: `It could not be started: ${error}.` };
  if (kind === 'orphaned') {
    return {
      got: 'It killed the process that had started it (its parent).',
      why: 'A server that signals process.ppid kills the shell, the service manager or the check that runs it.',
    };
  }
  if (kind === 'excess') return fromExcess(of, amount);
  const why = describeStartError({ name, events, output });
  const end = signal ? `was killed by ${signal}` : `exited with code ${code}`;
  const workers = events.filter(({ what }) => what === 'worker-exit').length;
  const when = events.some(({ what }) => what === 'listening')
    ? 'after it had listened'
    : 'before it listened';
  return {
    got: `It ${end} ${when}${workers > 0 ? `; ${workers} of its workers had exited` : ''}.`,
    why: why ?? EXIT_WHYS[code ?? -1]?.(name, events) ?? (output.trim() || undefined),
    ...knownCrash(why, port),
  };
}

function knownCrash(why = '', /** @type {number} */ port) {
  const [, taken] = /EADDRINUSE.*?:(\d+)/.exec(why) ?? [];
  if (Number(taken) === port)
    return {
      why: `${why}. The program itself has that port: two lines, or two processes, listen on it.`,
      try: 'look for every listen(): which process runs it, and how often?',
    };
  if (taken)
    return {
      why: `It listens on port ${taken}, which something else has: ${why}. The environment variable PORT gives the port, and was ${port}.`,
      try: WHICH_PORT,
    };
  const [, kind, what, from] =
    /Cannot find (module|package) '([^']+)'(?: imported from (\/.*?\.[cm]?[jt]s))?/.exec(why) ?? [];
  if (kind === 'module' && what.includes('/')) {
    const wanted = from && relative(dirname(from), what);
    return {
      ...(wanted && { why: `${basename(from)} imports ${wanted}, and there is no such file.` }),
      try: `look for ${basename(what)}: was it renamed or moved?`,
    };
  }
  return kind ? { try: `npm ci, if ${what} is no misspelt name` } : {};
}

/** See "Process exit codes" in Node's documentation. */
const EXIT_WHYS = {
  0: (name, events) => {
    const hasChildren = events.some(({ what }) => what === 'child');
    const rest = hasChildren ? 'what it started has exited' : 'it started no other process';
    return `${name} ran to its end, or called process.exit(): ${rest}, and nothing keeps it alive.`;
  },
  13: () =>
    'An await at the top of the file waits for something that never happens (exit code 13).',
};

/** @param {Parameters<typeof explainNotReady>[0]} run */
function fromWorkers(run) {
  const { isUnseen, isFutile } = run;
  if (isUnseen) {
    return {
      got: 'Its workers cannot be observed: environment variables, such as NODE_OPTIONS, do not reach them.',
      why: 'The contents of process.env were removed. cluster.fork({ NAME: value }) adds to it; nothing has to go.',
      try: 'leave process.env as it is',
    };
  }
  const count = (/** @type {string} */ kind) =>
    run.events.filter(({ what }) => what === kind).length;
  if (isFutile && count('worker-exit') > 0) {
    return {
      got: `Its workers exit before they listen, and it forks others in their place, endlessly: ${count('worker-exit')} so far.`,
      why: describeStartError(run) ?? 'They run to their end: nothing keeps them alive.',
      ...knownCrash(describeStartError(run), run.port),
    };
  }
  if (count('listening') > 0 || count('child') < MANY_CHILDREN) return undefined;
  return { got: `It started ${count('child')} processes, and none of them listens.`, why: FORKS };
}

function fromExcess(of, amount) {
  const size = `${Math.round(amount / MEGABYTE)} MB`;
  return {
    processes: {
      got: `It started ${amount} processes, with more on the way; all were stopped.`,
      why: FORKS,
    },
    memory: {
      got: `Its processes took ${size} of memory; all were stopped.`,
      why: 'A small server needs about 50 MB per process. Something is kept that should be released.',
    },
    output: {
      got: `It printed ${size}; it was stopped.`,
      why: 'Something prints far too much. Print once when a thing happens, not in a loop.',
    },
    timeline: {
      got: `The workshop's record of it grew to ${size}; it was stopped.`,
      why: 'Something in it continues endlessly, or it writes to descriptors it never opened.',
    },
  }[of];
}

function fromSilence({ port, events, nowMs = 0 }) {
  if (events.some(({ what }) => what === 'apart')) return APART;
  const ports = new Set(
    events.filter(({ what }) => what === 'listening').map((event) => event.port),
  );
  if (ports.size > 0 && !ports.has(port)) {
    return {
      got: `It listens on port ${[...ports].join(', ')}, but PORT was ${port}.`,
      why: 'The environment variable PORT gives the port; 8080 is for when it is unset.',
      try: WHICH_PORT,
    };
  }
  const lastBeat = events.findLast(({ what }) => what === 'beat');
  if (!lastBeat || nowMs - lastBeat.t > BLOCKED_MS) {
    return {
      got: "It isn't listening on any port, and its event loop does not turn: something in it runs forever.",
      why: 'An endless loop, or a synchronous call that never returns, lets nothing after it run.',
    };
  }
  const others = events.filter(({ what }) => what === 'child').length;
  const which = others > 0 ? `: not this one, nor any of the ${others} that it started` : '';
  return { got: NOT_LISTENING, why: `No process called listen()${which}.` };
}
