/** A program of a demo, watched for the drawing: its events, its exits, and its event loops that stall. */
import { nowMs } from '../observe/clock.js';
import { isLiving } from '../observe/processes.js';
import { SILENT_MS, pickDrawnFields } from '../web/pick-drawn-fields.js';

const LOOKS_WITHOUT = 2; // a parent that sees its child exit reports it sooner, with more detail

/**
 * @typedef {{ as?: string, hosts?: Record<string, string> }} Names  as: of a program's lanes; hosts: of primaries, by the address
 *   at which each listens
 * @typedef {ReturnType<typeof watchProgram>} Watched
 */

/** @param {import('../observe/program.js').Program} program  its kill() is wrapped, to note the signals  @param {Names} names */
export function watchProgram(program, { as, hosts = {} }) {
  /** @type {Map<number, { t: number, signal: string }>} */
  const killed = new Map();
  const kill = program.kill.bind(program);
  program.kill = (pid, signal) => {
    killed.set(pid, { t: nowMs(), signal });
    return kill(pid, signal);
  };
  return {
    ...{ program, as, hosts, killed },
    sentEvents: 0,
    /** Names of primaries that have listened. @type {string[]} */
    given: [],
    /** Pids whose event loop is silent. @type {Set<number>} */
    silent: new Set(),
    /** By pid: exits that no event reports. @type {Map<number, { t: number, looks: number }>} */
    missed: new Map(),
    /** @type {Set<number>} */
    ended: new Set(),
    /** @type {Map<number, string>} */
    roles: new Map(),
  };
}

/** Sends the events since the last report. @param {Watched} watched  @param {(message: object) => void} send */
export function report(watched, send) {
  const { program } = watched;
  const events = /** @type {any[]} */ (program.events.slice(watched.sentEvents));
  watched.sentEvents += events.length;
  for (const event of events) noteLife(event, watched);
  const drawn = events.filter(({ what }) => what !== 'beat').map((event) => draw(event, watched));
  if (drawn.length > 0) send({ events: drawn });
  reportExits(watched, send);
  reportSilence(watched, send);
}

function noteLife({ what, pid, tid, role, workerPid }, /** @type {Watched} */ { roles, ended }) {
  if (what === 'start' && tid === undefined) roles.set(pid, role);
  if (what === 'exit' && tid === undefined) ended.add(pid);
  if (what === 'worker-exit') ended.add(workerPid);
}

function draw(/** @type {any} */ event, /** @type {Watched} */ watched) {
  const called = event.what === 'listening' ? nameOfPrimary(event, watched) : undefined;
  return { ...pickDrawnFields(event, watched.as), ...(called && { called }) };
}

/** The second primary at an address is the first one started again. */
function nameOfPrimary({ pid, address }, /** @type {Watched} */ { hosts, given, roles }) {
  const name = hosts[address];
  if (!name || roles.get(pid) !== 'primary') return undefined;
  given.push(name);
  return given.filter((one) => one === name).length > 1 ? `${name} again` : name;
}

/** A killed process reports no exit, and if its parent was killed with it, no other process does. */
function reportExits(/** @type {Watched} */ watched, send) {
  const { program, roles, ended, missed, killed } = watched;
  for (const pid of roles.keys()) {
    if (ended.has(pid) || isLiving(pid)) continue;
    const { t, looks } = missed.get(pid) ?? { t: nowMs(), looks: 0 };
    missed.set(pid, { t, looks: looks + 1 });
    const fate = pid === program.pid ? program.fate : undefined;
    const kill = killed.get(pid);
    const signal = fate?.signal ?? kill?.signal;
    if (looks < LOOKS_WITHOUT && !signal) continue;
    ended.add(pid);
    const atMs = kill?.signal === 'SIGKILL' ? kill.t : t; // SIGKILL works at once
    send({ events: [{ t: atMs, pid, what: 'exit', signal }] });
  }
}

function reportSilence(/** @type {Watched} */ { program, silent, ended, missed }, send) {
  const now = nowMs();
  for (const [pid, beatMs] of program.lastBeats) {
    if (ended.has(pid) || missed.has(pid)) continue; // an exit is no stall
    const isSilent = now - beatMs > SILENT_MS;
    if (isSilent && !silent.has(pid)) send({ silent: { pid, sinceMs: beatMs } });
    else if (!isSilent && silent.has(pid)) send({ turns: { pid, t: beatMs } });
    if (isSilent) silent.add(pid);
    else silent.delete(pid);
  }
}
