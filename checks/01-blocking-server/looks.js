/** What the check of lesson 1 does with the learner's server, and what it sees. A server may die at any moment: facts can be missing. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askAtOnce,
  createLoad,
  eventsOf,
  get,
  haveTurned,
  nowMs,
  parseJsonBody,
  requestsOf,
  whileFrozen,
} from '../../lib/check/checking.js';

export const HOMES = 3; // so few that each has its answer in time, even if it takes a second
export const REPORTS = 4;
const FREEZE_MS = 250; // far longer than any /
const QUIET_TURNS = 32; // of 20 ms: by then the freeze is one sample in more than a hundred, and no 99th percentile shows it
const TIMER_TURNS = 2; // after a reset, Node's histogram sees nothing until its timer has fired once
const TURN_DEADLINE_MS = 3_000;
const CLIENTS = 100;
const FIRE_MS = 2_100; // the first round takes 1.6 s: then each client has been served once
const HEALTH_AFTER_MS = 300;

/** Several requests together, and a /health as soon as the first of them has begun. */
export async function askWithHealth(program, path, times) {
  const first = program.events.length;
  const asked = askAtOnce(program, path, times);
  await program.until((events) => requestsOf(events.slice(first), path).length > 0);
  const health = await get(`${program.url}/health`);
  const { answers, requests } = await asked;
  const events = program.events.slice(first);
  const blocks = eventsOf(events, 'wait').filter(({ tid }) => tid === undefined); // Atomics.wait(), as in blockFor()
  return { answers, requests, health, healths: requestsOf(events, '/health'), blocks };
}

/**
 * What /health reports after the whole process was frozen, served one /, and then had nothing to do. The probe's own timer
 * says how late the event loop really was.
 */
export async function readDelay(program) {
  const turns = (count) => {
    const fromMs = nowMs();
    const { pid } = program;
    return program.until((events) => haveTurned(events, [pid], count, fromMs), TURN_DEADLINE_MS);
  };
  const tell = () => get(`${program.url}/health`);
  const sinceMs = nowMs();
  await tell();
  await turns(TIMER_TURNS);
  const first = program.events.length; // a delay before that may have begun before the reset
  await whileFrozen(program, [program.pid], () => sleep(FREEZE_MS));
  await turns(TIMER_TURNS);
  await askAtOnce(program, '/', 1);
  await turns(QUIET_TURNS);
  const answers = [await tell(), await tell()];
  const events = program.events.slice(first);
  const beats = eventsOf(events, 'beat').filter(({ pid, tid }) => pid === program.pid && !tid);
  const lateMs = Math.max(0, ...beats.map(({ late }) => late));
  const [told, toldAgain] = answers.map(({ body }) => parseJsonBody(body).eventLoopDelayMs);
  return {
    ...{ answers, told, toldAgain, lateMs, tookMs: answers[0].doneMs - sinceMs },
    home: requestsOf(events, '/')[0],
    asked: requestsOf(events, '/health')[0],
    lateBeat: beats.find(({ late }) => late === lateMs),
  };
}

/** A hundred clients ask for / as soon as they are answered, and one for /health. */
export async function measureQueue(program) {
  const load = createLoad();
  const url = `${program.url}/`;
  const fire = { url, connections: CLIENTS, durationMs: FIRE_MS, isFresh: true };
  const firing = load.fire(fire);
  await program.until((events) => requestsOf(events, '/').length > 0);
  await sleep(HEALTH_AFTER_MS);
  const { sentMs, doneMs } = await get(`${program.url}/health`, { timeoutMs: 2 * FIRE_MS });
  const { answers } = await firing;
  load.close();
  const requests = requestsOf(program.events, '/');
  return { clients: CLIENTS, answers, requests, healthMs: doneMs - sentMs };
}
