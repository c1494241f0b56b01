/** The trial of a reload: by a signal or by a command, once or several times. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../observe/clock.js';
import { hasPid } from '../observe/processes.js';
import { haveTurned, turnsOf } from '../observe/timeline.js';
import { ignoreStarved } from '../observe/cpu-time.js';
import { COMMAND_WITHIN_MS, runCommand } from './reload-command.js';
import { during, namedAmong, primaryOf, serving } from './under-traffic.js';

/** @import { Up } from './launch.js' @import { Trial } from './trials.js' */

const AFTERWARDS_MS = 500;
const BEGINS_WITHIN_MS = 5_000;
const RELOADED_WITHIN_MS = 30_000;
const HELD_FOR_MS = 10_000; // by open streams
const TURNS_BETWEEN = 5; // of the primary, which learns of an exit later than we do

/**
 * Signals the primary, or the only process, or runs a command; then waits until new processes serve in place of all old ones.
 * @param {Up} up @param {import('./load.js').Plan} plan
 * @param {{ signal: NodeJS.Signals } | { command: string, cwd: string, env: NodeJS.ProcessEnv }} how
 * @param {{ times?: number, requests?: number, budgetMs?: number }} [amount]  reload this often, then until that many
 *   requests are sent; no reload begins after budgetMs
 * @returns {Promise<Trial>}
 */
export async function tryReload(up, plan, how, amount = {}) {
  const { times = 1, requests = 0, budgetMs = Infinity } = amount;
  const isCommand = 'command' in how;
  const about = isCommand
    ? { command: how.command }
    : { signal: how.signal, pid: primaryOf(up) ?? Number(up.program.pid) };
  return during(
    up,
    plan,
    { kind: 'reload', ...about },
    async (atMs, { count: countSent, streams }) => {
      const all = [await reloadOnce(up, how, streams)];
      const isEnough = () => all.length >= times && countSent() >= requests;
      const canGoOn = () => all.at(-1)?.tookMs !== undefined && nowMs() < atMs + budgetMs;
      while (!isEnough() && canGoOn()) all.push(await reloadOnce(up, how, streams));
      if (!up.program.fate) await sleep(AFTERWARDS_MS);
      const each = all.map((one) => ({ atMs: one.atMs, tookMs: one.tookMs }));
      return { ...all.at(-1), atMs, ...(times > 1 && { each }), fate: up.program.fate };
    },
  );
}

/** @param {Up} up @param {any} how @param {import('../observe/client.js').Streams} streams */
async function reloadOnce(up, how, streams) {
  const { program } = up;
  const servers = serving(up);
  const isCommand = 'command' in how;
  const target = primaryOf(up) ?? Number(program.pid);
  const atMs = nowMs();
  const command = isCommand ? runCommand(how) : undefined;
  if (!isCommand) program.kill(target, how.signal);
  const remain = () => serving(up).filter((one) => servers.includes(one));
  const isNews = ({ t, what }) =>
    t > atMs && ['fork', 'exit', 'child', 'worker-exit'].includes(what);
  const hasNews = () => program.events.some(isNews);
  if (command) await program.until(() => hasNews() || command.isOver(), COMMAND_WITHIN_MS);
  const hasFailed = command?.isOver() && (await command.ended);
  if (!hasFailed) await program.until(hasNews, BEGINS_WITHIN_MS);
  const isFull = () => serving(up).length - remain().length >= servers.length;
  const isDone = () => remain().length === 0 && isFull();
  const withinMs = streams.isFull() ? HELD_FOR_MS : RELOADED_WITHIN_MS;
  const done = hasNews() && (await program.until(isDone, withinMs));
  const tookMs = done ? nowMs() - atMs : undefined;
  const failed = await command?.ended;
  await untilPrimaryKnows(program, target);
  return {
    ...{ atMs, tookMs, servers: servers.length, replaced: servers.length - remain().length },
    ...{ isFull: isFull(), remaining: remain().map((pid) => namedAmong(program.events, pid)) },
    ...(failed && { failed }),
  };
}

/** Waits until the primary knows that its last old worker has exited: before that a new signal would be too early. */
async function untilPrimaryKnows(/** @type {import('./launch.js').Program} */ program, pid) {
  const sinceMs = nowMs();
  if (turnsOf(program.events, pid) === 0) return; // it has no probe
  const hasTurned = () => haveTurned(program.events, [pid], TURNS_BETWEEN, sinceMs);
  await program.until(() => !hasPid(pid) || hasTurned(), BEGINS_WITHIN_MS).catch(ignoreStarved);
}
