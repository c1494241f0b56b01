/**
 * The board of a class. Its page is for this machine only; where learners are to join from others, a second server
 * listens at the address that was told, which takes what they say and gives out nothing.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 *
 * @typedef {object} Board
 * @property {string} url  of the board's page
 * @property {string} address  where to join
 * @property {string} code
 * @property {() => number} watching  how many pages listen
 * @property {(ballot: import('./votes.js').Ballot | null) => void} showVote  opens a vote, or ends the one that is open
 * @property {() => Told} told  the class in numbers
 * @property {(hear: () => void) => void} follow  told whenever these may be others
 * @property {() => Promise<void>} close
 *
 * @typedef {ReturnType<typeof import('./roster-views.js').progressOf> & { votes: Record<string, (number | null)[]> }} Told  votes:
 *   by the name of each, how many chose each option, question after question
 */
import { randomInt } from 'node:crypto';
import { checkFile, loadCheck } from '../check/definitions.js';
import { boardPage } from './page.js';
import { joining, json } from './routes.js';
import { createRoster } from './class-roster.js';
import { createVotes } from './votes.js';
import { LOOPBACK, demandToken, openServer, send } from '../web/server.js';
import { createStream } from '../web/event-stream.js';

const AWAY_MS = 30_000; // a learner's machine says something every ten seconds
const CALM_MS = 100; // many say something at once: the board is told once
/** Without the code too, nobody keeps others out: not by connections that say nothing, and not for long. */
const LIMITS = {
  ...{ maxConnections: 500, mostFromOne: 150 }, // more than the seats: a class may be behind one address
  ...{ headersTimeout: 3_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 },
};
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'; // none is mistaken for another
const CODE_LENGTH = 8;

/**
 * @param {object} options
 * @param {string} options.root
 * @param {Lesson[]} options.lessons
 * @param {string} [options.host]  an address of this machine, for those who join; the loopback interface unless told
 * @param {number} [options.port]  0: any that is free
 * @param {number} [options.awayMs]  after such a silence somebody is away
 * @param {() => number} [options.now]  in ms; a test has its own clock
 * @param {(port: number) => string} [options.another]  what to do when the port is taken
 * @returns {Promise<Board>}
 * @throws {import('../common/usage-error.js').UsageError}  when the port is taken, or no such address is here
 */
export async function serveBoard({ root, lessons, host = LOOPBACK, port = 0, ...rest }) {
  const { awayMs = AWAY_MS, now = () => performance.now(), another = anotherPort } = rest;
  const code = newCode();
  const subjects = await Promise.all(lessons.map((lesson) => subjectOf(root, lesson)));
  const seats = createRoster({ lessons: subjects, awayMs, now });
  const votes = createVotes(seats.has);
  const pages = createStream(() => seats.told());
  /** @type {(() => void)[]} */
  const following = [pages.tell];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const hear of following) hear();
    }, CALM_MS);
  };
  const door = joining({ seats, subjects, votes, code, tell, now });
  const common = { limits: LIMITS, another };
  const isForAll = host !== LOOPBACK;
  let address = '';
  const own = await openServer({
    ...{ ...common, room: 'board', port },
    mount(app, token) {
      app.get('/', (request, response) =>
        send(response, () => boardPage({ address, code, token })),
      );
      app.get('/events', (request, response) => pages.add(response));
      app.post('/free', demandToken(token), json, (request, response) => {
        const isFree = seats.free(request.body ?? {});
        if (isFree) tell();
        response.status(isFree ? 204 : 404).end();
      });
      app.use(door);
    },
  });
  const others = isForAll
    ? await openServer({
        ...{ ...common, host, port: Number(new URL(own.url).port) },
        mount: (app) => void app.use(door),
      }).catch(async (error) => {
        await own.close();
        throw error;
      })
    : undefined;
  address = new URL((others ?? own).url).host;
  const sweeper = setInterval(() => seats.sweep() && tell(), awayMs / 4).unref();
  return {
    ...{ url: own.url, address, code, watching: pages.watching, showVote: votes.show },
    told: () => ({ ...seats.progress(), votes: votes.counts() }),
    follow: (hear) => void following.push(hear),
    async close() {
      clearInterval(sweeper);
      clearTimeout(timer);
      pages.close();
      await Promise.all([own.close(), others?.close()]);
    },
  };
}

const anotherPort = (/** @type {number} */ taken) =>
  `Another: npm run board -- --port ${taken + 1}`;

async function subjectOf(root, { key, number, title }) {
  const nothing = { promises: {}, taskOf: {} }; // told when it is run
  const { promises, taskOf } = await loadCheck(checkFile(root, key)).catch(() => nothing);
  return { key, number, title, promises, taskOf };
}

/** Eight letters and digits, as in K7QM-3XPD. */
function newCode() {
  const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]);
  letters.splice(CODE_LENGTH / 2, 0, '-');
  return letters.join('');
}
