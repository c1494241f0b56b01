/**
 * The clock of every timeline: milliseconds of the system's monotonic clock, the same in all processes of a machine.
 * @returns {number}
 */
export function nowMs() {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
