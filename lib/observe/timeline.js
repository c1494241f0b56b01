/**
 * The timeline of a run: the events of all its processes, in the order in which they were written, read from the JSON
 * lines that the probe appends. The functions below ask it questions; they are pure, so that tests replay recorded ones.
 *
 * @typedef {{ t: number, pid: number, what: string, [field: string]: any }} Event  See probe.cjs for every kind.
 * @typedef {object} Request  A request as its server saw it; endMs and status are missing while it is unanswered.
 * @property {number} pid  The process that executed it.
 * @property {number | null} client  The client's port: it joins this record to the client's own.
 * @property {string} url
 * @property {number} startMs
 * @property {number} [endMs]
 * @property {number} [status]
 */
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK = 256 * 1024;
const buffer = Buffer.alloc(CHUNK); // one for all timelines: nothing of it is kept between two reads

/** More than any program of a lesson makes; the keeper ends one that makes more, and the rest is not read. */
export const MOST_BYTES = 32 * 1024 ** 2;

/**
 * Opens a timeline file that is still being written.
 * @param {string} file
 * @param {number} [mostBytes]  what comes after them is not read
 * @returns {{ events: Event[], read(): Event[], isFull(): boolean, close(): void }}  `read` takes in what was appended since the last call
 *   and returns only that; `events` holds all that was read so far. A last line without its end waits for it; a line
 *   that is no JSON (two processes' writes mixed, a full disk) is left out.
 */
export function openTimeline(file, mostBytes = MOST_BYTES) {
  const fd = openSync(file, 'a+');
  const events = [];
  let position = 0;
  let rest = []; // of a line without its end, in parts: each is looked at once
  return {
    events,
    read() {
      const first = events.length;
      for (;;) {
        const size = position < mostBytes ? readSync(fd, buffer, 0, CHUNK, position) : 0;
        if (size === 0) return events.slice(first);
        position += size;
        const bytes = buffer.subarray(0, size);
        const end = bytes.lastIndexOf(10) + 1;
        if (end > 0) {
          const lines = Buffer.concat([...rest, bytes.subarray(0, end)]);
          for (const event of parseTimeline(lines.toString('utf8'))) events.push(event);
          rest = [];
        }
        rest.push(Buffer.from(bytes.subarray(end)));
      }
    },
    isFull: () => position >= mostBytes,
    close: () => closeSync(fd),
  };
}

/**
 * @param {string} text  JSON lines; any other line is left out, since a program can write there, too
 * @returns {Event[]}
 */
export function parseTimeline(text) {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const value = JSON.parse(line);
      return isEvent(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

/** What a text is expected of, by kind. */
const TEXTS = { request: 'url', crash: 'error' };

function isEvent(value) {
  const { t, pid, what } = value ?? {};
  const isWhole = typeof t === 'number' && typeof pid === 'number' && typeof what === 'string';
  return isWhole && (!Object.hasOwn(TEXTS, what) || typeof value[TEXTS[what]] === 'string');
}

/**
 * Every process that reported itself or was reported as a worker, in order of appearance.
 * @param {Event[]} events
 * @returns {{ pid: number, ppid?: number, role: string, worker?: number, startMs: number, endMs?: number,
 *   code?: number | null, signal?: string | null }[]}
 */
export function processesOf(events) {
  const found = new Map();
  const learn = (pid, fields) => found.set(pid, { ...found.get(pid), pid, ...fields });
  for (const { t, pid, what, ...event } of events) {
    const { workerPid, worker } = event;
    if (what === 'start' && event.role !== 'thread') {
      learn(pid, { ppid: event.ppid, role: event.role, worker: event.worker, startMs: t });
    } else if (what === 'fork' && !found.has(workerPid)) {
      learn(workerPid, { ppid: pid, role: 'worker', worker, startMs: t });
    } else if (what === 'exit' && event.tid === undefined && found.has(pid)) {
      learn(pid, { endMs: t, code: event.code });
    } else if (what === 'worker-exit') {
      learn(workerPid, { endMs: t, code: event.code, signal: event.signal });
    }
  }
  return [...found.values()];
}

/**
 * The requests that any process executed, in order of their start.
 * @param {Event[]} events
 * @param {string} [path]  only those of this path, without regard to a query
 * @returns {Request[]}
 */
export function requestsOf(events, path) {
  const found = [];
  const open = new Map(); // by connection: its requests under way, in order
  for (const { t, pid, tid, what, client, url, status } of events) {
    const key = `${pid}/${tid ?? 0}/${client}`;
    if (what === 'connection') {
      open.delete(key); // the port is used again; what was under way on the old connection is never answered
    } else if (what === 'request') {
      const request = { pid, client, url, startMs: t };
      if (path === undefined || url.split('?')[0] === path) found.push(request);
      open.set(key, [...(open.get(key) ?? []), request]);
    } else if (what === 'response') {
      Object.assign(open.get(key)?.shift() ?? {}, { endMs: t, status });
    }
  }
  return found;
}

/**
 * The time in which the quickest of these was done, in milliseconds; Infinity when none was.
 * @param {{ startMs: number, endMs?: number }[]} intervals
 */
export function quickestOf(intervals) {
  return Math.min(...intervals.map(({ startMs, endMs = Infinity }) => endMs - startMs));
}

/**
 * How many of these were under way at once, at the most. What ends at the very moment at which another starts does not
 * overlap it; what has not ended yet is under way for ever.
 * @param {{ startMs: number, endMs?: number }[]} intervals
 * @returns {number}
 */
export function deepestOverlap(intervals) {
  const edges = intervals.flatMap(({ startMs, endMs = Infinity }) => [
    [startMs, 1],
    [endMs, -1],
  ]);
  edges.sort(([a, up], [b, down]) => a - b || up - down);
  let depth = 0;
  return edges.reduce((deepest, [, step]) => Math.max(deepest, (depth += step)), 0);
}

/**
 * The events of one kind, in order.
 * @param {Event[]} events
 * @param {string} kind  as probe.cjs names it
 */
export const eventsOf = (events, kind) => events.filter(({ what }) => what === kind);

/**
 * How often a process's event loop has turned: by then it has heard what it was told before. That does not depend on how
 * busy the machine is.
 * @param {Event[]} events
 * @param {number} pid
 * @param {number} [fromMs]  turns before that do not count
 * @param {number} [untilMs]  nor those after that
 */
export const turnsOf = (events, pid, fromMs = -Infinity, untilMs = Infinity) =>
  eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > fromMs && beat.t < untilMs)
    .length;

/**
 * When a process's event loop had turned so often.
 * @param {Event[]} events
 * @param {number} pid
 * @param {number} turns
 * @param {number} fromMs  turns before that do not count
 * @returns {number}  Infinity, if it has not yet
 */
export const turnedMs = (events, pid, turns, fromMs) =>
  eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > fromMs)[turns - 1]?.t ??
  Infinity;

/**
 * Has each of these event loops turned so often?
 * @param {Event[]} events
 * @param {number[]} pids
 * @param {number} turns
 * @param {number} [fromMs]  turns before that do not count
 */
export const haveTurned = (events, pids, turns, fromMs) =>
  pids.every((pid) => turnsOf(events, pid, fromMs) >= turns);

/**
 * The workers that primaries of the run have forked, in order.
 * @param {Event[]} events
 */
export const forksOf = (events) => eventsOf(events, 'fork');

/**
 * The ends of workers, in the order in which primaries of the run heard of them.
 * @param {Event[]} events
 */
export const exitsOf = (events) => eventsOf(events, 'worker-exit');

/**
 * From the end of each worker to the start of the next, of a primary that has one worker at a time.
 * @param {Event[]} events
 * @param {number} [untilMs]  the present time: then the wait under way counts as well
 * @returns {number[]}  in whole milliseconds
 */
export function waitsOf(events, untilMs) {
  const starts = [...forksOf(events).map(({ t }) => t), untilMs].slice(1);
  return exitsOf(events).flatMap(({ t }, index) => {
    const startMs = starts[index];
    return startMs === undefined ? [] : [Math.round(startMs - t)];
  });
}

/**
 * The ports on which this run's processes listen, and who does. A worker counts as listening on the port that its
 * primary deals to it.
 * @param {Event[]} events
 * @returns {Map<number, Set<number>>}  port → pids
 */
export function listenersOf(events) {
  const ports = new Map();
  for (const { pid, what, port } of events) {
    if (what !== 'listening' || port === undefined) continue;
    ports.set(port, (ports.get(port) ?? new Set()).add(pid));
  }
  return ports;
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => any} keyOf
 * @returns {Map<any, T[]>}
 */
export function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
