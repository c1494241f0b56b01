/**
 * One process at a time changes a file, and a process that is killed keeps no other from it: Lamport's bakery. Each process
 * that waits has a file of its own, whose name holds the number that it drew and the process itself; the lowest number is
 * first. What a killed process has left is known by that name, so that removing it never ends the turn of another.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive, processAt } from '../observe/processes.js';

const WAIT_MS = 5_000;
const POLL_MS = 2;
const DRAWING = 0; // no number is known yet

/**
 * @typedef {object} Ticket
 * @property {string} path
 * @property {number} number
 * @property {number} pid
 * @property {number} born
 */

/**
 * Waits for this process's turn to change a file.
 * @param {string} file  in a folder that exists
 * @param {number} [waitMs]  at the most
 * @returns {() => void}  ends the turn
 * @throws {Error}  with the code EBUSY, when a living process keeps its turn for longer
 */
export function lockFile(file, waitMs = WAIT_MS) {
  const drawing = ticketPath(file, DRAWING);
  /** @type {string | undefined} */
  let mine;
  const leave = () => [drawing, mine].forEach((path) => path && rmSync(path, { force: true }));
  try {
    writeFileSync(drawing, '');
    const number = 1 + Math.max(0, ...ticketsOf(file).map((ticket) => ticket.number));
    mine = ticketPath(file, number);
    writeFileSync(mine, '');
    rmSync(drawing);
    waitUntilFirst(file, mine, waitMs);
    return leave;
  } catch (error) {
    leave();
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

/**
 * The listing of a folder is no snapshot: nobody may be drawing in a first one before the numbers in a second one count.
 * @returns {Ticket | undefined}
 */
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

/** The tickets of processes that are alive; those of others are removed. @returns {Ticket[]} */
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

const busy = (
  /** @type {string} */ file,
  /** @type {Ticket} */ { pid },
  /** @type {number} */ waitMs,
) =>
  Object.assign(
    new Error(
      `Process ${pid} has been changing ${file} for ${waitMs / 1_000} s. End it, or wait until it ends`,
    ),
    { code: 'EBUSY' },
  );
