/**
 * The votes of a class. One is open while its slide is on the wall; each seat has one vote to each of its questions, and may
 * change it until then. What leaves here is counts: never who has voted, or how.
 *
 * @typedef {{ asks: string, options: string[] }} Question
 *
 * @typedef {object} Ballot
 * @property {string} name  the same for the same vote, whenever it is opened again
 * @property {string} title  of its slide
 * @property {Question[]} questions  more may come while it is open
 *
 * @typedef {Ballot & { chosen: (number | null)[] }} OwnBallot  as one seat sees it; chosen: the number of an option, for each
 *   question
 */

const MOST = { questions: 6, options: 8, letters: 120 };

/** @param {(key: string) => boolean} isSeat  a vote counts as long as its seat is there */
export function createVotes(isSeat) {
  /** @type {Ballot | null} */
  let open = null;
  /** @type {Map<string, { questions: Question[], votes: Map<string, (number | null)[]> }>} by name; votes: by the key of a seat */
  const known = new Map();
  const chosenBy = (/** @type {string} */ key) => {
    const votes = known.get(open?.name ?? '')?.votes.get(key) ?? [];
    return open?.questions.map((_, at) => votes[at] ?? null) ?? [];
  };

  return {
    /** @param {Ballot | null} ballot  null: none is open any more */
    show(ballot) {
      open = ballot;
      if (!ballot) return;
      const { name, questions } = ballot;
      const before = known.get(name) ?? { questions, votes: new Map() };
      const isMore = questions.length > before.questions.length;
      known.set(name, { ...before, questions: isMore ? questions : before.questions });
    },
    /** @param {string} key  of a seat  @returns {OwnBallot | null}  null when none is open */
    openTo: (key) => open && { ...open, chosen: chosenBy(key) },
    /**
     * @param {string} key  of a seat
     * @param {{ name?: unknown, question?: any, option?: any }} vote  question, option: from 0; option: null takes it back
     * @returns {boolean}  false where that vote isn't open, or has no such option
     */
    cast(key, { name, question, option }) {
      const asked = Number.isInteger(question) ? open?.questions[question] : undefined;
      const isThere = option === null || (Number.isInteger(option) && asked?.options[option]);
      if (!open || open.name !== name || !asked || !isThere) return false;
      const votes = known.get(open.name)?.votes ?? new Map();
      for (const one of votes.keys()) if (!isSeat(one)) votes.delete(one);
      votes.set(key, [...(votes.get(key) ?? chosenBy(key))].with(question, option));
      return true;
    },
    /** @returns {Record<string, (number | null)[]>}  by the name of a vote: how many chose each option, question after question; null
     *   where a question has no vote yet */
    counts: () =>
      Object.fromEntries(
        [...known].map(([name, { questions, votes }]) => {
          const cast = [...votes].flatMap(([key, chosen]) => (isSeat(key) ? [chosen] : []));
          return [
            name,
            questions.flatMap((one, at) =>
              countsOf(
                one,
                cast.map((all) => all[at]),
              ),
            ),
          ];
        }),
      ),
  };
}

/** @param {Question} question  @param {(number | null | undefined)[]} chosen */
function countsOf({ options }, chosen) {
  const isAny = chosen.some((option) => typeof option === 'number');
  return options.map((_, at) => (isAny ? chosen.filter((option) => option === at).length : null));
}

/**
 * @param {any} body  what came, parsed as JSON
 * @returns {Ballot | undefined}  undefined for what isn't one, or is too long
 */
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

/**
 * The vote that a board says is open.
 * @param {string} text  what it has answered
 * @returns {OwnBallot | null}  null for what isn't one
 */
export function ownBallotOf(text) {
  const { vote } = parsed(text);
  const ballot = ballotOf(vote);
  if (!ballot || !Array.isArray(vote.chosen)) return null;
  const chosen = ballot.questions.map((_, at) =>
    Number.isInteger(vote.chosen[at]) ? vote.chosen[at] : null,
  );
  return { ...ballot, chosen };
}

function parsed(/** @type {string} */ text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
