/** Explains a failure that the program's own synchronous work has caused: names the handler, with numbers. */
const MEGABYTE = 1024 ** 2;
const MUCH_BYTES = 256 * 1024; // no program of a lesson prints that much
const MOSTLY = 0.9;
const LITTLE = 0.1;

/** @param {NonNullable<ReturnType<import('../observe/program.js').Program['ownWork']>>} own @returns {{ why: string, try: string }} */
export function blockedByOwnWork({ pid, keptMs, computedMs, queuedMs, path, printedBytes }) {
  const inMs = (/** @type {number} */ ms) => `${Math.round(ms).toLocaleString('en-US')} ms`;
  const where = path === undefined ? 'Something' : `The handler of ${path}`;
  const waited = queuedMs > LITTLE * keptMs ? `, and waited for a core for ${inMs(queuedMs)}` : '';
  const isAll = computedMs > MOSTLY * keptMs;
  const part = `it computed for ${inMs(computedMs)}${waited}`;
  const share = isAll ? 'it computed all that time' : part;
  const isMuch = printedBytes > MUCH_BYTES;
  const printed = isMuch
    ? ` The program has printed ${(printedBytes / MEGABYTE).toFixed(1)} MB.`
    : '';
  return {
    why: `${where} kept the thread of process ${pid} for ${inMs(keptMs)} without a break; ${share}. Nothing else ran there in the meantime.${printed}`,
    try: isMuch
      ? 'print once when something happens, not in a loop: each line is written before the next one runs'
      : 'look for what computes in one go: a loop, JSON, cryptography, a regular expression, a synchronous read',
  };
}
