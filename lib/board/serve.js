/**
 * The board of a class. Its page is for this machine only; if learners join from other machines, a second server listens at the
 * given address, which takes reports and shows nothing.
 *
 * @typedef {import('../lessons/catalog.js').Lesson} Lesson
 *
 * @typedef {object} Board
 * @property {string} url  of the board's page
 * @property {string} address  to join at
 * @property {string} code
 * @property {() => number} watching  how many pages listen
 * @property {(ballot: import('./votes.js').Ballot | null) => void} showVote  opens a vote, or closes the open one
 * @property {() => Told} told  the class in numbers
 * @property {(onChange: () => void) => void} follow  calls it whenever these may have changed
 * @property {() => Promise<void>} close
 *
 * @typedef {ReturnType<typeof import('./roster-views.js').progressOf> & { votes: Record<string, (number | null)[]> }} Told  votes:
 *   see Votes.counts()
 */
import { randomInt } from 'node:crypto';
import { checkFile, loadCheck } from '../check/definitions.js';
import { boardPage } from './page.js';
import { joinRoutes, json } from './routes.js';
import { Roster } from './class-roster.js';
import { Votes } from './votes.js';
import { LOOPBACK, demandToken, openServer, send } from '../web/server.js';
import { createStream } from '../web/event-stream.js';

const AWAY_MS = 30_000; // a learner's machine reports every three seconds
const CALM_MS = 100; // changes in this time are announced together
/** They also stop a flood of connections without the code, or ones that send nothing, from keeping learners out. */
const LIMITS = {
  ...{ maxConnections: 500, mostFromOne: 150 }, // more than the seats: a class may be behind one address
  ...{ headersTimeout: 3_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 },
};
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'; // none looks like another
const CODE_LENGTH = 8;

/**
 * @param {object} options
 * @param {string} options.root
 * @param {Lesson[]} options.lessons
 * @param {string} [options.host]  an address of this machine for learners to join at; default: the loopback interface
 * @param {number} [options.port]  0: any free one
 * @param {number} [options.awayMs]  a machine silent for longer is away
 * @param {() => number} [options.now]  in ms; for tests
 * @param {(port: number) => string} [options.another]  advice if the port is taken
 * @returns {Promise<Board>}
 * @throws {import('../common/usage-error.js').UsageError}  if the port is taken, or this machine doesn't have the address
 */
export async function serveBoard({ root, lessons, host = LOOPBACK, port = 0, ...rest }) {
  const { awayMs = AWAY_MS, now = () => performance.now(), another = anotherPort } = rest;
  const code = newCode();
  const subjects = await Promise.all(lessons.map((lesson) => subjectOf(root, lesson)));
  const roster = new Roster({ lessons: subjects, awayMs, now });
  const votes = new Votes((key) => roster.has(key));
  const pages = createStream(() => roster.snapshot());
  const changes = createAnnouncer(pages.tell);
  const onChange = changes.announce;
  const routes = joinRoutes({ roster, subjects, votes, code, onChange, now });
  const where = { address: '', code };
  const mountPage = (app, token) => mountBoard(app, { token, where, pages, roster, onChange });
  const servers = await openServers({ host, port, another, routes, mountPage });
  where.address = new URL(servers.joinUrl).host;
  const sweeper = setInterval(() => roster.sweep() && onChange(), awayMs / 4).unref();
  return {
    ...{ ...where, url: servers.url, watching: pages.watching, follow: changes.follow },
    showVote: (ballot) => votes.show(ballot),
    told: () => ({ ...roster.progress(), votes: votes.counts() }),
    async close() {
      clearInterval(sweeper);
      changes.close();
      pages.close();
      await servers.close();
    },
  };
}

/** Calls its followers once for all changes within CALM_MS. */
function createAnnouncer(/** @type {() => void} */ first) {
  const followers = [first];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const announceNow = () => {
    timer = undefined;
    for (const follower of followers) follower();
  };
  return {
    announce: () => void (timer ??= setTimeout(announceNow, CALM_MS)),
    follow: (/** @type {() => void} */ follower) => void followers.push(follower),
    close: () => clearTimeout(timer),
  };
}

/** The page of the instructor. */
function mountBoard(app, { token, where, pages, roster, onChange }) {
  app.get('/', (request, response) => send(response, () => boardPage({ ...where, token })));
  app.get('/events', (request, response) => pages.add(response));
  app.post('/free', demandToken(token), json, (request, response) => {
    const isFree = roster.free(request.body ?? {});
    if (isFree) onChange();
    response.status(isFree ? 204 : 404).end();
  });
}

/** Opens the page's server, and for another host than the loopback interface one more with the same port. */
async function openServers({ host, port, another, routes, mountPage }) {
  const common = { limits: LIMITS, another };
  const own = await openServer({
    ...{ ...common, room: 'board', port },
    mount(app, token) {
      mountPage(app, token);
      app.use(routes);
    },
  });
  const { url } = own;
  if (host === LOOPBACK) return { url, joinUrl: url, close: own.close };
  try {
    const mount = (app) => void app.use(routes);
    const others = await openServer({ ...common, host, port: Number(new URL(url).port), mount });
    return {
      ...{ url, joinUrl: others.url },
      close: () => Promise.all([own.close(), others.close()]),
    };
  } catch (error) {
    await own.close();
    throw error;
  }
}

const anotherPort = (/** @type {number} */ taken) =>
  `Another: npm run board -- --port ${taken + 1}`;

async function subjectOf(root, { key, number, title }) {
  const nothing = { promises: {}, taskOf: {} }; // a check that cannot be loaded says why when run
  const { promises, taskOf } = await loadCheck(checkFile(root, key)).catch(() => nothing);
  return { key, number, title, promises, taskOf };
}

/** Letters and digits, as in K7QM-3XPD. */
function newCode() {
  const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]);
  letters.splice(CODE_LENGTH / 2, 0, '-');
  return letters.join('');
}
