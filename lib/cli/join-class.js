/** `npm start -- --join`: reports each check to the board of a class. */
import { isIPv6 } from 'node:net';
import { UsageError } from '../common/usage-error.js';
import { quoted } from '../common/nearest.js';
import { LONGEST_NAME, parseName } from '../board/learner-names.js';
import { BOARD_PORT, REPORT_IN_WORDS } from '../board/reports.js';
import { NO_ANSWER, ask } from './ask.js';
import { blowsStood } from '../verdict/scene-strip.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson @typedef {import('./learner-page.js').Audience} Audience */
/** @typedef {import('./saved/progress.js').Io} Io */
/** @typedef {{ url: string, code: string, name: string }} Joining */

const EXAMPLE = 'npm start -- --join 192.168.1.20:4020 K7QM-3XPD --name Ada';

/**
 * Parses --join and what follows it; asks for a name if none was typed.
 * @param {{ join?: string, name?: string }} values @param {string[]} positionals  the code
 * @param {Io} io @returns {Promise<Joining | undefined>}  undefined without --join @throws {UsageError}
 */
export async function parseJoining({ join, name }, [code], io) {
  if (join === undefined) {
    if (code !== undefined)
      throw new UsageError(`${quoted(code)} means nothing here.`, 'Type: npm start');
    if (name !== undefined)
      throw new UsageError('--name is for the board of a class.', `With it: ${EXAMPLE}`);
    return undefined;
  }
  const url = parseUrl(join);
  if (code === undefined)
    throw new UsageError(
      'After --join, type the address and the code that the board shows.',
      `For example: ${EXAMPLE}`,
    );
  return { url, code, name: await nameFor(name, io) };
}

function parseUrl(/** @type {string} */ address) {
  const plain = isIPv6(address) ? `[${address}]` : address;
  const text = /^http:\/\//.test(plain) ? plain : `http://${plain}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    !url?.hostname ||
    url.username ||
    url.password ||
    url.pathname !== '/' ||
    url.search ||
    url.hash
  )
    throw new UsageError(
      `${quoted(address)} isn't the address of a board.`,
      `For example: ${EXAMPLE}`,
    );
  if (!url.port) url.port = String(BOARD_PORT);
  return url.href;
}

async function nameFor(/** @type {string | undefined} */ typed, /** @type {Io} */ io) {
  const wanted =
    typed ??
    (io.stdin.isTTY ? await ask(io, 'Your name on the board, whichever you like: ') : NO_ANSWER);
  const name = parseName(wanted);
  if (name) return name;
  throw new UsageError(
    wanted === undefined
      ? 'The board needs a name, whichever you like.'
      : `A name has at most ${LONGEST_NAME} letters, and at least one.`,
    `For example: ${EXAMPLE}`,
  );
}

/**
 * Joins the board, and reports each check to it.
 * @param {Joining} joining
 * @param {{ lesson: Lesson, io: Io, onChange?: () => void }} options  lesson: the current one; onChange: called when the board
 *   has accepted or lost this learner, and when a vote opens or closes
 * @returns {Promise<Audience & { hand: (isUp?: boolean) => void, snapshot: () => import('../learner/serve.js').Hand,
 *   vote: ReturnType<typeof import('../board/join-board.js').joinBoard>['vote'] }>}  hand: raises or lowers it; without an
 *   argument, toggles it
 */
export async function joinClass({ url, code, name }, { lesson, io, onChange }) {
  const { joinBoard } = await import('../board/join-board.js');
  const say = (/** @type {string} */ line) => void io.stdout.write(`${line}\n`);
  say(`Joining the board at ${url} as ${name}. It hears:\n  ${REPORT_IN_WORDS}.`);
  say('None of your files leaves this machine, and the board writes nothing down.');
  const report = {
    lesson: lesson.key,
    state: /** @type {const} */ ('reading'),
    ...{ failed: [], kept: [], hand: false, stood: null },
  };
  const line = joinBoard({ url, code, name, report, say, onChange });
  /** @type {Set<string>} promises that this lesson's checks found kept, until a check finds otherwise */
  const kept = new Set();
  /** @type {import('../verdict/outcome.js').PromiseRecord[]} of the check that runs */
  let judged = [];
  return {
    begin({ key }) {
      judged = [];
      const isOther = line.report().lesson !== key;
      if (isOther) kept.clear();
      const nothing = isOther && { failed: [], kept: [], stood: null };
      line.update({ lesson: key, state: 'checking', ...nothing });
    },
    program() {},
    promise({ promise }) {
      const { id, verdict } = promise;
      judged.push(promise);
      if (verdict === 'failed') kept.delete(id);
      if (verdict === 'passed') kept.add(id);
    },
    end(/** @type {any} */ { verdict, fault, scene }) {
      const failed = judged.flatMap((one) => (one.verdict === 'failed' ? [one.id] : []));
      const stood = scene ? blowsStood(scene, judged) : null;
      line.update({ state: fault ? 'inconclusive' : verdict, failed, kept: [...kept], stood });
    },
    snapshot: () => ({ isUp: line.report().hand, isHeard: line.isSeated(), ballot: line.ballot() }),
    vote: (choice) => line.vote(choice),
    hand(hand = !line.report().hand) {
      if (hand === line.report().hand) return;
      line.update({ hand });
      say(hand ? 'Your hand is up; r takes it down again.' : 'Your hand is down.');
    },
    close: () => line.close(),
  };
}

/** An audience that passes everything to two others. @param {Audience} one @param {Audience} other @returns {Audience} */
export const combineAudiences = (one, other) => ({
  async begin(lesson, file) {
    await Promise.all([one.begin(lesson, file), other.begin(lesson, file)]);
  },
  program(started) {
    one.program(started);
    other.program(started);
  },
  promise(decided) {
    one.promise(decided);
    other.promise(decided);
  },
  end(result) {
    one.end(result);
    other.end(result);
  },
  async close() {
    await Promise.all([one.close(), other.close()]);
  },
});
