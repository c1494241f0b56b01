/**
 * Strikes a program with faults, one after the other, each until the capacity of before is back. nemesis.js has the faults.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {import('../observe/timeline.js').Event} Event
 * @typedef {{ name: string, how: string, kills?: boolean, act: () => any, isBack: (since: Event[], acted: any) => unknown }} Fault
 *   name: one or two words for a picture; how: in words; kills: `act` kills; act: its result is the episode's `acted`, the victims' pids;
 *   isBack: is the capacity of before there again?
 * @typedef {import('./episode.js').Episode & { name: string, kills: boolean, program: Program, old: number[], left: number[],
 *   serving: number[], alive: number, toMs: number }} Blow  old: pids that served before; left: those of them that haven't exited;
 *   serving: pids that serve in the end; alive: workers that haven't exited; toMs: its end
 */
import { exitsOf, forksOf, haveTurned } from '../observe/timeline.js';
import { nowMs } from '../observe/clock.js';
import { hasExited, servingIn } from './cluster.js';
import { episode } from './episode.js';

const CHANGES = ['fork', 'worker-listening', 'worker-exit'];
const CALM_TURNS = 8; // of the primary, 160 ms

/** Three seconds without a fork or an exit; a drain, or a pause between two workers, may take two. */
export const STILL = {
  turns: 150,
  kinds: ['fork', 'worker-listening', 'disconnect', 'worker-exit', 'exit'],
};

/** Strikes, and waits until the capacity is back or the program is at rest. @param {Program} program @param {Fault} fault @returns {Promise<Blow>} */
export async function strike(program, { name, how, kills = false, act, isBack }) {
  const old = servingIn(program.events);
  const blow = await episode(program, how, act, isBack, STILL);
  const left = old.filter((pid) => !hasExited(program.events, pid));
  const serving = servingIn(program.events);
  const alive = aliveWorkers(program.events).length;
  return { ...blow, name, kills, program, old, left, serving, alive, toMs: nowMs() };
}

function aliveWorkers(/** @type {Event[]} */ events) {
  const exited = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  return forksOf(events).filter(({ workerPid }) => !exited.has(workerPid));
}

/**
 * Exactly as many workers as wanted serve, no other one is starting or draining, and the primary has had time to fork again: between two
 * steps of a reload it looks finished. @param {Program} program @param {number} workers
 */
export function areServing({ events, pid }, workers) {
  const last = events.findLastIndex(({ what }) => CHANGES.includes(what)); // of five minutes' events the others come later
  if (!haveTurned(events.slice(last + 1), [Number(pid)], CALM_TURNS)) return false;
  return servingIn(events).length === workers && aliveWorkers(events).length === workers;
}

/** Nothing happens: the program only has to come to rest with its workers. @param {Program} program @param {number} workers @returns {Fault} */
export const calm = (program, workers) => ({
  ...{ name: 'calm', how: 'nothing more happens' },
  act: () => [],
  isBack: () => areServing(program, workers),
});

/**
 * The deaths that the check has caused. @param {Blow[]} blows
 * @returns {{ pid: number, fromMs: number, toMs: number }[]}  toMs: when the primary learned of it
 */
export const deathsOf = (blows) =>
  blows
    .filter(({ kills }) => kills)
    .flatMap(({ acted, fromMs, events }) =>
      acted.map((/** @type {number} */ pid) => {
        const exit = exitsOf(events).find(({ workerPid }) => workerPid === pid);
        return { pid, fromMs, toMs: exit?.t ?? Infinity };
      }),
    );
