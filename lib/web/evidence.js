/**
 * The evidence for a verdict: the timeline of one program, reduced to what its X-ray draws. Pure.
 *
 * @typedef {import('../observe/timeline.js').Event} Event
 * @typedef {import('../verdict/outcome.js').Moment} Moment
 *
 * @typedef {object} Evidence
 * @property {object[]} events  of lib/web/pick-drawn-fields.js, in order
 * @property {{ pid: number, sinceMs: number, untilMs?: number }[]} silences  of event loops that had started up
 * @property {{ pid: number, untilMs?: number }[]} startups  untilMs: when a process had started up, if ever
 * @property {number} left  the number of events left out
 */
import { forksOf } from '../observe/timeline.js';
import { SILENT_MS, pickDrawnFields } from './pick-drawn-fields.js';

const MOST_EVENTS = 4_000;
const NEAR_MS = 400;
const TRAFFIC = new Set(['connection', 'request', 'response']);
const UNDRAWN = new Set(['beat', 'wait']);
const STARTING = new Set(['start', 'beat', 'wait', 'apart', 'exit', 'crash', 'worker-exit']); // all else is work

/**
 * @param {Event[]} events  a program's timeline @param {Moment[]} [moments]  events near them are never left out
 * @param {number} [most]  events @returns {Evidence}
 */
export function evidenceOf(events, moments = [], most = MOST_EVENTS) {
  const drawn = events.filter(({ what, tid }) => !UNDRAWN.has(what) && tid === undefined);
  const forked = new Set(forksOf(events).map(({ pid }) => pid)); // the promises call these primary
  const isNear = ({ t }) =>
    moments.some((one) => t > one.t - NEAR_MS && t < (one.toMs ?? one.t) + NEAR_MS);
  const rank = (event) => (TRAFFIC.has(event.what) ? (isNear(event) ? 1 : 2) : 0);
  const ranked = drawn.map((event, index) => ({ event, index, rank: rank(event) }));
  ranked.sort((a, b) => a.rank - b.rank || a.index - b.index);
  const kept = ranked.slice(0, most).sort((a, b) => a.index - b.index);
  const startups = startupsOf(events);
  const untilMs = new Map(startups.map((one) => [one.pid, one.untilMs ?? Infinity]));
  return {
    events: kept.map(({ event }) =>
      pickDrawnFields(event, forked.has(event.pid) ? 'primary' : undefined),
    ),
    silences: silencesOf(events).filter(({ pid, sinceMs }) => sinceMs >= (untilMs.get(pid) ?? 0)),
    startups,
    left: drawn.length - kept.length,
  };
}

/** Startup ends with the first work; a child without any loads its modules until its event loop turns a second time. */
function startupsOf(/** @type {Event[]} */ events) {
  const own = events.filter(({ tid }) => tid === undefined);
  return own
    .filter(({ what }) => what === 'start')
    .map(({ pid, role }) => {
      const mine = own.filter((one) => one.pid === pid);
      const [, second] = mine.filter(({ what }) => what === 'beat');
      const work = mine.find(({ what }) => !STARTING.has(what));
      return { pid, untilMs: (work ?? (role === 'worker' ? undefined : second))?.t };
    });
}

/** The long times between two turns of an event loop, or from the last turn to the exit. */
function silencesOf(/** @type {Event[]} */ events) {
  /** @type {Map<number, number>} */
  const turned = new Map();
  const found = [];
  const turn = (pid, t) => {
    const sinceMs = turned.get(pid);
    if (sinceMs !== undefined && t - sinceMs > SILENT_MS) found.push({ pid, sinceMs, untilMs: t });
  };
  for (const { t, pid, what, tid, workerPid } of events) {
    if (tid !== undefined) continue;
    if (what === 'beat') {
      turn(pid, t);
      turned.set(pid, t);
    } else if (what === 'exit' || what === 'worker-exit') {
      const exited = what === 'exit' ? pid : workerPid;
      turn(exited, t);
      turned.delete(exited);
    }
  }
  return found;
}

/**
 * Evidence that is gone is no error: the page was a moment too late.
 * @param {import('express').Response} response @param {Evidence | undefined} evidence
 */
export function sendEvidence(response, evidence) {
  if (evidence) response.json(evidence);
  else response.status(204).end();
}
