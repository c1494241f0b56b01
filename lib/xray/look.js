/** One look at a server: start it, put it under load, read what happened, stop it. */
import { availableParallelism } from 'node:os';
import { listProcesses, titleOf } from '../observe/processes.js';
import { listeningSockets } from '../observe/sockets.js';
import { factsOf } from './report/facts.js';
import { NotUp, launch, whyEnded } from './launch.js';
import { putUnderLoad } from './load.js';
import { isSilent, tryStacks } from './stacks.js';
import { tryApart, unevenOf } from './spread.js';

/**
 * @param {import('../observe/runner.js').Runner} runner @param {import('./launch.js').Order} order @param {import('./load.js').Plan} plan
 * @returns {Promise<{ facts: import('./report/facts.js').Facts, events: import('../observe/timeline.js').Event[] }>}
 * @throws {import('./launch.js').NotUp}
 */
export async function look(runner, order, plan) {
  const { program, port, otherPorts } = await launch(runner, order, plan);
  const loaded = await putUnderLoad(program, plan);
  const whyNot = program.fate && whyEnded(program.fate);
  if (whyNot) throw new NotUp(program, `${whyNot} It was already under load.`);
  const pids = program.survivors();
  const family = listProcesses()
    .filter(({ pid }) => pids.includes(pid))
    .map(({ pid, ppid }) => ({ pid, ppid, name: titleOf(pid) }));
  const holders = (listeningSockets(program) ?? []).map(({ pid }) => pid);
  const { events } = program;
  const zeroMs = events[0]?.t ?? program.sinceMs;
  const isOpen = plan.rate !== undefined;
  const about = { port, otherPorts, holders, cores: availableParallelism() };
  const facts = factsOf({ events, zeroMs, ...about, isOpen, loaded, family });
  const uneven = unevenOf(facts);
  const spread = uneven && (await tryApart(program, plan, uneven));
  await program.stop();
  const stacks = isSilent(facts) ? await tryStacks(runner, order, plan) : undefined;
  return { facts: { ...facts, spread, stacks }, events };
}
