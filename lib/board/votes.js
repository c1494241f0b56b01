/**
 * The votes of a class. One is open while its slide is on the wall; until then each seat may change its choice for each question.
 * Only counts leave this module, never who voted how.
 *
 * @typedef {{ asks: string, options: string[] }} Question
 *
 * @typedef {object} Ballot
 * @property {string} name  identifies the vote when it is opened again
 * @property {string} title  of its slide
 * @property {Question[]} questions  more may come while it is open
 *
 * @typedef {(number | null)[]} Choices  the number of an option from 0, or null, for each question
 * @typedef {Ballot & { chosen: Choices }} OwnBallot  as one seat sees it
 */

const MOST = { questions: 6, options: 8, letters: 120 };

export class Votes {
  /** @type {Ballot | null} */
  #open = null;
  /** @type {Map<string, { questions: Question[], choices: Map<string, Choices> }>} by name; choices: by the key of a seat */
  #known = new Map();

  /** @param {(key: string) => boolean} isSeat  choices of a seat count while it exists */
  constructor(isSeat) {
    this.isSeat = isSeat;
  }

  /** Opens a vote, or closes the open one. @param {Ballot | null} ballot */
  show(ballot) {
    this.#open = ballot;
    if (!ballot) return;
    const { name, questions } = ballot;
    const before = this.#known.get(name) ?? { questions, choices: new Map() };
    const isMore = questions.length > before.questions.length;
    this.#known.set(name, { ...before, questions: isMore ? questions : before.questions });
  }

  /** @param {string} key  of a seat @returns {OwnBallot | null}  null if no vote is open */
  openTo(key) {
    return this.#open && { ...this.#open, chosen: this.#chosenBy(key, this.#open) };
  }

  /**
   * @param {string} key  of a seat
   * @param {{ name?: unknown, question?: any, option?: any }} choice  question, option: from 0; option: null takes it back
   * @returns {boolean}  false if that vote isn't open, or has no such option
   */
  cast(key, { name, question, option }) {
    const open = this.#open;
    const asked = Number.isInteger(question) ? open?.questions[question] : undefined;
    const isThere = option === null || (Number.isInteger(option) && asked?.options[option]);
    if (!open || open.name !== name || !asked || !isThere) return false;
    const choices = this.#known.get(open.name)?.choices ?? new Map();
    for (const one of choices.keys()) if (!this.isSeat(one)) choices.delete(one);
    const before = choices.get(key) ?? this.#chosenBy(key, open);
    choices.set(key, before.with(question, option));
    return true;
  }

  /**
   * @returns {Record<string, (number | null)[]>}  by the name of a vote: how many chose each option, question after question; null
   *   for the options of a question without a vote
   */
  counts() {
    const ofVote = ({ questions, choices }) => {
      const cast = [...choices].flatMap(([key, chosen]) => (this.isSeat(key) ? [chosen] : []));
      return questions.flatMap((one, at) => countsOf(one, valuesAt(cast, at)));
    };
    return Object.fromEntries([...this.#known].map(([name, vote]) => [name, ofVote(vote)]));
  }

  /** @returns {Choices} */
  #chosenBy(/** @type {string} */ key, /** @type {Ballot} */ { name, questions }) {
    const choices = this.#known.get(name)?.choices.get(key) ?? [];
    return questions.map((_, at) => choices[at] ?? null);
  }
}

const valuesAt = (/** @type {Choices[]} */ cast, /** @type {number} */ at) =>
  cast.map((chosen) => chosen[at]);

/** @param {Question} question @param {(number | null | undefined)[]} chosen */
function countsOf({ options }, chosen) {
  const isAny = chosen.some((option) => typeof option === 'number');
  return options.map((_, at) => (isAny ? chosen.filter((option) => option === at).length : null));
}

/** @param {any} body  a request's, parsed as JSON @returns {Ballot | undefined}  undefined if it isn't a ballot, or too long */
export function ballotOf(body) {
  const { name, title, questions } = body ?? {};
  const isText = (/** @type {unknown} */ text) =>
    typeof text === 'string' && text.length <= MOST.letters;
  const isList = (/** @type {unknown} */ list, /** @type {number} */ most) =>
    Array.isArray(list) && list.length > 0 && list.length <= most;
  if (!isText(name) || !isText(title) || !isList(questions, MOST.questions)) return undefined;
  const isGood = questions.every(
    (/** @type {any} */ one) =>
      isText(one?.asks) && isList(one.options, MOST.options) && one.options.every(isText),
  );
  if (!isGood) return undefined;
  return { name, title, questions: questions.map(({ asks, options }) => ({ asks, options })) };
}

/** Parses the open vote in a board's answer. @param {string} text @returns {OwnBallot | null}  null if there is none */
export function ownBallotOf(text) {
  const { vote } = parseObject(text);
  const ballot = ballotOf(vote);
  if (!ballot || !Array.isArray(vote.chosen)) return null;
  const chosen = ballot.questions.map((_, at) =>
    Number.isInteger(vote.chosen[at]) ? vote.chosen[at] : null,
  );
  return { ...ballot, chosen };
}

function parseObject(/** @type {string} */ text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
