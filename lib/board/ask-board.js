/** Requests from a learner's machine to a board (routes.js): each answer is short, and no request waits long. */
import { visible } from '../verdict/visible.js';
import { parseName } from './learner-names.js';

const LIMIT_MS = 5_000;
const LEAVE_MS = 1_000;
const MOST_BYTES = 4_000; // of an answer, which comes from another machine
const SEAT = /^[\w-]{1,100}$/;

/**
 * Each request resolves to the status and the text of its answer, and rejects if there is none.
 * @param {string} url  of the board @param {number} [limitMs]  for an answer
 */
export function createRequests(url, limitMs = LIMIT_MS) {
  let latest = new AbortController();
  const ask = (method, path, headers, body, withinMs = limitMs) => {
    latest = new AbortController();
    const request = { method, headers, body: body && JSON.stringify(body) };
    return fetchText(new URL(path, url), request, latest, withinMs);
  };
  const askFor = (seat, method, path, body, withinMs) =>
    ask(method, path, { 'x-forkshop-seat': seat }, body, withinMs);
  return {
    /** Resolves with a seat if the board gives one, and the name that it shows. @param {string} code @param {string} name */
    async join(code, name) {
      const answer = await ask('POST', 'seats', { 'x-forkshop-code': code }, { name });
      return answer.status === 201 ? { ...answer, given: parseSeat(answer.text) } : answer;
    },
    /** @param {string} seat @param {import('./reports.js').Report} report */
    report: (seat, report) => askFor(seat, 'PUT', 'seat', report),
    /** @param {string} seat @param {{ name: string, question: number, option: number | null }} choice */
    vote: (seat, choice) => askFor(seat, 'POST', 'vote', choice),
    /** @param {string} seat */
    leave: (seat) => askFor(seat, 'DELETE', 'seat', undefined, LEAVE_MS),
    /** Aborts the latest request. */
    stop: () => latest.abort(),
  };
}

/** @returns {Promise<{ status: number, text: string, given?: ReturnType<typeof parseSeat> }>} */
async function fetchText(/** @type {URL} */ url, { headers, ...request }, abort, withinMs) {
  const timer = setTimeout(() => abort.abort(), withinMs);
  try {
    const response = await fetch(url, {
      ...{ ...request, redirect: 'error', signal: abort.signal },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return { status: response.status, text: await shortText(response) };
  } finally {
    clearTimeout(timer);
  }
}

/** An answer in one line. A large one, or one in another format, isn't from a board. */
async function shortText(response) {
  const length = Number(response.headers.get('content-length') ?? Infinity);
  const isOurs = /^(text\/plain|application\/json)/.test(
    response.headers.get('content-type') ?? '',
  );
  if (isOurs && length <= MOST_BYTES)
    return visible((await response.text()).trim()).replaceAll('\n', ' ');
  await response.body?.cancel();
  return 'What answers there is not a board.';
}

/** @throws {Error}  if another server than a board has answered */
function parseSeat(/** @type {string} */ text) {
  const { seat, name } = JSON.parse(text);
  if (typeof seat !== 'string' || !SEAT.test(seat)) throw new Error(text);
  return { seat, name: parseName(name) };
}
