/** Lesson 8, what is only shown: the requests that other ways to reload lose. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LOAD_PER_SECOND, rollUnderLoad } from './reload.js';

const WAYS = fileURLToPath(new URL('../../../lessons/08-graceful-reload/ways.js', import.meta.url));
const MEASURED_WORKERS = 4;
const SILENT_MS = 1_500; // nearly four times as long as the slowest answer takes

/** Three ways to put in a new version, each a separate program. */
export function startWays({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(MEASURED_WORKERS) };
  return Promise.all(
    [['kill-all'], ['one-by-one'], undefined].map(async (args) =>
      ready(await launch({ env, ...(args && { entry: WAYS, args }) }), MEASURED_WORKERS),
    ),
  );
}

/** The same load for the three. @param {any[]} programs */
export async function reloadWays([killed, oneByOne, candidate]) {
  return Promise.all(
    [
      ['all ended, then forked', killed],
      ['one by one: ended, then forked', oneByOne],
      ['yours', candidate],
    ].map(async ([name, program]) => ({ name, ...(await reloadOne(program)) })),
  );
}

/**
 * A connection that was given to a worker just before it was killed is silent for ever: a client with no answer long after
 * the reload gets none, and is released when the program ends.
 */
function reloadOne(program) {
  return rollUnderLoad(program, {
    async end(traffic) {
      const sent = traffic.stop();
      await Promise.race([sent, sleep(SILENT_MS, undefined, { ref: false })]);
      await program.stop();
      return sent;
    },
  });
}

/** How long the learner's own reload took, under load. */
export function reportReload({ measured }, { seconds, old }) {
  measured('reload', {
    label: `from the order until the last of the ${old.length} old workers has ended, yours`,
    unit: 's',
    value: seconds,
    isHeadline: true,
  });
}

/** The numbers of all ways, side by side. */
export function reportWays({ drawn }, rows) {
  drawn('failed', {
    label: `failed in a reload of ${MEASURED_WORKERS} workers under ${LOAD_PER_SECOND} requests/s`,
    unit: 'requests',
    rows: rows.map(({ name, lost }) => ({ name, value: lost.length })),
    note: `asked again by clients whose idle connection was closed: ${rows.map(({ repeated }) => repeated).join(', ')}`,
  });
  drawn('seconds', {
    label: `how long the reload of ${MEASURED_WORKERS} workers took`,
    unit: 's',
    rows: rows.map(({ name, seconds }) => ({ name, value: Math.round(seconds * 100) / 100 })),
  });
}
