/** Milliseconds of the system's monotonic clock, which all processes share. @returns {number} */
export function nowMs() {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
