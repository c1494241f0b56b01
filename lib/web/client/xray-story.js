/**
 * The messages of lib/deck/perform-demo.js, sorted by process, for an X-ray. Pure, so that tests can compare it with the
 * timeline, whose clock all times here use.
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {string} role  'primary' or 'worker', as the probe reports; 'child' of another process of the story, if no
 *   worker; 'process' until its start is reported
 * @property {string} [as]  the demo's name for its program
 * @property {string} [called]  the demo's name for this process alone
 * @property {number} [worker]  the cluster's id, or a child's number among its siblings
 * @property {number} [parent]  pid
 * @property {number} connections @property {{ client: number, fromMs: number, toMs?: number }[]} requests
 * @property {{ fromMs: number, toMs?: number }[]} silent  while its event loop didn't turn
 * @property {number} [bornMs]
 * @property {number} [startedMs]  when it had started up, if known; Infinity: never
 * @property {number} [listeningMs] @property {number} [diedMs] @property {number | null} [code]
 * @property {string | null} [signal]
 * @typedef {{ fromMs: number, toMs?: number, path?: string, client?: number, status?: number, error?: string }} Asked
 *   a request, as its client saw it
 *
 * @typedef {{ label: string, most: number, names: string[], points: { ms: number, values: number[] }[] }} Curve
 *   counts over time
 *
 * @typedef {{ root: Process, processes: Process[], asked: Asked[], fromMs: number, toMs: number }} Side  one
 *   program of a comparison, from its first request to its last response
 */
const MOST_HANDOFFS = 150;

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
    /** @type {Map<number, number>} by a client's port, the pid that got its connection */
    owners: new Map(),
    /** @type {Map<string, Curve>} */
    curves: new Map(),
  };
}

/** @typedef {ReturnType<typeof createStory>} Story */

/** Adds one message to a story.  @param {Story} story  @param {any} message */
export function tell(story, message) {
  const { origin, asked, answered, silent, turns, startup, chart, events = [] } = message;
  if (origin !== undefined) story.originMs = origin;
  if (asked) story.asked.set(asked.id, { fromMs: at(story, asked.t), path: asked.path });
  if (chart?.t !== undefined) addPoint(story, chart);
  if (answered) finish(story, answered);
  if (silent) processOf(story, silent.pid).silent.push({ fromMs: at(story, silent.sinceMs) });
  if (turns)
    Object.assign(processOf(story, turns.pid).silent.at(-1) ?? {}, { toMs: at(story, turns.t) });
  for (const event of events) if (event.tid === undefined) takeEvent(story, event);
  if (startup) processOf(story, startup.pid).startedMs = startup.untilMs ?? Infinity;
}

function at(story, t) {
  story.lastMs = Math.max(story.lastMs, t);
  return t;
}

function addPoint({ curves }, { t: ms, name, label, most = 1, rows }) {
  const { points } = curves.get(name) ?? { points: [] };
  const values = rows.map(({ value }) => value);
  points.push({ ms, values });
  curves.set(name, {
    label,
    most: Math.max(most, ...points.flatMap((point) => point.values)),
    names: rows.map((row) => row.name),
    points,
  });
}

function finish(story, { id, t, ...rest }) {
  story.asked.set(id, { ...story.asked.get(id), toMs: at(story, t), ...rest });
}

function processOf(story, pid) {
  if (!story.processes.has(pid))
    story.processes.set(pid, { pid, role: 'process', connections: 0, requests: [], silent: [] });
  return story.processes.get(pid);
}

function takeEvent(story, /** @type {any} */ { t, pid, what, ...event }) {
  const ms = at(story, t);
  const one = processOf(story, pid);
  const { ppid: parent, as, called, code, signal, client } = event;
  if (called) one.called = called;
  if (client !== undefined) story.owners.set(client, pid);
  if (what === 'start') Object.assign(one, { bornMs: ms, as, parent, ...rankOf(story, event) });
  else if (what === 'listening') one.listeningMs ??= ms;
  else if (what === 'connection') connect(story, one, { how: event.how, ms });
  else if (what === 'request') one.requests.push({ client, fromMs: ms });
  else if (what === 'response') respond(one, client, ms);
  else if (what === 'exit') Object.assign(one, { diedMs: ms, code, signal });
  else if (what === 'worker-exit')
    Object.assign(processOf(story, event.workerPid), { diedMs: ms, code, signal });
}

/** The probe calls every process but a cluster's worker a primary, including a child of child_process.fork(). */
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

/** HTTP/1.1 answers the requests of a connection in their order. */
function respond(one, client, ms) {
  const request = one.requests.find((each) => each.client === client && each.toMs === undefined);
  if (request) request.toMs = ms;
}

/**
 * @param {Story} story
 * @returns {{ name: string, pid: number, connections: number, requests: number, answered: number, end: string }[]}  the table, a row for each process
 */
export function rowsOf(story) {
  return [...story.processes.values()].map((one) => {
    const { pid, connections, requests, diedMs, code, signal } = one;
    const answered = requests.filter(({ toMs }) => toMs !== undefined).length;
    const end = diedMs === undefined ? 'runs' : endOf({ code, signal });
    return { name: nameOf(one), pid, connections, requests: requests.length, answered, end };
  });
}

/** @param {{ code?: number | null, signal?: string | null }} end */
export const endOf = ({ code, signal }) =>
  signal ?? (code === undefined || code === null ? 'gone' : `exit code ${code}`);

/**
 * The processes in the order of their lanes: a program, then its children, workers by their id.
 * @param {Story} story @returns {Process[]}
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
export function nameOf({ role, worker, as, called, pid }) {
  const own = { primary: as ?? 'server', worker: `worker ${worker}`, child: `child ${worker}` }[
    role
  ];
  return called ?? own ?? `process ${pid}`;
}

/**
 * Two programs that got their requests one after the other are the sides of a comparison.
 * @param {Story} story @returns {Side[]}  two, or none
 */
export function sidesOf(story) {
  const groups = programsOf(story).map((/** @type {any[]} */ processes) => {
    const pids = new Set(processes.map(({ pid }) => pid));
    const all = /** @type {any[]} */ ([...story.asked.values()]);
    const asked = all.filter(({ client, toMs, fromMs }) => {
      const isSeen = toMs !== undefined && fromMs >= story.originMs;
      return isSeen && pids.has(story.owners.get(client));
    });
    const fromMs = Math.min(...asked.map((one) => one.fromMs));
    const toMs = Math.max(...asked.map((one) => one.toMs));
    return { root: processes[0], processes, asked, fromMs, toMs };
  });
  const [first, second, ...others] = groups.sort((a, b) => a.fromMs - b.fromMs);
  const isOne = !second || others.length > 0 || second.asked.length < 2 || first.asked.length < 2;
  return isOne || first.toMs > second.fromMs ? [] : [first, second];
}

/** The processes of each program, in the order of their lanes. @param {Story} story */
function programsOf(story) {
  const programs = [];
  for (const one of lanesOf(story)) {
    if (!story.processes.has(one.parent ?? 0)) programs.push([]);
    programs[programs.length - 1].push(one);
  }
  return programs;
}

/** Pairs each worker that crashed with its replacement: the first worker born after the crash that listened. */
export function heirsOf(story) {
  const all = [...story.processes.values()];
  const taken = new Set();
  return all
    .filter(({ diedMs, role, code }) => diedMs !== undefined && role === 'worker' && code !== 0)
    .flatMap((dead) => {
      const heir = all.find(
        (one) =>
          one.role === 'worker' &&
          !taken.has(one) &&
          one.bornMs >= dead.diedMs - 5 &&
          one.listeningMs > dead.diedMs,
      );
      taken.add(heir);
      return heir ? [{ dead, heir }] : [];
    });
}
