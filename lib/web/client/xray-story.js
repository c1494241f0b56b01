/**
 * What an X-ray tells: the messages of lib/web/stage.js put in order, process by process. Pure, without a page, so that
 * tests compare it with the timeline. All times are the timeline's own, in milliseconds.
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {string} role  'primary', 'worker', as the probe tells; 'child' if another process of the story started it
 *   and it is no worker; 'process' until it has told
 * @property {string} [as]  what the demo calls its program
 * @property {number} [worker]  the cluster's id; of a child, its number among its parent's children
 * @property {number} [parent]  pid
 * @property {number} connections
 * @property {{ client: number, fromMs: number, toMs?: number }[]} requests
 * @property {{ fromMs: number, toMs?: number }[]} silent  while its event loop did not turn
 * @property {number} [bornMs]
 * @property {number} [listeningMs]
 * @property {number} [diedMs]
 * @property {number | null} [code]
 * @property {string | null} [signal]
 *
 * @typedef {{ fromMs: number, toMs?: number, status?: number, error?: string }} Asked  a request as its client saw it
 */
const MOST_HANDOFFS = 150;

/** An empty story. */
export function createStory() {
  return {
    originMs: 0,
    lastMs: 0,
    /** @type {Map<string, Asked>} */
    asked: new Map(),
    /** @type {Map<number, Process>} */
    processes: new Map(),
    /** @type {{ ms: number, from: Process, to: Process }[]} */
    handoffs: [],
  };
}

/** @typedef {ReturnType<typeof createStory>} Story */

/**
 * Takes in one message.
 * @param {Story} story
 * @param {any} message
 */
export function tell(story, message) {
  const { origin, asked, answered, silent, turns, events = [] } = message;
  if (origin !== undefined) story.originMs = origin;
  if (asked) story.asked.set(asked.id, { fromMs: at(story, asked.t) });
  if (answered) finish(story, answered);
  if (silent) processOf(story, silent.pid).silent.push({ fromMs: at(story, silent.sinceMs) });
  if (turns)
    Object.assign(processOf(story, turns.pid).silent.at(-1) ?? {}, { toMs: at(story, turns.t) });
  for (const event of events) if (event.tid === undefined) takeEvent(story, event);
}

function at(story, t) {
  story.lastMs = Math.max(story.lastMs, t);
  return t;
}

function finish(story, { id, t, ...rest }) {
  story.asked.set(id, { ...story.asked.get(id), toMs: at(story, t), ...rest });
}

/** @returns {Process} */
function processOf(story, pid) {
  if (!story.processes.has(pid))
    story.processes.set(pid, { pid, role: 'process', connections: 0, requests: [], silent: [] });
  return story.processes.get(pid);
}

function takeEvent(story, /** @type {any} */ { t, pid, what, ...event }) {
  const ms = at(story, t);
  const one = processOf(story, pid);
  const { ppid: parent, as, code, signal } = event;
  if (what === 'start') Object.assign(one, { bornMs: ms, as, parent, ...rankOf(story, event) });
  else if (what === 'listening') one.listeningMs ??= ms;
  else if (what === 'connection') connect(story, one, { how: event.how, ms });
  else if (what === 'request') one.requests.push({ client: event.client, fromMs: ms });
  else if (what === 'response') respond(one, event.client, ms);
  else if (what === 'exit') Object.assign(one, { diedMs: ms, code, signal });
  else if (what === 'worker-exit')
    Object.assign(processOf(story, event.workerPid), { diedMs: ms, code, signal });
}

/** Any process but a cluster's worker says that it is a primary, a child made by child_process.fork() too. */
function rankOf({ processes }, { role, worker, ppid }) {
  if (role !== 'primary' || !processes.has(ppid)) return { role, worker };
  const siblings = [...processes.values()].filter(({ parent }) => parent === ppid);
  return { role: 'child', worker: siblings.length + 1 };
}

function connect(story, one, { how, ms }) {
  one.connections += 1;
  const from = story.processes.get(one.parent);
  if (how !== 'kernel' && from && story.handoffs.length < MOST_HANDOFFS)
    story.handoffs.push({ ms, from, to: one });
}

/** The responses of a connection come in the order of its requests. */
function respond(one, client, ms) {
  const request = one.requests.find((each) => each.client === client && each.toMs === undefined);
  if (request) request.toMs = ms;
}

/**
 * What is told of each process, as a row of a table.
 * @param {Story} story
 * @returns {{ name: string, pid: number, connections: number, requests: number, answered: number, end: string }[]}
 */
export function rowsOf(story) {
  return [...story.processes.values()].map((one) => {
    const { pid, connections, requests, diedMs, code, signal } = one;
    const answered = requests.filter(({ toMs }) => toMs !== undefined).length;
    const end = diedMs === undefined ? 'runs' : (signal ?? `exit code ${code}`);
    return { name: nameOf(one), pid, connections, requests: requests.length, answered, end };
  });
}

/**
 * The processes in the order of their lanes: a program, then what it started, workers by their id.
 * @param {Story} story
 * @returns {Process[]}
 */
export function lanesOf({ processes }) {
  const born = [...processes.values()].filter(({ bornMs }) => bornMs !== undefined);
  const childrenOf = (pid) =>
    born
      .filter(({ parent }) => parent === pid)
      .sort((a, b) => (a.worker ?? 0) - (b.worker ?? 0))
      .flatMap((one) => [one, ...childrenOf(one.pid)]);
  return born
    .filter(({ parent = 0 }) => !processes.has(parent))
    .flatMap((root) => [root, ...childrenOf(root.pid)]);
}

/** @param {Process} one */
export function nameOf({ role, worker, as, pid }) {
  const own = { primary: as ?? 'server', worker: `worker ${worker}`, child: `child ${worker}` }[
    role
  ];
  return own ?? `process ${pid}`;
}

/** Who took the place of a worker that died: the next one born after it that came to listen. */
export function heirsOf(story) {
  const all = [...story.processes.values()];
  const taken = new Set();
  return all
    .filter(({ diedMs, role }) => diedMs !== undefined && role === 'worker')
    .flatMap((dead) => {
      const heir = all.find(
        (one) => !taken.has(one) && one.bornMs >= dead.diedMs - 5 && one.listeningMs > dead.diedMs,
      );
      taken.add(heir);
      return heir ? [{ dead, heir }] : [];
    });
}
