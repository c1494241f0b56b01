/**
 * A class as the board knows it: who has joined, and what each learner's machine has said last. In memory only. Of what is
 * said nothing is kept but names and what this machine knows by itself: keys of lessons, ids of promises.
 *
 * @typedef {object} Subject  a lesson
 * @property {string} key
 * @property {number} number
 * @property {string} title
 * @property {Record<string, string>} promises  id → sentence
 * @property {Record<string, number>} [taskOf]  id → the task that it belongs to
 * @typedef {'reading' | 'checking' | 'passed' | 'failed' | 'inconclusive'} State
 *
 * @typedef {object} Report  what a machine says
 * @property {string} lesson  its key
 * @property {State} state
 * @property {string[]} failed  ids of promises
 * @property {string[]} kept  ids of promises that held when they were judged last
 * @property {boolean} hand  is it raised?
 */
import { randomBytes } from 'node:crypto';
import { classOf, progressOf, seatsOf } from './roster-views.js';
import { looksOf } from './learner-names.js';

/**
 * What a Report holds, in the same words on both sides.
 * @type {string}
 */
export const HEARD =
  'a chosen name, the lesson, how its check went, which promises hold or fail, a raised hand, votes';

export const BOARD_PORT = 4020;
const MOST_SEATS = 120;
const MOST_FROM_ONE = 60; // a class behind one address
const SILENT_MS = 5_000; // a learner's machine reports at once when it has joined
const CLOSED_MS = 300_000;
const STATES = ['reading', 'checking', 'passed', 'failed', 'inconclusive'];

/**
 * @param {{ lessons: Subject[], awayMs: number, now?: () => number }} options  awayMs: after such a silence somebody is away
 */
export function createRoster({ lessons, awayMs, now = () => performance.now() }) {
  /** @type {Map<string, any>} */
  const seats = new Map();
  /** @type {Set<string>} keys that the instructor has freed: their machines are not to come back by themselves */
  const freed = new Set();
  /** @type {Map<string, number>} until when nobody joins from an address */
  const closed = new Map();
  let lastId = 0;
  const isAway = ({ heardMs }) => now() - heardMs > awayMs;
  const isIdle = (seat) => isAway(seat) || (!seat.report && now() - seat.heardMs > SILENT_MS);
  const all = () =>
    [...seats.entries()].map(([key, seat]) => ({ ...seat, key, away: isAway(seat) }));

  /** Somebody who comes again takes the old seat; two at once get different names, and so do two that look alike. */
  function freeName(name) {
    const same = all().find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (same?.away) seats.delete(same.key);
    const taken = new Set(all().map((one) => looksOf(one.name)));
    let [free, number] = [name, 2];
    for (; taken.has(looksOf(free)); number += 1) free = `${name} ${number}`;
    return free;
  }

  function hasRoom(from) {
    if (all().filter((one) => one.from === from).length >= MOST_FROM_ONE) dropIdle(from);
    if (seats.size >= MOST_SEATS) dropIdle();
    const mine = all().filter((one) => one.from === from).length;
    return mine < MOST_FROM_ONE && seats.size < MOST_SEATS;
  }

  /** First a seat that has never said anything, then the one that has been away for longest. */
  function dropIdle(from) {
    const idle = all().filter((one) => isIdle(one) && (from === undefined || one.from === from));
    const isReal = ({ report }) => (report ? 1 : 0);
    idle.sort((a, b) => isReal(a) - isReal(b) || a.heardMs - b.heardMs);
    if (idle.length > 0) seats.delete(idle[0].key);
  }

  return {
    /** @param {string} wanted  as nameOf gives it  @param {string} from  an address  @returns {{ seat: string, name: string } | undefined}  undefined when all is full */
    join(wanted, from) {
      const name = freeName(wanted);
      if (!hasRoom(from)) return undefined;
      const key = randomBytes(18).toString('base64url');
      const id = (lastId += 1);
      seats.set(key, { id, name, from, heardMs: now(), wasAway: false, report: undefined });
      return { seat: key, name };
    },
    has: (/** @type {string} */ key) => seats.has(key),
    wasFreed: (/** @type {string} */ key) => freed.has(key),
    isClosed: (/** @type {string} */ from) => now() < (closed.get(from) ?? 0),
    /**
     * Frees one seat, or all of an address, from which nobody joins for a while.
     * @param {{ id?: unknown, from?: unknown }} which
     * @returns {boolean}  were there any?
     */
    free({ id, from }) {
      const gone = all().filter((one) => one.id === id || one.from === from);
      for (const { key } of gone) {
        seats.delete(key);
        freed.add(key);
      }
      if (from !== undefined && gone.length > 0) closed.set(gone[0].from, now() + CLOSED_MS);
      return gone.length > 0;
    },
    /** @param {string} key  @param {Report} report  @returns {boolean} is there anything new to tell? */
    tell(key, report) {
      const seat = seats.get(key);
      const isNew =
        isAway(seat) || seat.wasAway || JSON.stringify(seat.report) !== JSON.stringify(report);
      if (report.hand && !seat.report?.hand) seat.handMs = now();
      Object.assign(seat, { heardMs: now(), wasAway: false, report });
      seat.kept = { ...seat.kept, [report.lesson]: report.kept };
      return isNew;
    },
    leave(/** @type {string} */ key) {
      const seat = seats.get(key);
      if (seat.report) seat.report.hand = false;
      seat.heardMs = -Infinity;
    },
    /** @returns {boolean} has somebody become away since the last time? */
    sweep() {
      const gone = [...seats.values()].filter((seat) => isAway(seat) && !seat.wasAway);
      for (const seat of gone) seat.wasAway = true;
      return gone.length > 0;
    },
    told: () => ({ ...classOf(all(), lessons), seats: seatsOf(all()), most: MOST_SEATS }),
    progress: () => progressOf(all(), lessons),
  };
}

/**
 * @param {any} body  what came, parsed as JSON
 * @param {Subject[]} lessons
 * @returns {Report | undefined}  undefined for what isn't one, or names a lesson that isn't here
 */
export function reportOf(body, lessons) {
  const lesson = lessons.find(({ key }) => key === body?.lesson);
  const { state, failed, kept = [], hand } = body ?? {};
  if (!lesson || !STATES.includes(state) || ![failed, kept].every(Array.isArray)) return undefined;
  const known = (/** @type {unknown[]} */ ids) =>
    Object.keys(lesson.promises).filter((id) => ids.includes(id));
  return {
    ...{ lesson: lesson.key, state, failed: known(failed), kept: known(kept) },
    hand: hand === true,
  };
}
