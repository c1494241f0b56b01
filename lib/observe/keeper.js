/**
 * The keeper: the parent of a check's programs, which it starts, watches and kills. It leaves nothing behind however the check exits: it
 * leads its own session, out of Ctrl-C's reach, and when its IPC channel closes it kills all programs and removes the folder in its
 * argument. If a program kills its parent, the keeper, then the check kills the rest; if it kills both, the probe kills each process
 * (probe.cjs), and the next start cleans up (sweep.js).
 *
 * Messages in:  { start: id, command, args, env, cwd, folder, isExternal, limits }  { stop: id }
 *                 { suspends: whether the check is about to stop, as after Ctrl-Z }
 * Messages out: { started: id, pid, born }  { failed: id, error }  { ended: id, code, signal, t }
 *                 { excess: id, of: 'processes' | 'memory' | 'output' | 'timeline', amount }  { stopped: id, left: pids }
 */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sendToParent } from '../common/send-to-parent.js';
import { nowMs } from './clock.js';
import { endRun, findFamily } from './run-processes.js';
import { findMarker, withMark } from './mark.js';
import { hasStopped, listProcesses, processAt, signal } from './processes.js';

const WATCH_MS = 50;
const WATCH_SLOWLY_MS = 300;
const YOUNG_MS = 2_000;
const STILL_MS = 500;

const check = processAt(process.ppid);
const marker = findMarker();
const runs = new Map();
let isWatching = false;
let isSuspended = false;
/** @type {number | undefined} since when the check has been stopped without having announced it */
let stillMs;

process.on('message', (/** @type {any} */ message) => {
  if (message.start) start(message);
  else if (message.stop)
    stop(message.stop).then((left) => sendToParent({ stopped: message.stop, left }));
  else isSuspended = message.suspends;
});
if (process.connected) process.on('disconnect', leave);
else leave(); // the check exited while this process was starting

async function leave() {
  await Promise.all([...runs.keys()].map(stop));
  rmSync(process.argv[2], { recursive: true, force: true, maxRetries: 3 });
  process.exit();
}

function start(order) {
  try {
    begin(order);
  } catch (/** @type {any} */ error) {
    sendToParent({ failed: order.start, error: error.message }); // the folder is gone, or the disk is full
  }
}

function begin({ start: id, command, args, env, cwd, folder, ...how }) {
  const { isExternal, limits } = how;
  const program = withMark(id, { command, args, env }, isExternal ? undefined : marker); // their daemons may survive
  const output = openSync(join(folder, 'output.txt'), 'a');
  const timeline = openSync(join(folder, 'timeline.jsonl'), 'r'); // open from the start: the program may replace the files
  const files = { output, timeline };
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = ['ignore', output, output];
  const options = { cwd, env: program.env, stdio, detached: true, windowsHide: true };
  const child = spawn(program.command, program.args, options);
  const { pid } = child;
  const born = pid && processAt(pid)?.born; // the pid can't be reused before 'exit'
  const known = new Map(born ? [[pid, born]] : []);
  runs.set(id, { id, pid, born, known, sinceMs: nowMs(), files, limits });
  child.on('error', (error) => sendToParent({ failed: id, error: error.message }));
  child.on('spawn', () => sendToParent({ started: id, pid, born }));
  child.on('exit', (code, signal) => sendToParent({ ended: id, code, signal, t: nowMs() }));
  if (!isWatching) watch();
}

function watch() {
  const watched = [...runs.values()].filter((run) => !run.stopping);
  isWatching = runs.size > 0;
  if (!isWatching) return;
  wakeCheck();
  const all = listProcesses();
  for (const run of watched) limit(run, findFamily(run, { all }));
  const isYoung = watched.some((run) => nowMs() - run.sinceMs < YOUNG_MS);
  setTimeout(watch, isYoung ? WATCH_MS : WATCH_SLOWLY_MS);
}

/** A program may stop the check, which then would never kill anything. Detected on Linux only. */
function wakeCheck() {
  const isStill = process.platform === 'linux' && !isSuspended && check && hasStopped(check.pid);
  if (!isStill) stillMs = undefined;
  else if (stillMs === undefined) stillMs = nowMs();
  else if (nowMs() > stillMs + STILL_MS) signal(check, 'SIGCONT');
}

function limit(run, family) {
  const sizes = {
    processes: family.length,
    memory: family.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
    output: sizeOf(run.files.output),
    timeline: sizeOf(run.files.timeline),
  };
  const of = Object.keys(run.limits).find((name) => sizes[name] > run.limits[name]);
  if (!of) return;
  run.stopping = true;
  sendToParent({ excess: run.id, of, amount: sizes[of] });
  endRun(run);
}

const sizeOf = (/** @type {number} */ fd) => fstatSync(fd).size;

async function stop(id) {
  const run = runs.get(id);
  if (!run) return [];
  run.stopping = true;
  const left = await endRun(run);
  if (runs.delete(id)) Object.values(run.files).forEach((file) => closeSync(file));
  return left;
}
