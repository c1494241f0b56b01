/**
 * A lock on a file, which the death of its owner releases: Lamport's bakery algorithm. Each waiting process has a ticket, a
 * file whose name holds its number, pid and start time; the lowest number has the lock. So a ticket of a killed process can be
 * recognized and removed.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive, processAt } from '../../observe/processes.js';

const WAIT_MS = 5_000;
const POLL_MS = 2;
const DRAWING = 0; // the number of a ticket whose process is still choosing one

/** @typedef {{ path: string, number: number, pid: number, born: number }} Ticket  born: see processAt() */

/**
 * @param {string} file  in an existing folder @param {number} [waitMs]  at most @returns {() => void}  unlocks
 * @throws {Error}  EBUSY, if a living process holds the lock for longer
 */
export function lockFile(file, waitMs = WAIT_MS) {
  const drawing = ticketPath(file, DRAWING);
  /** @type {string | undefined} */
  let mine;
  const unlock = () => [drawing, mine].forEach((path) => path && rmSync(path, { force: true }));
  try {
    writeFileSync(drawing, '');
    const number = 1 + Math.max(0, ...ticketsOf(file).map((ticket) => ticket.number));
    mine = ticketPath(file, number);
    writeFileSync(mine, '');
    rmSync(drawing);
    waitUntilFirst(file, mine, waitMs);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

function waitUntilFirst(/** @type {string} */ file, /** @type {string} */ mine, waitMs) {
  const endMs = performance.now() + waitMs;
  for (;;) {
    const before = ticketBefore(file, mine);
    if (!before) return;
    if (performance.now() > endMs) throw busy(file, before, waitMs);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

/** A directory listing is no snapshot: while a process chooses its number, a lower one may appear. @returns {Ticket | undefined} */
function ticketBefore(/** @type {string} */ file, /** @type {string} */ mine) {
  const drawing = ticketsOf(file).find(({ number }) => number === DRAWING);
  if (drawing) return drawing;
  const [first] = ticketsOf(file)
    .filter(({ number }) => number !== DRAWING)
    .sort((a, b) => a.number - b.number || (a.path < b.path ? -1 : 1));
  return first?.path === mine ? undefined : first;
}

/** @type {number | undefined} */
let ownBirth;

function ticketPath(/** @type {string} */ file, /** @type {number} */ number) {
  ownBirth ??= processAt(process.pid)?.born ?? 0;
  return `${file}.turn.${number}.${process.pid}.${ownBirth}`;
}

/** The tickets of living processes; removes the others. @returns {Ticket[]} */
function ticketsOf(/** @type {string} */ file) {
  const start = `${basename(file)}.turn.`;
  return readdirSync(dirname(file)).flatMap((name) => {
    const [, number, pid, born] =
      /^(\d+)\.(\d+)\.(\d+(?:\.\d+)?)$/.exec(
        name.startsWith(start) ? name.slice(start.length) : '',
      ) ?? [];
    if (born === undefined) return [];
    const ticket = { path: join(dirname(file), name), number: +number, pid: +pid };
    const owner = { pid: +pid, born: +born };
    if (isAlive(owner)) return [{ ...ticket, ...owner }];
    rmSync(ticket.path, { force: true });
    return [];
  });
}

/** @param {string} file @param {Ticket} before @param {number} waitMs */
const busy = (file, { pid }, waitMs) =>
  Object.assign(
    new Error(
      `Process ${pid} has been changing ${file} for ${waitMs / 1_000} s. End it, or wait until it exits`,
    ),
    { code: 'EBUSY' },
  );
