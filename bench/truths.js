/**
 * Compares the last sentence of each demo with the messages from which the slide draws it. Pure: a truth returns
 * a description of the false part, or nothing.
 *
 * @typedef {object} Seen  of one run
 * @property {string} sentence  the last one
 * @property {any[]} events  in order
 * @property {{ path: string, t: number, doneMs?: number, client?: number, status?: number, error?: string }[]} asked  by the client
 * @property {Record<string, any>} measured  by name: the last of each
 */
import { eventsOf, exitsOf, forksOf, groupBy, requestsOf } from '../lib/observe/timeline.js';

const CLOSE_MS = 12; // between the client's figure and the sentence's
const CLOSE = 0.15; // of a rate

/** @param {any[]} messages  as lib/deck/perform-demo.js sends them @returns {Seen} */
export function seenIn(messages) {
  const answered = new Map(messages.flatMap(({ answered: one }) => (one ? [[one.id, one]] : [])));
  const asked = messages.flatMap(({ asked: one }) => {
    if (!one) return [];
    const { t: doneMs, ...answer } = answered.get(one.id) ?? {};
    return [{ ...one, ...answer, doneMs }];
  });
  const measured = messages.flatMap(({ measurement: one }) => (one ? [[one.name, one]] : []));
  return {
    sentence: messages.findLast(({ say }) => say)?.say ?? '',
    events: messages.flatMap(({ events = [] }) => events).sort((a, b) => a.t - b.t),
    asked,
    measured: Object.fromEntries(measured),
  };
}

const numbersIn = (/** @type {string} */ text) => (text.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
const isFine = (/** @type {any} */ { status, error }) => status < 300 && !error;
const differ = (/** @type {string} */ what, said, seen) =>
  String(said) === String(seen) ? undefined : `It says ${what} ${said}; seen: ${seen}.`;
const apart = (/** @type {string} */ what, said, seen) =>
  Math.abs(said - seen) <= CLOSE_MS
    ? undefined
    : `It says ${what} ${said} ms; seen: ${seen.toFixed(1)} ms.`;
const first = (/** @type {(string | undefined)[]} */ ...faults) => faults.find(Boolean);

/** The text after these words, up to the next full stop at the end of a sentence. */
const behind = (/** @type {string} */ sentence, /** @type {string} */ words) => {
  const [, rest = ''] = sentence.split(words);
  return rest.split(/\.(?:\s|$)/)[0];
};

/** "Answered: 3 of 4." or "Asked: 4.", and "Failed: 1." @param {Seen} seen */
function score({ sentence, asked }) {
  const fine = asked.filter(isFine).length;
  const [answered, all = answered] = numbersIn(
    behind(sentence, /Answered:/.test(sentence) ? 'Answered:' : 'Asked:'),
  );
  const [failed] = numbersIn(behind(sentence, 'Failed:'));
  return first(
    differ('of all', all, asked.length),
    differ('failed', failed, asked.length - fine),
    /Answered:/.test(sentence) ? differ('answered', answered, fine) : undefined,
  );
}

/** From the first request of some to the last answer. */
const spanOf = (asked) =>
  Math.max(...asked.map(({ doneMs }) => doneMs)) - Math.min(...asked.map(({ t }) => t));

/** Eight at once to one server, and to a cluster: two times, and which process answered. @type {Truth} */
function twoSpans({ sentence, asked, events }) {
  const half = asked.length / 2;
  const [one, many] = numbersIn(
    behind(sentence, 'Last answer:').replace(/node-\w+|one process/g, ''),
  );
  const clients = asked.slice(half).map(({ client }) => client);
  const served = requestsOf(events).filter(({ client }) =>
    clients.includes(/** @type {number} */ (client)),
  );
  const counts = [...groupBy(served, ({ pid }) => pid).values()].map(({ length }) => length);
  const primaries = new Set(forksOf(events).map(({ pid }) => pid));
  const said = numbersIn(behind(sentence, 'answered').split(';')[0]);
  return first(
    asked.every(isFine) ? undefined : 'Not all were answered.',
    apart('of one', one, spanOf(asked.slice(0, half))),
    apart('of the cluster', many, spanOf(asked.slice(half))),
    differ('by worker', said.sort(), counts.sort()),
    served.some(({ pid }) => primaries.has(pid)) ? 'The primary answered as well.' : undefined,
  );
}

/** Rates, and how they compare: both servers were loaded at the same time, so their counts compare as the rates do. @type {Truth} */
function ratio({ sentence, events, measured }) {
  const [from, to, times] = numbersIn(sentence);
  const primaries = new Set(forksOf(events).map(({ pid }) => pid));
  const workers = new Set(forksOf(events).map(({ workerPid }) => workerPid));
  const loaded = eventsOf(events, 'response');
  const many = loaded.filter(({ pid }) => workers.has(pid)).length;
  const one = loaded.filter(({ pid }) => !workers.has(pid) && !primaries.has(pid)).length;
  const { ceiling = 4 } = measured.ratio ?? {};
  return first(
    Math.abs(to / from / times - 1) > 0.05
      ? `${from} to ${to} is not ${times} times as fast.`
      : undefined,
    times > ceiling * 1.02
      ? `${times} times as fast is more than the ceiling of ${ceiling}.`
      : undefined,
    Math.abs(many / one / times - 1) > CLOSE
      ? `It says ${times} times; the four served ${many}, the one ${one}.`
      : undefined,
  );
}

/** How many connections each worker got, and how. @type {Truth} */
function shares({ sentence, events }) {
  const byPrimary = [...groupBy(forksOf(events), ({ pid }) => pid).values()];
  const seen = byPrimary.map((forks) => {
    const connections = forks.map(({ workerPid }) =>
      eventsOf(events, 'connection').filter(({ pid }) => pid === workerPid),
    );
    const handed = connections.flat().filter(({ how }) => how === 'handed').length;
    return [...connections.map(({ length }) => length), handed, connections.flat().length];
  });
  return differ('of both', numbersIn(sentence), seen.flat());
}

/** The latency of each, from when it was sent. @type {(paths: string[], sentence: (text: string) => number[]) => Truth} */
const took =
  (paths, saidIn) =>
  ({ sentence, asked }) => {
    const said = saidIn(sentence);
    const seen = asked
      .filter(({ path }) => paths.includes(path))
      .map(({ t, doneMs = NaN }) => doneMs - t);
    return first(
      differ('number of times', said.length, seen.length),
      ...said.map((ms, index) => apart(`of ${index + 1}`, ms, seen[index])),
    );
  };

/** @typedef {(seen: Seen) => string | undefined} Truth */

/** By the demo's name. @type {Record<string, Truth>} */
export const truths = {
  'first-look': took(['/', '/health', '/report'], (text) =>
    [...text.matchAll(/took (\d+) ms/g)].map(([, ms]) => Number(ms)),
  ),
  'blocked-loop': took(['/health'], (text) =>
    [...text.matchAll(/: (\d+) ms/g)].map(([, ms]) => Number(ms)),
  ),
  'eight-at-once': twoSpans,
  'two-builds': twoSpans,
  'one-against-four': ratio,
  'rr-against-none': shares,
  'pause-or-read': ({ sentence, asked, events }) => {
    const half = asked.length / 2;
    const fine = [asked.slice(0, half), asked.slice(half)].map(
      (some) => some.filter(isFine).length,
    );
    const dealt = eventsOf(events, 'connection').filter(({ how }) => how === 'dealt').length;
    const [one, other] = numbersIn(behind(sentence, 'The children got'));
    return first(
      differ('answered', numbersIn(behind(sentence, 'Answered:')), fine),
      differ('dealt', one + other, dealt),
    );
  },
  'nobody-replaces': score,
  'kill-one': (seen) => {
    const [death] = exitsOf(seen.events);
    const birth = eventsOf(seen.events, 'listening').find(
      ({ t, pid }) => t > death.t && pid !== death.pid,
    );
    const [gapMs] = numbersIn(behind(seen.sentence, 'The gap:'));
    return first(score(seen), apart('the gap', gapMs, (birth?.t ?? NaN) - death.t));
  },
  'who-waits': ({ sentence, asked }) => {
    const reports = asked.filter(({ path }) => path === '/report');
    const said = numbersIn(behind(sentence, 'Answered before the report:'));
    const seen = reports.flatMap((report, index) => {
      const untilMs = reports[index + 1]?.t ?? Infinity;
      const mine = asked.filter(({ path, t }) => path === '/' && t > report.t && t < untilMs);
      return [
        mine.filter(({ doneMs = Infinity }) => doneMs < Number(report.doneMs)).length,
        mine.length,
      ];
    });
    return differ('early', said, seen);
  },
  'drown-or-keep-up': ({ sentence, events }) => {
    const forks = forksOf(events).length;
    return first(
      differ('workers', 3, forks),
      /Sent to each: \d+\. Waiting when the last was sent: \d+ and \d+\./.test(sentence)
        ? undefined
        : 'It says something else.',
    );
  },
  'roll-by-kill': rolled,
  roll: rolled,
  'two-counts': ({ sentence, asked }) =>
    first(
      differ(
        'sent',
        2 * numbersIn(sentence)[0],
        asked.filter(({ path }) => path.startsWith('/count/')).length - 8,
      ),
      asked.every(isFine) ? undefined : 'Not all were answered.',
      numbersIn(behind(sentence, 'own memory')).every((told) => told <= numbersIn(sentence)[0])
        ? undefined
        : 'It names more than were sent.',
    ),
  'kill-a-machine': score,
  'blows-by-vote': (seen) => {
    const taken = seen.asked.filter((one) => one.path === '/orders' && isFine(one)).length;
    const said = numbersIn(behind(seen.sentence, 'Orders acknowledged:'));
    return first(score(seen), differ('orders', said, [taken, taken]));
  },
  'blocked-or-waiting': ({ sentence, asked }) => {
    const held = asked.filter(({ path }) => path !== '/');
    const seen = held.map((one, index) => {
      const untilMs = held[index + 1]?.t ?? Infinity;
      const mine = asked.filter(({ path, t }) => path === '/' && t > one.t && t < untilMs);
      return mine.filter(({ doneMs = 0 }) => doneMs > Number(one.doneMs)).length;
    });
    const said = [...sentence.matchAll(/(?:blocked|waited): (\d+) of/g)].map(([, late]) =>
      Number(late),
    );
    return differ('late', said, seen);
  },
};

/** @type {Truth} */
function rolled(seen) {
  const [forks] = numbersIn(behind(seen.sentence, 'New workers:'));
  const listening = eventsOf(seen.events, 'worker-listening').length;
  const old = exitsOf(seen.events).length;
  return first(
    score(seen),
    differ('new workers', forks, forksOf(seen.events).length - 3),
    listening > 0 && old < 3 ? `Only ${old} of the old have left.` : undefined,
  );
}
