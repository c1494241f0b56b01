/**
 * A learner's machine on the board of a class: takes a seat, reports where the learner is, repeats that every few seconds, and
 * leaves. A board that can't be reached is mentioned once and tried again quietly: nothing waits for it.
 */
import { createRequests } from './ask-board.js';
import { ownBallotOf } from './votes.js';

/** @typedef {import('./reports.js').Report} Report */
/** @typedef {import('./votes.js').OwnBallot} OwnBallot */

const BEAT_MS = 3_000; // the delay until the learner's page shows a vote that opens
const FINAL = [400, 403, 404]; // asking again won't change these

/**
 * @param {object} options
 * @param {string} options.url  of the board, as in http://192.168.1.20:4020/
 * @param {string} options.code
 * @param {string} options.name
 * @param {Report} options.report  the first one
 * @param {(line: string) => void} options.say
 * @param {() => void} [options.onChange]  called when the seat is won or lost, and when a vote opens, changes or closes
 * @param {number} [options.beatMs]  between two reports
 * @param {number} [options.waitMs]  for an answer
 */
export const joinBoard = (options) => new Member(options);

class Member {
  /** The secret key of its seat; '' without one. */
  #seat = '';
  /** @type {OwnBallot | null} */
  #ballot = null;
  #isOver = false;
  #isDue = false;
  #sending = Promise.resolve();
  #said = new Set();
  #report;

  /** @param {Parameters<typeof joinBoard>[0]} options */
  constructor({ url, code, name, report, say, onChange = () => {}, beatMs = BEAT_MS, waitMs }) {
    this.url = url;
    this.code = code;
    this.name = name;
    this.say = say;
    this.onChange = onChange;
    this.#report = report;
    this.board = createRequests(url, waitMs);
    this.beat = setInterval(() => this.#send(), beatMs).unref();
    this.#send();
  }

  report() {
    return this.#report;
  }

  /** Is there a seat on the board? */
  isSeated() {
    return this.#seat !== '';
  }

  /** The open vote, if there is one. */
  ballot() {
    return this.#ballot;
  }

  /** Changes the report and sends it. @param {Partial<Report>} changed */
  update(changed) {
    this.#report = { ...this.#report, ...changed };
    this.#send();
  }

  /**
   * @param {{ name: string, question: number, option: number | null }} choice
   * @returns {Promise<string | undefined>}  why it doesn't count, if so
   */
  async vote({ name, question, option }) {
    const choice = { name, question, option };
    const { status, text } = await this.board.vote(this.#seat, choice).catch(() => ({
      ...{ status: 0, text: `The board at ${this.url} cannot be reached.` },
    }));
    if (status !== 204) return text || 'The board did not take it.';
    const ballot = this.#ballot;
    if (ballot?.name === name)
      this.#takeBallot({ ...ballot, chosen: ballot.chosen.with(question, option) });
    return undefined;
  }

  async close() {
    clearInterval(this.beat);
    this.#isOver = true;
    this.board.stop();
    await this.#sending;
    if (this.#seat) await this.board.leave(this.#seat).catch(() => {});
  }

  /** Sends one report at a time; later changes wait together for the next. */
  #send() {
    if (this.#isDue || this.#isOver) return;
    this.#isDue = true;
    this.#sending = this.#sending.then(async () => {
      this.#isDue = false;
      if (this.#isOver) return;
      await this.#sendNow().catch(() =>
        this.#sayOnce(`The board at ${this.url} cannot be reached; npm start goes on without it.`),
      );
    });
  }

  async #sendNow() {
    if (!this.#seat && !(await this.#takeSeat())) return;
    if ((await this.#putReport()) !== 404) return;
    this.#seat = ''; // the board has been restarted
    this.#takeBallot(null);
    this.onChange();
    if (!this.#isOver && (await this.#takeSeat())) await this.#putReport();
  }

  async #takeSeat() {
    const { url, code, name } = this;
    const { status, text, given } = await this.board.join(code, name);
    if (given) {
      this.#seat = given.seat;
      this.onChange();
      this.#sayOnce(`You are on the board at ${url} as ${given.name ?? name}.`);
      return true;
    }
    this.#sayOnce(`You are not on the board: ${text} npm start goes on without it.`);
    if (FINAL.includes(status)) this.#isOver = true;
    return false;
  }

  async #putReport() {
    const { status, text } = await this.board.report(this.#seat, this.#report);
    if (status === 400) this.#sayOnce(`The board says: ${text}`);
    if (status === 410) this.#giveUp(text);
    if (status < 300) this.#takeBallot(status === 200 ? ownBallotOf(text) : null);
    return status;
  }

  /** The instructor freed the seat: only a restart of `npm start` joins again. */
  #giveUp(/** @type {string} */ text) {
    this.#sayOnce(`You are no longer on the board: ${text} npm start goes on without it.`);
    this.#isOver = true;
    this.#seat = '';
    this.#ballot = null;
    this.onChange();
  }

  #takeBallot(/** @type {OwnBallot | null} */ ballot) {
    const isOther = JSON.stringify(ballot) !== JSON.stringify(this.#ballot);
    this.#ballot = ballot;
    if (isOther) this.onChange();
  }

  #sayOnce(/** @type {string} */ words) {
    if (!this.#said.has(words) && !this.#isOver) this.say(words);
    this.#said.add(words);
  }
}
