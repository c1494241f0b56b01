/**
 * The stretch of a timeline that an X-ray shows, and the messages for that X-ray. Pure.
 *
 * @typedef {{ pid: number, t: number, toMs?: number, says: string }} Moment
 */
const SHORTEST_MS = 20;
const AT_FIRST_MS = 600; // the least that is shown of a short run
const MARGIN_MS = 100; // before and after the moments that decided, at least
const MARGIN = 0.25; // of the time from the first moment to the last
const ROUND = 6; // the stretch begins at a round time: a multiple of the power of ten below a sixth of its length
const TRAFFIC = new Set(['connection', 'request', 'response']);

/**
 * Begins with the moments, or with the whole run if there are none.
 * @param {{ t: number }[]} events  in order @param {Moment[]} moments
 */
export function createStretch(events, moments) {
  const zeroMs = Math.min(...events.map(({ t }) => t), Infinity);
  const endMs = Math.max(zeroMs + AT_FIRST_MS, ...events.map(({ t }) => t));
  const firstMs = Math.min(...moments.map(({ t }) => t));
  const lastMs = Math.max(...moments.map(({ t, toMs: until = t }) => until));
  const margin = Math.max(MARGIN_MS, MARGIN * (lastMs - firstMs));
  const limitMs = Math.max(endMs, moments.length > 0 ? lastMs + margin : 0); // leaves room after the last moment
  const at = (fromMs, toMs) => {
    const length = Math.min(Math.max(SHORTEST_MS, toMs - fromMs), limitMs - zeroMs);
    const start = Math.min(Math.max(zeroMs, (fromMs + toMs - length) / 2), limitMs - length);
    const step = 10 ** Math.floor(Math.log10(length / ROUND));
    const round = zeroMs + Math.floor((start - zeroMs) / step) * step;
    const centre = start + length / 2;
    return {
      ...{ zeroMs, endMs, fromMs: round, toMs: start + length },
      whole: () => at(zeroMs, endMs),
      moment,
      earlier: () => at(start - length / 2, start + length / 2),
      later: () => at(start + length / 2, start + length * 1.5),
      closer: () => at(centre - length / 4, centre + length / 4),
      wider: () => at(centre - length, centre + length),
    };
  };
  const moment = () => at(firstMs - margin, lastMs + margin);
  return Number.isFinite(zeroMs) && moments.length > 0 ? moment() : at(zeroMs, endMs);
}

/**
 * The messages for an X-ray of a stretch: the processes alive in it, and its traffic.
 * @param {{ events: any[], silences: { pid: number, sinceMs: number, untilMs?: number }[],
 *   startups?: { pid: number, untilMs?: number }[] }} evidence
 * @param {{ fromMs: number, toMs: number }} stretch @returns {object[]}
 */
export function messagesWithin({ events, silences, startups = [] }, { fromMs, toMs }) {
  const diedMs = new Map(events.flatMap(deathIn));
  const isPast = ({ pid }) => (diedMs.get(pid) ?? Infinity) < fromMs;
  const whole = doneBefore(events, fromMs);
  const shown = events.filter(
    (event) =>
      event.t <= toMs && !isPast(event) && !whole.has(event) && !isOldConnection(event, fromMs),
  );
  const turns = silences.filter((one) => one.sinceMs < toMs && (one.untilMs ?? toMs) > fromMs);
  return [
    { origin: fromMs },
    { events: shown },
    ...startups
      .filter(({ pid }) => shown.some((one) => one.pid === pid))
      .map((startup) => ({ startup })),
    ...turns.flatMap(({ pid, sinceMs, untilMs }) => [
      { silent: { pid, sinceMs } },
      ...(untilMs === undefined || untilMs > toMs ? [] : [{ turns: { pid, t: untilMs } }]),
    ]),
  ];
}

/** @returns {[number, number][]} */
const deathIn = ({ what, pid, workerPid, t }) =>
  what === 'exit' ? [[pid, t]] : what === 'worker-exit' ? [[workerPid, t]] : [];

const isOldConnection = ({ what, t }, fromMs) => what === 'connection' && t < fromMs;

/** The requests answered before `fromMs`, and their responses. */
function doneBefore(events, fromMs) {
  const open = new Map();
  const done = new Set();
  for (const event of events) {
    if (!TRAFFIC.has(event.what)) continue;
    const key = `${event.pid} ${event.client}`;
    if (event.what === 'request') open.set(key, [...(open.get(key) ?? []), event]);
    if (event.what !== 'response') continue;
    const request = open.get(key)?.shift();
    if (event.t < fromMs) done.add(request).add(event);
  }
  return done;
}
