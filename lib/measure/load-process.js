/**
 * The load generator's process: it drives autocannon, away from the event loops of check and server. autocannon reports sums, so this
 * file listens to its clients for the time of each answer. With a fresh connection for each request (reconnectRate: 1) it emits no
 * 'response'; there an answer is complete when the client sends its next request: at once, unless ratePerSecond holds it back.
 */
import autocannon from 'autocannon';
import { nowMs } from '../observe/clock.js';
import { answerParent } from './generator.js';

const SAMPLE_MS = 10; // how often autocannon checks the time; its default, 1000, would add a second

answerParent(fire);

/**
 * Closed loop: each connection sends its next request when the last is answered, or later if all together would exceed ratePerSecond.
 * @returns {Promise<import('./load.js').Window>}
 * @param {import('./load.js').LoadOptions & { isFresh: boolean, timeoutMs: number }} options
 */
async function fire({
  url,
  connections,
  durationMs,
  ratePerSecond,
  isFresh,
  timeoutMs,
  ...request
}) {
  const { method, headers, body } = request;
  const answers = [];
  const startMs = nowMs();
  const result = await autocannon({
    url,
    connections,
    duration: durationMs / 1000,
    timeout: timeoutMs / 1000,
    sampleInt: SAMPLE_MS,
    ...(ratePerSecond && { overallRate: ratePerSecond, ignoreCoordinatedOmission: true }),
    reconnectRate: isFresh ? 1 : 0,
    ...(method && { method: /** @type {any} */ (method) }),
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(isFresh && { connection: 'close' }) },
    setupClient: (client) => follow(client, isFresh, (answer) => answers.push(answer)),
  });
  const { errors, timeouts } = result;
  return { startMs, endMs: nowMs(), answers, errors, timeouts };
}

/** Reports every answer of one client. */
function follow(client, isFresh, report) {
  let sentMs, status, bytes; // of the last request; status 0: not answered yet
  const complete = () => status && report({ sentMs, doneMs: nowMs(), status, bytes });
  client.on('request', () => {
    if (isFresh) complete();
    [sentMs, status, bytes] = [nowMs(), 0, 0];
  });
  client.on('headers', (headers) => (status = headers.statusCode));
  client.on('body', (part) => (bytes += part.length));
  if (!isFresh) client.on('response', complete);
}
