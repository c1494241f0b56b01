/**
 * A learner's machine on the board of a class: says where the learner is, again every few seconds. Where the board is not to
 * be reached, that is said once, and tried again quietly: nothing waits for it.
 */
import { createAsking } from './ask-board.js';
import { nameOf } from './learner-names.js';
import { ownBallotOf } from './votes.js';

const BEAT_MS = 3_000; // a vote that is opened is on the learner's page that soon
const LEAVE_MS = 1_000;
const FINAL = [400, 403, 404]; // it will not be otherwise in ten seconds

/** @typedef {import('./class-roster.js').Report} Report */
/** @typedef {import('./votes.js').OwnBallot} OwnBallot */

/**
 * @param {object} options
 * @param {string} options.url  of the board, as in http://192.168.1.20:4020/
 * @param {string} options.code
 * @param {string} options.name
 * @param {Report} options.report  at first
 * @param {(line: string) => void} options.say
 * @param {() => void} [options.onChange]  told when the board has given a seat, or has forgotten it, or when a vote was opened
 *   or is over
 * @param {number} [options.beatMs]  how often it is said again
 * @param {number} [options.waitMs]  for an answer
 * @returns {{ tell: (changed: Partial<Report>) => void, report: () => Report, isSeated: () => boolean,
 *   ballot: () => OwnBallot | null, vote: (choice: { name: string, question: number, option: number | null }) => Promise<string | undefined>,
 *   close: () => Promise<void> }}
 *   isSeated: is there a seat on the board? ballot: the vote that is open, if one is; vote: why the vote does not count, if so
 */
export function joinBoard({ url, code, name, report, say, onChange, ...timing }) {
  const { beatMs = BEAT_MS, waitMs } = timing;
  const { ask, stop } = createAsking(url, waitMs);
  let seat = '';
  /** @type {OwnBallot | null} */
  let ballot = null;
  let isDue = false;
  let isOver = false;
  const said = new Set();

  const sayOnce = (/** @type {string} */ words) => {
    if (!said.has(words) && !isOver) say(words);
    said.add(words);
  };

  async function takeSeat() {
    const { status, text } = await ask('POST', 'seats', { 'x-forkshop-code': code }, { name });
    if (status === 201) {
      const given = JSON.parse(text);
      if (typeof given.seat !== 'string' || !/^[\w-]{1,100}$/.test(given.seat))
        throw new Error(text);
      seat = given.seat;
      onChange?.();
      sayOnce(`You are on the board at ${url} as ${nameOf(given.name) ?? name}.`);
      return true;
    }
    sayOnce(`You are not on the board: ${text} npm start goes on without it.`);
    if (FINAL.includes(status)) isOver = true;
    return false;
  }

  /** The instructor has freed it; whoever is meant to be there starts again. */
  function giveUp(/** @type {string} */ text) {
    sayOnce(`You are no longer on the board: ${text} npm start goes on without it.`);
    isOver = true;
    seat = '';
    ballot = null;
    onChange?.();
  }

  /** Only what changes is told: it is said every few seconds. */
  function takeBallot(/** @type {OwnBallot | null} */ told) {
    const isOther = JSON.stringify(told) !== JSON.stringify(ballot);
    ballot = told;
    if (isOther) onChange?.();
  }

  async function put() {
    const { status, text } = await ask('PUT', 'seat', { 'x-forkshop-seat': seat }, report);
    if (status === 400) sayOnce(`The board says: ${text}`);
    if (status === 410) giveUp(text);
    if (status < 300) takeBallot(status === 200 ? ownBallotOf(text) : null);
    return status;
  }

  async function sayNow() {
    if (!seat && !(await takeSeat())) return;
    if ((await put()) !== 404) return;
    seat = ''; // the board has been started again
    takeBallot(null);
    onChange?.();
    if (!isOver && (await takeSeat())) await put();
  }

  /** One at a time; whatever changes meanwhile is said after it. */
  let saying = Promise.resolve();
  function speak() {
    if (isDue || isOver) return;
    isDue = true;
    saying = saying.then(async () => {
      isDue = false;
      if (isOver) return;
      await sayNow().catch(() =>
        sayOnce(`The board at ${url} cannot be reached; npm start goes on without it.`),
      );
    });
  }

  const beat = setInterval(speak, beatMs).unref();
  speak();
  return {
    report: () => report,
    isSeated: () => seat !== '',
    ballot: () => ballot,
    async vote({ name, question, option }) {
      const headers = { 'x-forkshop-seat': seat };
      const { status, text } = await ask('POST', 'vote', headers, { name, question, option }).catch(
        () => ({ status: 0, text: `The board at ${url} cannot be reached.` }),
      );
      if (status !== 204) return text || 'The board did not take it.';
      if (ballot?.name === name)
        takeBallot({ ...ballot, chosen: ballot.chosen.with(question, option) });
      return undefined;
    },
    tell(changed) {
      report = { ...report, ...changed };
      speak();
    },
    async close() {
      clearInterval(beat);
      isOver = true;
      stop();
      await saying;
      if (seat)
        await ask('DELETE', 'seat', { 'x-forkshop-seat': seat }, undefined, LEAVE_MS).catch(
          () => {},
        );
    },
  };
}
