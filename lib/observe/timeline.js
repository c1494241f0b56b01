/**
 * The timeline of a run: the events of all its processes, from the JSON lines that the probe appends, and pure questions about them.
 * @typedef {{ t: number, pid: number, what: string, [field: string]: any }} Event  see probe.cjs for every kind
 * @typedef {{ pid: number, client: number | null, url: string, startMs: number, endMs?: number, status?: number }} Request  as the server
 *   saw it; pid: of the process that executed it; client: the client's port, as in its Answer; endMs: undefined while unanswered
 */
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK = 256 * 1024;
const buffer = Buffer.alloc(CHUNK); // shared by all timelines: nothing in it survives a read

/** More than any lesson's program writes; the keeper kills a program that writes more. */
export const MOST_BYTES = 32 * 1024 ** 2;

/**
 * Opens a timeline file that is still being written. An incomplete last line waits for its end; a line that isn't JSON is left out.
 * @param {string} file @param {number} [mostBytes]  the rest isn't read
 * @returns {{ events: Event[], read(): Event[], isFull(): boolean, close(): void }}  read: takes in and returns new events
 */
export function openTimeline(file, mostBytes = MOST_BYTES) {
  const fd = openSync(file, 'a+');
  const events = [];
  let position = 0;
  let rest = []; // parts of the incomplete line
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

/** @param {string} text  JSON lines; others are left out, because the program can write there too @returns {Event[]} */
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

const TEXTS = { request: 'url', crash: 'error' };

function isEvent(value) {
  const { t, pid, what } = value ?? {};
  const isWhole = typeof t === 'number' && typeof pid === 'number' && typeof what === 'string';
  return isWhole && (!Object.hasOwn(TEXTS, what) || typeof value[TEXTS[what]] === 'string');
}

/**
 * Every process that reported itself, or was reported as a worker, in order of appearance.
 * @param {Event[]} events @returns {{ pid: number, ppid?: number, role: string, worker?: number, startMs: number, endMs?: number,
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

/** @param {Event[]} events @param {string} [path]  with any query @returns {Request[]}  in order of their start */
export function requestsOf(events, path) {
  const found = [];
  const open = new Map(); // by connection: its requests in flight, in order
  for (const { t, pid, tid, what, client, url, status } of events) {
    const key = `${pid}/${tid ?? 0}/${client}`;
    if (what === 'connection') {
      open.delete(key); // the port is reused: requests in flight on the old connection are never answered
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

/** Milliseconds of the shortest; Infinity if all are open. @param {{ startMs: number, endMs?: number }[]} intervals */
export function quickestOf(intervals) {
  return Math.min(...intervals.map(({ startMs, endMs = Infinity }) => endMs - startMs));
}

/** How many were in flight at once, at most; touching intervals don't overlap. @param {{ startMs: number, endMs?: number }[]} intervals */
export function deepestOverlap(intervals) {
  const edges = intervals.flatMap(({ startMs, endMs = Infinity }) => [
    [startMs, 1],
    [endMs, -1],
  ]);
  edges.sort(([a, up], [b, down]) => a - b || up - down);
  let depth = 0;
  return edges.reduce((deepest, [, step]) => Math.max(deepest, (depth += step)), 0);
}

/** @param {Event[]} events @param {string} kind  see probe.cjs */
export const eventsOf = (events, kind) => events.filter(({ what }) => what === kind);

/**
 * Reported turns of an event loop between two times. After a turn it has received what was sent before, however busy the machine.
 * @param {Event[]} events @param {number} pid @param {number} [fromMs] @param {number} [untilMs]
 */
export const turnsOf = (events, pid, fromMs = -Infinity, untilMs = Infinity) =>
  eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > fromMs && beat.t < untilMs)
    .length;

/** When that many turns were over, or Infinity. @param {Event[]} events @param {number} pid @param {number} turns @param {number} fromMs */
export const turnedMs = (events, pid, turns, fromMs) =>
  eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > fromMs)[turns - 1]?.t ??
  Infinity;

/**
 * Has each loop turned that often since? @param {Event[]} events @param {number[]} pids @param {number} turns @param {number} [fromMs]
 */
export const haveTurned = (events, pids, turns, fromMs) =>
  pids.every((pid) => turnsOf(events, pid, fromMs) >= turns);

/** @param {Event[]} events */
export const forksOf = (events) => eventsOf(events, 'fork');

/** Exits of workers, in the order in which their primaries learned of them. @param {Event[]} events */
export const exitsOf = (events) => eventsOf(events, 'worker-exit');

/**
 * The waits from the exit of each worker to the next fork, in whole ms, of a primary with one worker at a time.
 * @param {Event[]} events @param {number} [untilMs]  the present: then the current wait counts as well @returns {number[]}
 */
export function waitsOf(events, untilMs) {
  const starts = [...forksOf(events).map(({ t }) => t), untilMs].slice(1);
  return exitsOf(events).flatMap(({ t }, index) => {
    const startMs = starts[index];
    return startMs === undefined ? [] : [Math.round(startMs - t)];
  });
}

/** A worker listens on the port that its primary hands to it. @param {Event[]} events @returns {Map<number, Set<number>>}  port → pids */
export function listenersOf(events) {
  const ports = new Map();
  for (const { pid, what, port } of events) {
    if (what !== 'listening' || port === undefined) continue;
    ports.set(port, (ports.get(port) ?? new Set()).add(pid));
  }
  return ports;
}

/** @template T @param {T[]} items @param {(item: T) => any} keyOf @returns {Map<any, T[]>} */
export function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
