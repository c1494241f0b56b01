/**
 * A learner's machine on the board of a class: says where the learner is, again every few seconds. Where the board is not to
 * be reached, that is said once, and tried again quietly: nothing waits for it.
 */
import { visible } from '../verdict/visible.js';
import { nameOf } from './learner-names.js';

const BEAT_MS = 10_000;
const LIMIT_MS = 5_000;
const LEAVE_MS = 1_000;
const MOST_BYTES = 400; // of an answer: it comes from elsewhere
const FINAL = [400, 403, 404]; // it will not be otherwise in ten seconds

/** @typedef {import('./class-roster.js').Report} Report */

/**
 * @param {object} options
 * @param {string} options.url  of the board, as in http://192.168.1.20:4020/
 * @param {string} options.code
 * @param {string} options.name
 * @param {Report} options.report  at first
 * @param {(line: string) => void} options.say
 * @param {() => void} [options.onSeat]  told when the board has given a seat, or has forgotten it
 * @param {number} [options.beatMs]  how often it is said again
 * @param {number} [options.waitMs]  for an answer
 * @returns {{ tell: (changed: Partial<Report>) => void, report: () => Report, isSeated: () => boolean, close: () => Promise<void> }}
 *   isSeated: is there a seat on the board?
 */
export function joinBoard({ url, code, name, report, say, onSeat, ...timing }) {
  const { beatMs = BEAT_MS, waitMs = LIMIT_MS } = timing;
  let seat = '';
  let isDue = false;
  let isOver = false;
  const said = new Set();
  let stop = () => {};

  const sayOnce = (/** @type {string} */ words) => {
    if (!said.has(words) && !isOver) say(words);
    said.add(words);
  };

  /** @param {string} method  @param {string} path  @param {Record<string, string>} headers  @param {object} [body] */
  async function ask(method, path, headers, body, limitMs = waitMs) {
    const abort = new AbortController();
    stop = () => abort.abort();
    const timer = setTimeout(stop, limitMs);
    try {
      const response = await fetch(new URL(path, url), {
        ...{ method, redirect: 'error', body: body && JSON.stringify(body) },
        headers: { ...headers, 'content-type': 'application/json' },
        signal: abort.signal,
      });
      return { status: response.status, text: await shortText(response) };
    } finally {
      clearTimeout(timer);
    }
  }

  async function takeSeat() {
    const { status, text } = await ask('POST', 'seats', { 'x-forkshop-code': code }, { name });
    if (status === 201) {
      const given = JSON.parse(text);
      if (typeof given.seat !== 'string' || !/^[\w-]{1,100}$/.test(given.seat))
        throw new Error(text);
      seat = given.seat;
      onSeat?.();
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
    onSeat?.();
  }

  async function put() {
    const { status, text } = await ask('PUT', 'seat', { 'x-forkshop-seat': seat }, report);
    if (status === 400) sayOnce(`The board says: ${text}`);
    if (status === 410) giveUp(text);
    return status;
  }

  async function sayNow() {
    if (!seat && !(await takeSeat())) return;
    if ((await put()) !== 404) return;
    seat = ''; // the board has begun anew
    onSeat?.();
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

/** What a board says in one line; whatever else answers there is none. */
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
