/**
 * Faults for a program that serves requests, in the manner of Maelstrom's nemesis. Each is an act and a condition: as many workers as
 * before serve again, and for a deployment no old one is left.
 * @typedef {import('../observe/program.js').Program} Program @typedef {import('./draw.js').Draw} Draw
 * @typedef {import('./strike.js').Fault} Fault
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { forksOf, haveTurned } from '../observe/timeline.js';
import { nowMs } from '../observe/clock.js';
import { untilAtRest } from './at-rest.js';
import { hasExited, servingIn } from './cluster.js';
import { kill, whileFrozen } from './faults.js';
import { STILL, areServing } from './strike.js';

const SEEN_TURNS = 25; // of the primary, 500 ms: longer than its first wait before a restart

/** A program without a cluster is its own worker. @param {Program} program @returns {number[]}  pids */
function targetsIn({ events, pid }) {
  const serving = servingIn(events);
  return serving.length > 0 ? serving : [Number(pid)];
}

/** SIGKILL for one worker. @param {Program} program @param {Draw} draw @param {number} workers @returns {Fault} */
export const killOne = (program, draw, workers) => ({
  ...{ name: 'kill', how: 'one worker is killed (SIGKILL)', kills: true },
  act: () => kill(program, [draw.pick(targetsIn(program))]),
  isBack: (since, victims) =>
    victims.every((pid) => hasExited(since, pid)) && areServing(program, workers),
});

/** One worker stands still for a while. @param {Program} program @param {Draw} draw @param {number} workers @param {number} ms @returns {Fault} */
export const freezeOne = (program, draw, workers, ms) => ({
  ...{ name: 'block', how: `one worker is blocked for ${ms / 1_000} s` },
  act: () => whileFrozen(program, [draw.pick(targetsIn(program))], () => sleep(ms)),
  isBack: () => areServing(program, workers),
});

/**
 * A new version, by SIGHUP. @param {Program} program @param {number} workers @param {() => void} write  puts the version there
 * @returns {Fault}
 */
export function deploy(program, workers, write) {
  const old = servingIn(program.events);
  return {
    ...{ name: 'deploy', how: 'a new version is deployed (SIGHUP)' },
    act: () => reload(program, write),
    isBack: () =>
      areServing(program, workers) && old.every((pid) => hasExited(program.events, pid)),
  };
}

/** A version that doesn't boot, and after its failure the good one again. @param {Program} program @param {number} workers
 * @param {{ bad: () => void, good: () => void }} write @returns {Fault} */
export const deployBad = (program, workers, write) => ({
  ...{ name: 'bad deploy', how: 'a version that does not boot is deployed (SIGHUP)' },
  async act() {
    const first = program.events.length;
    reload(program, write.bad);
    const failed = () => failedIn(program.events.slice(first));
    await untilAtRest(program, () => failed().length > 0, STILL);
    const failedMs = nowMs();
    await program.until((events) =>
      haveTurned(events, [Number(program.pid)], SEEN_TURNS, failedMs),
    );
    write.good();
    return failed();
  },
  isBack: (since, failed) => failed.length > 0 && areServing(program, workers),
});

/** Workers that were forked and have exited. @param {import('./strike.js').Event[]} since @returns {number[]}  pids */
const failedIn = (since) =>
  forksOf(since).flatMap(({ workerPid }) => (hasExited(since, workerPid) ? [workerPid] : []));

/**
 * A new version is deployed, and a worker is killed in the middle: an old one while the first new one starts, or that new one as soon as it
 * listens. @param {Program} program @param {Draw} draw @param {number} workers @param {() => void} write @param {'old' | 'new'} which @returns {Fault}
 */
export function killInDeploy(program, draw, workers, write, which) {
  const { isBack } = deploy(program, workers, write);
  const target = draw.pick(targetsIn(program));
  return {
    name: `deploy, ${which} killed`,
    how: `a new version is deployed (SIGHUP), and ${which === 'old' ? 'an old worker' : 'the first new worker'} is killed meanwhile`,
    kills: true,
    async act() {
      const first = program.events.length;
      reload(program, write);
      const forked = () => forksOf(program.events.slice(first)).map(({ workerPid }) => workerPid);
      const fresh = () => forked().find((pid) => servingIn(program.events).includes(pid));
      const victim = () => (which === 'new' ? fresh() : forked().length > 0 && target);
      await untilAtRest(program, victim, STILL);
      return kill(program, [victim()].filter(Boolean));
    },
    isBack: (since, victims) =>
      victims.every((pid) => hasExited(since, pid)) && isBack(since, victims),
  };
}

function reload(program, write) {
  write();
  return kill(program, [program.pid], 'SIGHUP');
}
