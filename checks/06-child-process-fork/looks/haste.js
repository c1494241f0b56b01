/** What a pool does when much time has passed, with nothing to do or with reports that wait: its timers and its clock are early. */
import { hasPid, haveTurned, requestsOf } from '../../../lib/check/checking.js';
import {
  CHILDREN,
  LEAST_ROWS,
  PATIENCE_MS,
  aliveOf,
  ask,
  askAtOnce,
  childrenOf,
  isRight,
  whileStopped,
} from './jobs.js';

const HASTE = 1_000; // times
const FROM_MS = 100;
const MOST_MS = 200; // a child has started by then: a limit for what it builds does not end each
const REST_TURNS = 14; // of an event loop, 20 ms each: by then all timers have fired, and what comes of it is heard
export const SOON_EVERYWHERE = {
  pretendTimers: /** @type {const} */ ([FROM_MS, Infinity, HASTE, FROM_MS, MOST_MS]),
  pretendClock: HASTE,
};
const ROWS = [8_000, 40_000, 8_000, 8_000, 40_000]; // enough for both children to be started, and not too many for a time limit
const NAMES = ['warm-1', 'warm-2'];
const ASKED = 8; // reports at once, more than there are children

/**
 * First a rest, when two reports have been built. Then the children stand still, and more reports come than there are
 * children. A pool may have a time limit for what a child is building, and end that child: one report fails each time.
 * @returns {Promise<any>}  ended: the children that have ended although no report had failed; refused: so many
 *   reports were; started: so many children ever were; isUnclear: nothing was refused, and never were there all children
 */
export async function askInHaste(program) {
  const answers = [];
  const ended = () => (program.fate ? [] : childrenOf(program).filter((pid) => !hasPid(pid)));
  const tell = (gone) => {
    const refused = answers.filter(({ status = 0 }) => status >= 400).length;
    const started = childrenOf(program).length;
    return { program, ended: gone, refused, started };
  };
  const isClean = () => answers.every(isRight);
  answers.push(...(await askAtOnce(program, NAMES, ROWS[0])));
  if (isClean()) {
    const before = program.events.length;
    const all = [program.pid, ...aliveOf(program)];
    const haveRested = (events) => haveTurned(events.slice(before), all, REST_TURNS);
    await program.until((events) => ended().length > 0 || haveRested(events), PATIENCE_MS);
    if (ended().length > 0) return tell(ended());
  }
  const isWarm = await warmUp(program, answers);
  if (isWarm) await askWhileFrozen(program, answers);
  return { ...tell([]), isUnclear: isClean() && !isWarm };
}

/** Asks until there are all children, and they have built a report each in time. */
async function warmUp(program, answers) {
  for (const rows of ROWS) {
    const latest = await askAtOnce(program, NAMES, rows);
    answers.push(...latest);
    if (latest.every(isRight) && aliveOf(program).length === CHILDREN) return true;
    if (latest.some(({ error }) => error)) return false;
  }
  return false;
}

async function askWhileFrozen(program, answers) {
  const before = program.events.length;
  const answered = answers.length + ASKED;
  await whileStopped(program, aliveOf(program), async () => {
    for (let index = 0; index < ASKED; index += 1)
      ask(program, { name: `frozen-${index}`, rows: LEAST_ROWS }).then((one) => answers.push(one));
    const haveWaited = (events) => {
      const reports = requestsOf(events.slice(before), '/report');
      const { startMs = Infinity } = reports[ASKED - 1] ?? {};
      return haveTurned(events.slice(before), [program.pid], REST_TURNS, startMs);
    };
    await program.until(haveWaited, PATIENCE_MS);
  });
  await program.until(() => answers.length >= answered, PATIENCE_MS); // one may be refused when its turn comes
}
