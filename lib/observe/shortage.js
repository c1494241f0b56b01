/**
 * Shortages of this machine: open files, processes, ports, memory, disk. They make a verdict "undecided": if the check, its client, its
 * load or its keeper ran short, its observations prove nothing. Only this file tells such errors from the program's own.
 */
import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import { readFileSync, statfsSync } from 'node:fs';
import { nowMs } from './clock.js';

const LEAST_FREE_BYTES = 256 * 1024; // a run's timeline and output grow by more in a second
const ENOUGH_FILES = 512; // a program that needs more open files leaks them
const FEWEST_PROCESSES = 200; // including threads, eleven for each Node.js process; with fewer, some processes just hang

/** @type {Record<string, { got: string, try: string }>} by error code, or a name of ours */
const STORIES = {
  EMFILE: {
    got: 'This process may open no more files and connections (EMFILE).',
    try: 'ulimit -n 4096, then check again',
  },
  ENFILE: {
    got: 'This machine may open no more files and connections (ENFILE).',
    try: 'close other programs, then check again',
  },
  EADDRNOTAVAIL: {
    got: 'No port was left from which to open a connection (EADDRNOTAVAIL).',
    try: 'wait a minute, then check again; on Linux see sysctl net.ipv4.ip_local_port_range',
  },
  ENOBUFS: {
    got: 'The system had no memory left for connections (ENOBUFS).',
    try: 'close other programs, then check again',
  },
  ENOMEM: {
    got: 'The system had no memory left (ENOMEM).',
    try: 'close other programs, or give this machine or container more memory; then check again',
  },
  EAGAIN: {
    got: 'The system started no more processes or threads (EAGAIN).',
    try: 'close other programs, or raise ulimit -u; then check again',
  },
  ENOSPC: {
    got: 'There was no room left for temporary files (ENOSPC).',
    try: 'free some disk space, or: TMPDIR=/var/tmp npm run check',
  },
  KEEPER: {
    got: 'The process that starts and watches your program for the check has exited.',
    try: 'check again; if it happens each time, look in your program for what signals process.ppid',
  },
  LOAD: {
    got: 'The process that sends the requests of a measurement has exited.',
    try: 'check again; if it happens each time, find out what kills or limits processes on this machine',
  },
};
STORIES.EDQUOT = { ...STORIES.ENOSPC, got: STORIES.ENOSPC.got.replace('ENOSPC', 'EDQUOT') };

/**
 * How a program reports a shortage. Its own faults are not among them, such as listen EADDRNOTAVAIL (a wrong address) and "JavaScript
 * heap out of memory" (the heap's own limit).
 */
const SIGNS = /** @type {const} */ ([
  ['EAGAIN', /\bspawn\b.* EAGAIN\b|\b(pthread|uv_thread)_create\b/],
  ['ENOMEM', /\bspawn\b.* ENOMEM\b|Cannot allocate memory|Fatal process out of memory/],
  ['ENOSPC', /\b(ENOSPC|EDQUOT)\b/],
  ['EADDRNOTAVAIL', /\bconnect EADDRNOTAVAIL\b/],
  ['EMFILE', /\b(EMFILE|ENFILE)\b/],
]);

/** The machine gave too little for a verdict: to us, or (Starved, cpu-time.js) to the program. */
export class Shortage extends Error {
  /** @param {{ got: string, why: string, try: string }} story  in full sentences @param {string} [what]  a key of STORIES */
  constructor(story, what) {
    super(story.got);
    this.name = 'Shortage';
    this.story = story;
    this.what = what;
  }
}

/** @param {string} what  an error code, or KEEPER or LOAD: a process of ours is gone @returns {Shortage} */
export function shortOf(what) {
  const { got, try: command } = STORIES[what];
  const why = 'Something was short on this machine, and that says nothing about your program.';
  return new Shortage({ got, why, try: command }, what);
}

let last;

/** Remembers an error of ours, if it means a shortage. @param {any} error @returns {string | undefined}  its code */
export function noteShortage(error) {
  const what = STORIES[error?.code] && error.code;
  if (what) last = { what, atMs: nowMs() };
  return what;
}

/** Observes every client socket of this process without handling its errors. */
subscribe('net.client.socket', (/** @type {any} */ { socket }) =>
  socket.on(errorMonitor, noteShortage),
);

/** @param {string} [home]  the runner's folder @returns {() => Shortage | undefined}  what has been short since, or is now */
export function watchShortages(home) {
  const sinceMs = nowMs();
  const killedBefore = countKilled();
  return () => {
    if (last && last.atMs >= sinceMs) return shortOf(last.what);
    if (home && isFull(home)) return shortOf('ENOSPC');
    if (limitOf('processes') < FEWEST_PROCESSES) return shortOf('EAGAIN');
    return countKilled() > killedBefore ? shortOf('ENOMEM') : undefined;
  };
}

/** A program that leaks what is enough for any other isn't short. @param {string} text  errors, output @returns {Shortage | undefined} */
export function shortageIn(text) {
  const found = SIGNS.find(([, sign]) => sign.test(text))?.[0];
  if (!found || (found === 'EMFILE' && limitOf('open files') >= ENOUGH_FILES)) return undefined;
  return shortOf(found);
}

/** Infinity if the system doesn't say. */
function limitOf(/** @type {string} */ what) {
  const most = new RegExp(`^Max ${what} +(\\d+)`, 'm').exec(read('/proc/self/limits'))?.[1];
  return most === undefined ? Infinity : Number(most);
}

/** How many processes the system has killed for lack of memory since its start; 0 if it doesn't say. */
function countKilled() {
  return Number(/^oom_kill (\d+)$/m.exec(read('/proc/vmstat'))?.[1] ?? 0);
}

function isFull(/** @type {string} */ folder) {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return bavail * bsize < LEAST_FREE_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false; // the folder is gone, which is reported elsewhere
  }
}

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
