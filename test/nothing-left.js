// Runs commands that must leave nothing, and looks for leftovers. Every process of such a command carries its own mark in its
// environment or arguments; its temporary files are in their own folder.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootFolder } from '../lib/lessons/catalog.js';
import { ageMs, isAlive, listProcesses } from '../lib/observe/processes.js';
import { createRunner } from '../lib/observe/runner.js';
import { holdersOf } from '../lib/observe/sockets.js';
import { limitMs } from './limits.js';

const LOOK_EVERY_MS = 40;
const SETTLED_MS = 500; // by then a process has called exec: between fork and exec it is a copy of its parent
const foreign = /^(npm_|FORKSHOP_|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$|NODE_TEST_CONTEXT$|PORT$)/;

/**
 * @typedef {{ pid: number, ppid: number, born: number, command: string, env: Record<string, string> }} Seen
 * @typedef {{ code: number | null, signal: string | null, stdout: string, stderr: string }} Ended
 */

/**
 * Waits for a fact. The limit is generous: a fact that takes longer will never hold.
 * @template T
 * @param {string} what  for the message
 * @param {() => T | Promise<T>} look  until it is true
 * @param {number} [withinMs]
 * @returns {Promise<T>}
 */
export async function until(what, look, withinMs = limitMs(5)) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs / 1000} s: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** A file that a check of a solution keeps on purpose: its measurements. */
const KEPT = 'solutions.jsonl';

/** A command in a new process group, watched from its start. */
export class Watched {
  mark = randomUUID();
  temporary = mkdtempSync(join(tmpdir(), 'hostile-'));
  /** @type {Map<string, Seen>} every process that was ever seen, by pid and birth */
  seen = new Map();
  /** @type {Set<string>} processes that are not ours, by pid and birth */
  foreign = new Set();
  /** @type {Ended | undefined} */
  ended;

  /**
   * @param {string[]} command
   * @param {Record<string, string>} [more] environment
   */
  constructor([file, ...args], more = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
    const own = { HOSTILE_MARK: this.mark, TMPDIR: this.temporary, FORKSHOP_HOME: this.temporary };
    const env = { ...Object.fromEntries(inherited), ...own, ...more };
    const child = spawn(file, args, { cwd: rootFolder, env, detached: true });
    const parts = { stdout: '', stderr: '' };
    /** Its output. */
    this.printed = (/** @type {RegExp} */ pattern) => pattern.exec(parts.stdout + parts.stderr);
    for (const name of /** @type {const} */ (['stdout', 'stderr']))
      child[name].setEncoding('utf8').on('data', (text) => (parts[name] += text));
    child.stdin.end();
    this.pid = Number(child.pid);
    const isClosed = new Promise((resolve) => child.on('close', resolve));
    /** @type {Promise<Ended>} */
    this.end = new Promise((resolve) =>
      child.on('exit', async (code, signal) => {
        await Promise.race([isClosed, sleep(limitMs(1), undefined, { ref: false })]); // leftover processes may hold its output open
        resolve((this.ended = { code, signal, ...parts }));
      }),
    );
    this.watching = setInterval(() => this.look(LOOK_EVERY_MS), LOOK_EVERY_MS);
    this.end.then(() => clearInterval(this.watching));
  }

  /**
   * Records the processes that carry the mark, and their children.
   * @param {number} [olderMs]  a look taken this recently by another watcher is new enough
   * @returns {Seen[]} those alive now
   */
  look(olderMs = 0) {
    const { all, carries } = lookAtAll(olderMs);
    const pids = new Set();
    for (let size = -1; size !== pids.size;) {
      size = pids.size;
      for (const one of all) {
        const { pid, ppid, born } = one;
        if (pids.has(pid)) continue;
        const key = `${pid} ${born}`;
        if (this.foreign.has(key)) continue;
        const isOurs = this.seen.has(key) || (pids.has(ppid) && ppid !== process.pid);
        if (isOurs || carries(one, this.mark)) pids.add(pid);
        else if (size > 0 && ageMs({ born }) > SETTLED_MS) this.foreign.add(key);
      }
    }
    const alive = new Map(all.filter(({ pid }) => pids.has(pid)).map((one) => [one.pid, one]));
    return [...alive.values()].map((one) => this.#record(one, alive.get(one.ppid)));
  }

  /** @param {Process} process @param {Process} [parent] @returns {Seen} */
  #record({ pid, ppid, born }, parent) {
    const key = `${pid} ${born}`;
    const known = this.seen.get(key);
    const ofParent = parent && this.seen.get(`${parent.pid} ${parent.born}`);
    const one = { pid, ppid, born, command: '', env: {}, ...known };
    if (!known || !hasCalledExec(known, ofParent)) {
      const now = describe(pid);
      if (now.command) Object.assign(one, now); // an exiting process has lost its command line
    }
    one.ppid = ppid;
    this.seen.set(key, one);
    return one;
  }

  /** The live processes whose command line contains this. @param {string} part */
  running(part) {
    return this.look().filter(({ command }) => command.includes(part));
  }

  /** The first processes of programs: those whose parent is the keeper. */
  programs() {
    const keepers = this.running('keeper.js').map(({ pid }) => pid);
    return this.look().filter(({ ppid, env }) => keepers.includes(ppid) && env.FORKSHOP_RUN);
  }

  /** How it exited. @returns {Promise<Ended>} */
  async over() {
    await until('the command exits', () => this.ended, limitMs(30));
    return this.end;
  }

  /** Does what the next start does, with the same folder for temporary files. */
  async startNext() {
    const old = process.env.TMPDIR;
    process.env.TMPDIR = this.temporary;
    const runner = createRunner();
    if (old === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = old;
    await runner.close();
  }

  /** Describes its leftovers. @returns {Promise<string[]>} */
  async left() {
    this.look();
    const all = [...this.seen.values()];
    const alive = all.filter(isAlive).map(({ pid, command }) => `process ${pid}: ${command}`);
    const files = readdirSync(this.temporary)
      .filter((name) => name !== KEPT)
      .map((name) => `file ${name}`);
    const ports = new Set(all.flatMap(({ env }) => (env.FORKSHOP_RUN ? [env.PORT] : [])));
    const open = await Promise.all([...ports].map(async (port) => (await isOpen(port)) && port));
    const left = open.filter((port) => port && !this.isOfAnother(Number(port)));
    return [...alive, ...files, ...left.map((port) => `port ${port}`)];
  }

  /** A concurrent check may get the same port after ours has released it. @param {number} port */
  isOfAnother(port) {
    const holders = holdersOf(port, () => listProcesses().map(({ pid }) => pid));
    const marks = holders.map((pid) => describe(pid).env.HOSTILE_MARK);
    return marks.length > 0 && marks.every((mark) => mark && mark !== this.mark);
  }

  /** Kills the leftovers of a failed test. */
  cleanUp() {
    clearInterval(this.watching);
    for (const { pid } of this.look()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone.
      }
    }
    rmSync(this.temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Between fork and exec a process has the command line and the environment of its parent, for longer on a busy machine. A keeper
 * carries the mark of its home, so the mark alone doesn't tell its programs from copies of it.
 *
 * @param {Seen} one @param {Seen} [parent]
 */
const hasCalledExec = ({ env, command }, parent) =>
  env.FORKSHOP_RUN !== undefined && command !== parent?.command;

const textOf = (/** @type {number} */ pid, /** @type {string} */ name) => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return ''; // it exited, or belongs to another user
  }
};

/** @typedef {import('../lib/observe/processes.js').Process} Process */

/** The last look, shared by all watchers, because a look takes CPU time that the programs need. */
let last = lookNow();

/** @param {number} olderMs */
function lookAtAll(olderMs) {
  if (performance.now() - last.atMs > olderMs) last = lookNow();
  return last;
}

/** Every process, and whether one carries a mark. */
function lookNow() {
  /** @type {Map<Process, string>} */
  const texts = new Map();
  const read = (/** @type {Process} */ one) => {
    const text = textOf(one.pid, 'environ') + textOf(one.pid, 'cmdline');
    texts.set(one, text);
    return text;
  };
  return {
    atMs: performance.now(),
    all: listProcesses(),
    carries: (/** @type {Process} */ one, /** @type {string} */ mark) =>
      (texts.get(one) ?? read(one)).includes(mark),
  };
}

/** How a process was started: its command line and its environment; empty if it has exited. @param {number} pid */
export function describe(pid) {
  const command = textOf(pid, 'cmdline').replaceAll('\0', ' '); // first: what exec changes in between is then newer, never older
  const variables = textOf(pid, 'environ')
    .split('\0')
    .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]);
  return { command, env: Object.fromEntries(variables) };
}

/** Does a process listen there? @param {string | number} port @returns {Promise<boolean> | boolean} */
export function isOpen(port) {
  if (!(Number(port) < 65_536)) return false; // a check also tries invalid ports
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
