/** The names of processes, moments and exits in all sentences about a server. Pure. */
/** @typedef {import('./facts.js').Seen} Seen */

/** A moment, in seconds since the start. @param {{ zeroMs: number }} since @param {number} t */
export const at = ({ zeroMs }, t) => `${((t - zeroMs) / 1000).toFixed(2)} s`;

/** @param {Pick<Seen, 'pid' | 'role' | 'worker' | 'name'>} one */
export const nameIt = ({ pid, role, worker, name }) =>
  role === 'worker' ? `worker ${worker} (pid ${pid})` : `${name} (pid ${pid})`;

/** @param {import('./facts.js').Facts} facts @param {number} pid */
export function nameOf({ processes }, pid) {
  const one = processes.find((any) => any.pid === pid);
  return one ? nameIt(one) : `pid ${pid}`;
}

/** A script's name. @param {string | undefined} file */
export const shortName = (file) => file?.split(/[/\\]/).at(-1)?.replace(/\s/g, ' ') || 'node';

/** @param {Partial<Seen>} one */
export const howItEnded = ({ crash, signal, code }) =>
  `${signal ? `was killed by ${signal}` : `exited with code ${code}`}${crash ? `, ${crash}` : ''}`;

/** The signal or command of a trial. @param {import('../trials.js').Trial} trial */
export const whatWasDone = ({ command, signal, pid }) =>
  command === undefined ? `${signal} to pid ${pid}` : `\`${command}\``;

/** @param {number} count @param {string} one @param {string} [more] */
export const counted = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;
