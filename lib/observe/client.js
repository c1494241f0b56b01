/**
 * The HTTP client of a check: single requests, always with a time limit.
 * @typedef {object} Answer
 * @property {number | undefined} status  undefined without an answer
 * @property {http.IncomingHttpHeaders} headers @property {string} body
 * @property {number | undefined} client  the connection's local port, which joins the answer to the server's record
 * @property {boolean} isReused  the connection had served an earlier request
 * @property {number} sentMs @property {number} doneMs @property {string | undefined} error  in words
 * @property {number} [limitMs]  the time limit, if it was reached
 * @property {true} [isStream]  an answer without an end, such as an event stream @property {true} [hasLeft]  our client closed it
 * @typedef {{ add: (leave: () => void) => void, remove: (leave: () => void) => void, isFull: () => boolean, end: () => void }} Streams
 *   endless answers, which our clients close; remove: when the server has ended one; end: closes open ones, and later ones at once
 */
import http from 'node:http';
import { nowMs } from './clock.js';
import { isContended } from './cpu-time.js';

const TIMEOUT_MS = 4_000;
const IMPATIENT_MS = 400; // for a server that has let one request time out: a check sends dozens
const PATIENCE = 3; // times the limit, on a machine where others want the cores
const LARGEST_BODY = 1024 * 1024;
const STILL_COMES_MS = 2_000; // an answer that brought data so recently is a stream, not a timeout
const RESETS = new Set(['ECONNRESET', 'EPIPE']);

/** @type {Set<string>} hosts that let a request time out */
const silent = new Set();

/** Another program listens on this port now. @param {number} port */
export function forgetSilence(port) {
  for (const host of silent) if (host.endsWith(`:${port}`)) silent.delete(host);
}

const usedSockets = new WeakSet();

/** @param {number} [most]  how many make it full @returns {Streams} */
export function createStreams(most = Infinity) {
  const open = new Set();
  let isOver = false;
  return {
    add: (leave) => void (isOver ? leave() : open.add(leave)),
    remove: (leave) => void open.delete(leave),
    isFull: () => open.size >= most,
    end() {
      isOver = true;
      for (const leave of open) leave();
    },
  };
}

/** @param {http.IncomingHttpHeaders} headers */
export const isEventStream = (headers) =>
  /^text\/event-stream\b/i.test(headers['content-type'] ?? '');

/**
 * Sends one request.
 * @param {string} url
 * @param {{ timeoutMs?: number, agent?: http.Agent | false, headers?: Record<string, string>, method?: string, body?: string,
 *   localAddress?: string, isBodyKept?: boolean, streams?: Streams }} [options]  agent: a new connection by default; method: GET by
 *   default; localAddress: such as 127.0.0.2; isBodyKept: true by default, up to 1 MB; streams: take endless answers
 * @returns {Promise<Answer>}  never rejects
 */
export function get(url, options = {}) {
  const { host } = new URL(url);
  const { agent = false, headers, method, body, localAddress, isBodyKept, streams } = options;
  const { timeoutMs = silent.has(host) ? IMPATIENT_MS : TIMEOUT_MS } = options;
  return new Promise((resolve) => {
    const answer = emptyAnswer();
    const finish = (/** @type {string | undefined} */ error = undefined) => {
      clearTimeout(timer);
      streams?.remove(leave);
      request.destroy();
      resolve({ ...answer, doneMs: nowMs(), error });
    };
    const leave = () => {
      Object.assign(answer, { isStream: true, hasLeft: true });
      finish();
    };
    let [dataMs, timeouts] = [0, 0];
    const request = http.request(url, { agent, headers, method, localAddress }, (response) => {
      if (streams && isEventStream(response.headers)) {
        answer.isStream = true;
        clearTimeout(timer);
        streams.add(leave);
      }
      response.on('data', () => (dataMs = nowMs()));
      takeResponse(response, answer, { isBodyKept, finish });
    });
    const giveUp = () => {
      if (streams && nowMs() - dataMs < STILL_COMES_MS) return leave();
      timeouts += 1;
      if (timeouts < PATIENCE && isContended()) return timer.refresh(); // the server may not have had a core
      silent.add(host);
      answer.limitMs = timeoutMs;
      return finish(lateness(answer, timeouts * timeoutMs));
    };
    const timer = setTimeout(giveUp, timeoutMs);
    request.on('socket', (socket) => noteConnection(answer, socket));
    request.on('error', (/** @type {any} */ { code, message }) => finish(code ?? message));
    request.end(body);
  });
}

function takeResponse(response, answer, { isBodyKept = true, finish }) {
  answer.status = response.statusCode;
  answer.headers = response.headers;
  response.setEncoding('latin1');
  response.on('data', (part) => {
    if (!isBodyKept) return;
    answer.body += part;
    if (answer.body.length > LARGEST_BODY) finish('the body is larger than 1 MB');
  });
  response.on('end', () => finish(response.complete ? undefined : 'the answer broke off'));
  response.on('error', () => finish('the answer broke off'));
}

function lateness({ status }, waitedMs) {
  const got = status === undefined ? 'no answer' : 'only a part of the answer';
  return `${got} within ${Math.round(waitedMs / 10) / 100} s`;
}

/** @returns {Answer} */
const emptyAnswer = () => ({
  ...{ status: undefined, headers: {}, body: '', client: undefined, isReused: false },
  ...{ sentMs: nowMs(), doneMs: 0, error: undefined },
});

function noteConnection(answer, socket) {
  answer.client = socket.localPort; // a reused connection is already open
  answer.isReused = usedSockets.has(socket); // request.reusedSocket is false if the request waited in the agent's queue
  usedSockets.add(socket);
  if (socket.connecting) socket.once('connect', () => (answer.client = socket.localPort));
}

/**
 * Did the server close a reused connection before any byte of this answer, as it may at any moment (RFC 9112, 9.3.1 and 9.5)? Node.js does
 * so after five idle seconds. @param {Partial<Answer>} answer
 */
export const isReset = ({ isReused, status, error }) =>
  Boolean(isReused) && status === undefined && RESETS.has(error ?? '');

/** Sends several requests at once. @param {number} times @param {string} url @param {Parameters<typeof get>[1]} [options] */
export function getAtOnce(times, url, options) {
  return Promise.all(Array.from({ length: times }, () => get(url, options)));
}
