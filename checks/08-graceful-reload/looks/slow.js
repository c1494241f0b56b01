/** Lesson 8: a version that boots slowly, and old workers that leave slowly: a reload waits for both. */
import { eventsOf, forksOf, haveTurned, nowMs, requestsOf } from '../../../lib/check/checking.js';
import { slowUpload } from './limit.js';
import { DEADLINE_MS, HASTE, HELD_TURNS, WORKERS, isHeard, renew, waitFor } from './reload.js';

const SLOWER_BOOT_MS = 1_000; // with timers that come early twenty seconds, and its start beside
const HEARD_WITHIN_MS = 1_000;

/**
 * A version that boots slowly, and timers that come early: half a minute takes a second and a half. How long the first
 * new one had, until it listened or ended, is told as the program's timers see it. The old ones are busy, and go on being so for long
 * after the first new one listens: does the next one wait for that, and are they left alone?
 */
export async function reloadSlowVersion({ program, deploy }) {
  const clients = await Promise.all(Array.from({ length: WORKERS }, () => slowUpload(program)));
  await program.until((events) => requestsOf(events, '/upload').length >= WORKERS, DEADLINE_MS / 2);
  deploy({ version: '2', bootMs: SLOWER_BOOT_MS });
  const roll = await renew(program, () => orderAndHold(program, { deploy, clients }));
  const { events } = program;
  const [forked] = forksOf(events.slice(roll.first));
  const isOver = ({ what, workerPid }) =>
    workerPid === forked?.workerPid && (what === 'worker-listening' || what === 'worker-exit');
  const overMs = events.find(isOver)?.t ?? nowMs();
  const bootMs = forked && (overMs - forked.t) * HASTE;
  const cut = clients.filter(({ wasCut }) => wasCut).length;
  return { ...roll, bootMs, cut, output: program.output() };
}

/** The order; and the old workers are held up until the first new one has listened for long. The next ones boot quickly. */
async function orderAndHold(program, { deploy, clients }) {
  const first = program.events.length;
  const news = () => program.events.slice(first);
  program.kill(program.pid, 'SIGHUP');
  if (await isHeard(program, first))
    await waitFor(program, () => eventsOf(news(), 'worker-listening').length > 0);
  const up = eventsOf(news(), 'worker-listening')[0];
  deploy({ version: '2' });
  const isLong = (events) => haveTurned(events, [program.pid], HELD_TURNS, up.t);
  const isNext = () => forksOf(news()).length > 1;
  if (up) await program.until((events) => isNext() || isLong(events), DEADLINE_MS);
  const isCut = () => clients.some(({ seen }) => seen.closedMs > 0);
  if (isNext()) await program.until(isCut, HEARD_WITHIN_MS); // an old one has ended: its client hears of it, too
  for (const client of clients) client.wasCut = client.seen.closedMs > 0;
  await Promise.all(clients.map((client) => client.finish()));
}
