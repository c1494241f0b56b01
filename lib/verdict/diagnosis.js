/**
 * Why a program is not what was waited for: from the facts of its run to sentences that name the repair.
 */
import { Broken } from './outcome.js';

const MEGABYTE = 1024 ** 2;

/**
 * @param {object} run
 * @param {string} run.name  the program's file, as its author knows it
 * @param {number} run.port
 * @param {import('../observe/run.js').Fate} [run.fate]
 * @param {import('../observe/timeline.js').Event[]} run.events
 * @param {string} run.output
 * @param {string} expected
 * @returns {Broken}
 */
export function explainNotReady({ name, port, fate, events, output }, expected) {
  const story =
    (fate ? fromFate(fate, { name, events, output }) : fromSilence({ port, events })) ?? {};
  return new Broken({ expected, try: `PORT=8080 node ${name}`, ...story });
}

/** @param {import('../observe/run.js').Fate} fate */
function fromFate({ kind, code, signal, of, amount, error }, { name, events, output }) {
  if (kind === 'unstarted') return { got: `It could not be started: ${error}.` };
  if (kind === 'orphaned') {
    return {
      got: 'It killed the process that had started it (its parent).',
      why: 'A server that signals process.ppid ends the shell, the service manager or the check that runs it.',
    };
  }
  if (kind === 'excess') return fromExcess(of, amount);
  const crash = events.find(({ what }) => what === 'crash')?.error ?? lastError(output);
  const end = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
  return {
    got: `It ${end} before it listened.`,
    why:
      crash ??
      (code === 0
        ? `${name} ran to its end: nothing in it keeps the process alive.`
        : output.trim()),
  };
}

function fromExcess(of, amount) {
  const size = `${Math.round(amount / MEGABYTE)} MB`;
  return {
    processes: {
      got: `It started ${amount} processes and more were coming; all were stopped.`,
      why: 'Something forks without end: a loop without a limit, or a worker that forks workers or is replaced for ever.',
    },
    memory: {
      got: `Its processes took ${size} of memory; all were stopped.`,
      why: 'A small server needs some 50 MB a process. Something is kept that should be let go.',
    },
    output: {
      got: `It printed ${size}; it was stopped.`,
      why: 'Something prints without end. Print once when a thing happens, not in a loop.',
    },
  }[of];
}

function fromSilence({ port, events }) {
  const ports = new Set(
    events.filter(({ what }) => what === 'listening').map((event) => event.port),
  );
  if (ports.size > 0 && !ports.has(port)) {
    return {
      got: `It listens on port ${[...ports].join(', ')}, but PORT was ${port}.`,
      why: 'The environment variable PORT tells the port; 8080 is for when it is unset.',
      try: 'const port = process.env.PORT ?? 8080;',
    };
  }
  if (!events.some(({ what }) => what === 'beat')) {
    return {
      got: 'It listens on no port, and its event loop has not turned once.',
      why: 'Something at the top of the file runs for ever, so that nothing after it ever does.',
    };
  }
  return {
    got: 'It runs, but listens on no port.',
    why: 'Nothing called listen(), or it was called in no process.',
  };
}

/** The line of a stack trace that tells what was thrown, as Node prints it: "SyntaxError: Unexpected token". */
function lastError(output) {
  return /^(\w*Error\b.*)$/m.exec(output)?.[1];
}
