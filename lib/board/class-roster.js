/**
 * A class as its board knows it: who has joined, and the last report of each machine. It lives in memory only, and of a report it
 * keeps what this machine knows anyway: keys of lessons and ids of promises.
 *
 * @typedef {object} Subject  a lesson
 * @property {string} key @property {number} number @property {string} title
 * @property {Record<string, string>} promises  id → sentence
 * @property {Record<string, number>} [taskOf]  id → number of its task
 */
import { randomBytes } from 'node:crypto';
import { classOf, progressOf, seatsOf } from './roster-views.js';
import { skeletonOf } from './learner-names.js';

const MOST_SEATS = 120;
const MOST_FROM_ONE = 60; // a class behind one address
const SILENT_MS = 5_000; // a learner's machine reports as soon as it has joined
const CLOSED_MS = 300_000;

export class Roster {
  /** @type {Map<string, any>} by the key that only the learner's machine knows */
  #seats = new Map();
  /** @type {Set<string>} keys of seats that the instructor freed: their machines must not rejoin by themselves */
  #freed = new Set();
  /** @type {Map<string, number>} address → when machines may join from it again */
  #closedUntilMs = new Map();
  #lastId = 0;

  /** @param {{ lessons: Subject[], awayMs: number, now?: () => number }} options  awayMs: a machine silent for longer is away */
  constructor({ lessons, awayMs, now = () => performance.now() }) {
    this.lessons = lessons;
    this.awayMs = awayMs;
    this.now = now;
  }

  /**
   * @param {string} wanted  from parseName() @param {string} from  an address
   * @returns {{ seat: string, name: string } | undefined}  undefined if no seat is left
   */
  join(wanted, from) {
    const name = this.#freeName(wanted);
    if (!this.#hasRoom(from)) return undefined;
    const key = randomBytes(18).toString('base64url');
    const id = (this.#lastId += 1);
    const heardMs = this.now();
    this.#seats.set(key, { id, name, from, heardMs, wasAway: false, report: undefined });
    return { seat: key, name };
  }

  /** @param {string} key */
  has(key) {
    return this.#seats.has(key);
  }

  /** @param {string} key */
  wasFreed(key) {
    return this.#freed.has(key);
  }

  /** @param {string} from  an address */
  isClosed(from) {
    return this.now() < (this.#closedUntilMs.get(from) ?? 0);
  }

  /**
   * Frees one seat, or all seats of an address and closes that for a while.
   * @param {{ id?: unknown, from?: unknown }} which @returns {boolean}  whether there were any
   */
  free({ id, from }) {
    const gone = this.#all().filter((one) => one.id === id || one.from === from);
    for (const { key } of gone) {
      this.#seats.delete(key);
      this.#freed.add(key);
    }
    if (from !== undefined && gone.length > 0)
      this.#closedUntilMs.set(gone[0].from, this.now() + CLOSED_MS);
    return gone.length > 0;
  }

  /** @param {string} key  of a seat @param {import('./reports.js').Report} report @returns {boolean}  whether the board shows something else now */
  record(key, report) {
    const seat = this.#seats.get(key);
    const isNew =
      this.#isAway(seat) || seat.wasAway || JSON.stringify(seat.report) !== JSON.stringify(report);
    if (report.hand && !seat.report?.hand) seat.handMs = this.now();
    Object.assign(seat, { heardMs: this.now(), wasAway: false, report });
    seat.kept = { ...seat.kept, [report.lesson]: report.kept };
    return isNew;
  }

  /** @param {string} key  of a seat: its learner is away from now on, and may come back */
  leave(key) {
    const seat = this.#seats.get(key);
    if (seat.report) seat.report.hand = false;
    seat.heardMs = -Infinity;
  }

  /** @returns {boolean}  whether a machine has become away since the last call */
  sweep() {
    const gone = [...this.#seats.values()].filter((seat) => this.#isAway(seat) && !seat.wasAway);
    for (const seat of gone) seat.wasAway = true;
    return gone.length > 0;
  }

  /** All that the board's page shows. */
  snapshot() {
    const all = this.#all();
    return { ...classOf(all, this.lessons), seats: seatsOf(all), most: MOST_SEATS };
  }

  progress() {
    return progressOf(this.#all(), this.lessons);
  }

  #all() {
    return [...this.#seats].map(([key, seat]) => ({ ...seat, key, away: this.#isAway(seat) }));
  }

  #isAway({ heardMs }) {
    return this.now() - heardMs > this.awayMs;
  }

  #isIdle({ away, report, heardMs }) {
    return away || (!report && this.now() - heardMs > SILENT_MS);
  }

  /** A learner who comes back takes the old seat; of two names that look alike at the same time, the second gets a number. */
  #freeName(name) {
    const same = this.#all().find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (same?.away) this.#seats.delete(same.key);
    const taken = new Set(this.#all().map((one) => skeletonOf(one.name)));
    let [free, number] = [name, 2];
    for (; taken.has(skeletonOf(free)); number += 1) free = `${name} ${number}`;
    return free;
  }

  #hasRoom(from) {
    const isThere = (one) => one.from === from;
    if (this.#all().filter(isThere).length >= MOST_FROM_ONE) this.#dropIdle(isThere);
    if (this.#seats.size >= MOST_SEATS) this.#dropIdle(() => true);
    return this.#all().filter(isThere).length < MOST_FROM_ONE && this.#seats.size < MOST_SEATS;
  }

  /** Drops the seat of a machine that never reported, or else the seat that has been away longest. */
  #dropIdle(isEligible) {
    const idle = this.#all().filter((one) => this.#isIdle(one) && isEligible(one));
    const hasReported = ({ report }) => (report ? 1 : 0);
    idle.sort((a, b) => hasReported(a) - hasReported(b) || a.heardMs - b.heardMs);
    if (idle.length > 0) this.#seats.delete(idle[0].key);
  }
}
