/** Lesson 1: requests to the learner's server, and what is seen of it. A server may exit at any moment, so facts can be missing. */
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

export const HOMES = 3; // few enough to be answered in time, even at a second each
export const REPORTS = 4;
const FREEZE_MS = 250; // far longer than a /
const QUIET_TURNS = 32; // of 20 ms: afterwards a 99th percentile no longer shows the freeze
const TIMER_TURNS = 2; // after a reset, Node's histogram records nothing until its timer has fired once
const TURN_DEADLINE_MS = 3_000;
const CLIENTS = 100;
const FIRE_MS = 2_100; // the first round, one answer for each client, takes 1.6 s
const HEALTH_AFTER_MS = 300;

/** Several requests at once, and a /health as soon as the first of them has begun. */
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

/** What /health reports after a freeze, one /, and a quiet moment; the probe's own timer measures the true delay, and it sees each histogram start. */
export async function readDelay(program) {
  const turns = (count) => {
    const fromMs = nowMs();
    const { pid } = program;
    return program.until((events) => haveTurned(events, [pid], count, fromMs), TURN_DEADLINE_MS);
  };
  const askHealth = () => get(`${program.url}/health`);
  const sinceMs = nowMs();
  await askHealth();
  await turns(TIMER_TURNS);
  const first = program.events.length; // an earlier delay may have begun before the reset
  await whileFrozen(program, [program.pid], () => sleep(FREEZE_MS));
  await turns(TIMER_TURNS);
  await askAtOnce(program, '/', 1);
  await turns(QUIET_TURNS);
  const answers = [await askHealth(), await askHealth()];
  const events = program.events.slice(first);
  const beats = eventsOf(events, 'beat').filter(({ pid, tid }) => pid === program.pid && !tid);
  const lateMs = Math.max(0, ...beats.map(({ late }) => late));
  const [told, toldAgain] = answers.map(({ body }) => parseJsonBody(body).eventLoopDelayMs);
  return {
    ...{ answers, told, toldAgain, lateMs, tookMs: answers[0].doneMs - sinceMs },
    home: requestsOf(events, '/')[0],
    asked: requestsOf(events, '/health')[0],
    watches: eventsOf(program.events, 'watch').length,
    lateBeat: beats.find(({ late }) => late === lateMs),
  };
}

/** A closed loop of a hundred clients for /, and one request for /health. */
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
