/** Lesson 9: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  exitsOf,
  howItEnded,
  momentOf,
  primaryExitMoment,
  sumOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { PLACES } from './looks.js';

const [EARLY_MS, LATE_MS] = [800, 2_000]; // bounds for giving up after a second

const whyOfPrimary = ({ events, pid }) =>
  describeCrash(events.filter((event) => event.pid === pid));

const endShown = (program) => ({ program, moments: [primaryExitMoment(program)] });
const crashShown = (program, crash = eventsOf(program.events, 'crash')[0]) => ({
  program,
  moments: [momentOf(crash, 'throws')],
});

/** If a process threw, that is the reason. */
const demandServed = (program, isSo, /** @type {any} */ { why, ...story }) => {
  const crash = describeCrash(program.events);
  const all = crash?.includes('EADDRINUSE')
    ? `${crash}. The port was open already: which process opened it before?`
    : crash;
  demandInTime(isSo, { ...story, why: all ?? why });
};

const wordsOf = ({ status, error, body } = /** @type {any} */ ({})) =>
  error ?? `${status} ${String(body).slice(0, 80)}`;
const quoted = (count) => (count === undefined ? 'nothing' : JSON.stringify(count));
const inSeconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

export function demandTogether({ program, times, adds, told, unknown }, owner) {
  const [unheard] = adds.filter(({ count }) => count === undefined);
  demandServed(program, !unheard, {
    expected: 'Each client gets a 200 with { count }.',
    got: `A client asked for several seconds and got none. The last answer: ${wordsOf(unheard?.answer)}.`,
    why:
      owner === 'Redis'
        ? 'No count comes out of Redis: is the client connected, to the address in REDIS_URL?'
        : undefined,
    try:
      owner === 'Redis'
        ? 'look at how the store is connected, and at what its script gets'
        : "curl -X POST 'localhost:8080/count/pears?id=1'",
    shows: crashShown(program),
  });
  demandInTime(told.size > 0 && unknown.size > 0, {
    expected: 'The workers answer GET /count/pears, and GET /count/quinces.',
    got: 'None did for several seconds.',
    try: 'curl localhost:8080/count/quinces',
  });
  demandInTime(told.size > 1, {
    expected: 'Several workers execute the requests.',
    got: `Process ${[...told.keys()].join(', ')} executes all of them.`,
    why: 'One process counts exactly, but uses one core. The lesson is about many.',
    try: 'leave server.js as it was: the workers serve, the owner only counts',
  });
  const answers = adds.map(({ count }) => count);
  const all = [...unknown.values(), ...told.values(), ...answers];
  const [odd] = all.filter((count) => !Number.isInteger(count)).map(quoted);
  demand(!odd, {
    expected: 'Every answer has a whole number in "count", 0 for a name that was never counted.',
    got: `One has ${odd}.`,
    why: 'The check reads the answer as a client would: JSON, { name, count, pid }. Text, "7", isn\'t a number, nor is null.',
    try: 'let add() and read() promise the count, a number',
  });
  demandNoneLost({ times, told: [...told.values()] }, owner);
}

function demandNoneLost({ times, told }, owner) {
  const [low, high] = [Math.min(...told), Math.max(...told)];
  demand(low === times && high === times, {
    expected: `${times} increments by clients at once: then every worker reports ${times}.`,
    got: `The workers report ${told.join(' and ')}.`,
    why:
      low < high || sumOf(told) === times
        ? 'They do not all ask the same owner: each worker has its own count, in itself or in the primary.'
        : 'Several workers read the same number, added one, and wrote the same number back.',
    try: `let only ${owner} count, and send it "add one", not the new value`,
  });
}

/** @param {any} together @param {any} atOnce  questions about different names, so that an answer to the wrong one shows */
export function demandOwnCounts({ times, adds }, { questions }) {
  const doubles = adds.length - new Set(adds.map(({ count }) => count)).size;
  const isMixed = questions.some(
    ({ count, expected }) => count !== undefined && count !== expected,
  );
  demand(doubles === 0, {
    expected: `${times} increments by clients at once: the answers are 1 to ${times}, each once.`,
    got: `All were counted, but ${doubles} clients got the same count as another client.`,
    why: isMixed
      ? 'One answer went to several questions: a message that only says "7" does not say which question it answers.'
      : 'The count was read after others had added theirs.',
    try: isMixed
      ? 'look at how an answer finds its question'
      : 'look at what an answer carries: the count that this very increment made?',
  });
}

/** Each name has a different count, so an answer to the wrong question shows. */
export function demandMatched({ questions }) {
  const [unheard] = questions.filter(({ count }) => count === undefined);
  const wrong = questions.filter(
    ({ count, expected }) => count !== undefined && count !== expected,
  );
  const [one] = wrong;
  demand(!one, {
    expected: `${one?.name} has been counted ${one?.expected - 1} times: its next answer is ${one?.expected}.`,
    got: `It is ${one?.count}. The same happened to ${wrong.length} of ${questions.length} questions that were asked at once.`,
    why: 'A worker has several questions in flight over one channel. A message that only says "7" does not say which question it answers.',
    try: 'look at how an answer finds its question',
  });
  demandInTime(!unheard, {
    expected: `${questions.length} questions at once: each gets its answer.`,
    got: `The question about ${unheard?.name} got no answer within a second.`,
    why: 'Its answer was lost, or went to another question.',
    try: 'look at the numbers of the questions: are two ever the same?',
  });
}

const IS_TEXT = 'There is text. Redis keeps text: INCR returns a number, GET returns text.';

export function demandRepeated({ twins }, repeated, owner) {
  const [unheard] = [...twins, ...repeated].filter(({ count }) => count === undefined);
  demandInTime(!unheard, {
    expected: 'A client that sends an id once more is answered.',
    got: `It asked for several seconds and got no answer: ${wordsOf(unheard?.answer)}.`,
    try: 'give the answer that the id got the first time',
  });
  const isForgotten = repeated.some(({ count, first }) => Number(count) > Number(first)); // one after the other
  demand(
    twins.every(({ count }) => count === 1),
    {
      expected: `${twins.length} clients send the same id at the same time: it counts once, and each is answered 1.`,
      got: `They were answered ${twins.map(({ count }) => quoted(count)).join(', ')}.`,
      why: twins.some(({ count }) => typeof count === 'string')
        ? IS_TEXT
        : isForgotten
          ? 'The id is not remembered, or nothing looks it up: it is counted again whenever it comes.'
          : 'Each found the id unknown, because none had remembered it yet: something came between the question and the increment.',
      try: `look the id up, count, and remember the id in one step, in ${owner}`,
    },
  );
  const [other] = repeated.filter(({ count, first }) => count !== first);
  demand(!other, {
    expected: `The id ${other?.id} was answered ${other?.first}. It comes again, and gets the same answer.`,
    got: `Now the answer is ${quoted(other?.count)}.`,
    why:
      typeof other?.count === 'string'
        ? IS_TEXT
        : 'The client asks again because its answer was lost. It needs that answer, not the count of now.',
    try:
      typeof other?.count === 'string'
        ? 'look at the type of what the script answers'
        : 'remember the answer with the id, and give that answer again',
  });
}

/** A worker was killed with questions in flight, and all clients have retried with the same ids. */
export function demandExact({ program, sent, retried, told, fate }, owner) {
  const scene = `While ${owner} is frozen a worker is killed with its questions in flight, then ${owner} resumes`;
  const crash = whyOfPrimary(program);
  demand(!fate, {
    expected: `${scene}: everything else lives on.`,
    got: `The whole server ended (${howItEnded(fate ?? {})}).`,
    why: /EPIPE|ERR_IPC/.test(crash ?? '')
      ? `${crash}. It had an answer for a worker that has exited: without a callback that error ends the primary.`
      : (crash ?? 'An answer for the dead worker could not be sent.'),
    try: 'look at what becomes of the error when an answer is sent to a worker that is gone',
    shows: endShown(program),
  });
  const [unheard] = retried.filter(({ count }) => count === undefined);
  demandServed(program, !unheard, {
    expected: `${scene}: clients that ask again are answered by another worker.`,
    got: `One asked for several seconds and got no answer: ${wordsOf(unheard?.answer)}.`,
    try: 'answer each question once, whatever else has died',
  });
  demandServed(program, told.size > 0, {
    expected: `${scene}: the workers report the count.`,
    got: 'None did for several seconds.',
    try: 'curl localhost:8080/count/figs',
  });
  const counts = [...told.values()];
  const isMore = Math.max(...counts) > sent;
  demand(
    counts.every((count) => count === sent),
    {
      expected: `${scene}: ${sent} ids were acknowledged in the end, so the count is ${sent}.`,
      got: `The workers report ${counts.join(' and ')}. ${retried.length} clients had lost their answer and asked again.`,
      why: isMore
        ? 'What the dead worker had asked for was done, and its answer was lost. When the id came again it was done again.'
        : 'An id was remembered as done and never counted, or something cleared the counts.',
      try: isMore
        ? 'remember the ids where the count is, in the same step'
        : 'count and remember the id in one step: one message, one script; and clear nothing at the start',
    },
  );
}

/** While the owner was frozen, clients got a 503 in time, and late answers were dropped. */
export function demandSilence({ program, silent, later, crashes }, owner) {
  demandUnavailable(silent, `${owner} is silent`);
  const [early] = owner === 'Redis' ? [] : silent.filter(({ waitedMs }) => waitedMs < EARLY_MS); // a client of Redis may give up sooner
  demand(!early, {
    expected: `While ${owner} is silent a client gets a 503 after a second, and no sooner.`,
    got: `One got it after ${inSeconds(early?.waitedMs)}.`,
    why: "A moment's pause becomes an error for every client.",
    try: 'look at what waits for an answer: for how long?',
  });
  demand(crashes.length === 0, {
    expected: `${owner} resumes and answers its questions. Answers to questions that were given up are dropped.`,
    got: `${crashes.length} of the workers threw and exited.`,
    why: describeCrash(crashes),
    try: 'look at an answer that comes too late: what is there for its number?',
    shows: crashShown(program, crashes[0]),
  });
  const [wrong] = later.filter(({ count }) => ![0, undefined].includes(count));
  demand(!wrong, {
    expected: `A question is given up, and the same worker is asked about a name that was never counted: the answer is 0.`,
    got: `It is ${quoted(wrong?.count)}, the answer to the question that had been given up.`,
    why: 'Answers are matched by their order, so one abandoned answer shifts all that follow.',
    try: 'look at what is left of a question that was given up',
  });
  demandServed(program, owner === 'Redis' || later.some(({ count }) => count === 0), {
    expected: `When ${owner} resumes, the questions that still wait are answered.`,
    got: 'None was.',
    try: 'give up a question, but not the channel',
  });
}

/** Answers while the owner is unavailable. */
function demandUnavailable(silent, when) {
  const expected = `While ${when} a client gets a 503 after a second.`;
  const hasWaited = ({ answer }) => /^(no answer|only a part)/.test(answer.error ?? '');
  const [wrong] = silent.filter((one) => one.answer.status !== 503 && !hasWaited(one));
  demand(!wrong, {
    expected,
    got: `A client that ${wrong?.isRead ? 'reads' : 'adds'} got this: ${wordsOf(wrong?.answer)}.`,
    why: wrong?.answer.error
      ? 'A broken connection tells its client nothing. "Not now" is an answer.'
      : 'Only the owner knows the count. Say "not now", and the client will ask again.',
    try: 'look at what add() and read() do when no answer comes',
  });
  const late = silent.filter((one) => hasWaited(one) || one.waitedMs > LATE_MS);
  const [slow] = late;
  demandInTime(!slow, {
    expected,
    got: `${late.length} of ${silent.length} clients still waited after ${inSeconds(slow?.waitedMs)}; one of them ${slow?.isRead ? 'reads' : 'adds'}.`,
    why: 'Each client that waits keeps a connection, and memory, in the worker.',
    try: 'look at what waits for an answer: for how long?',
  });
}

/** Adds a hint if the sticky server's port isn't open. @returns {never} */
export function rethrowWithHint(error) {
  if (/listening on any port/.test(error.story?.got))
    error.story.why =
      'With --state sticky the primary opens it when all places are filled: has each worker said that it is ready, and does that fill its place?';
  throw error;
}

/** Each client stays on one worker, and every worker has clients. */
export function demandSticky({ program, rounds, used }) {
  const [lost] = rounds.flat().filter(({ pid }) => pid === undefined);
  demandServed(program, !lost, {
    expected: 'Every client is served.',
    got: `The client ${lost?.client} was not: ${wordsOf(lost?.answer)}.`,
    why: 'Its connection was hung up, or dealt and never served: placeOf() gave no place from 0 to size - 1, or the worker did not take the socket.',
    try: 'look at when a worker says that it is ready, and what it does with a socket',
    shows: crashShown(program),
  });
  const clients = rounds[0].map(({ client }, index) => [
    client,
    ...rounds.map((visits) => visits[index].pid),
  ]);
  const movers = clients.filter(([, first, second]) => first !== second);
  demand(movers.length === 0, {
    expected: `${clients.length} clients come twice, and each gets the same worker both times.`,
    got: `${movers.length} got two different ones; ${movers[0]?.[0]} was one.`,
    why: 'What a worker knows about a client is in its memory, and nowhere else. With another worker the client starts over.',
    try: 'compute the place from the address alone: not in turn, not at random, not with the port',
  });
  demandInTime(used.size >= PLACES, {
    expected: `${clients.length} clients, and each of ${PLACES} workers serves some.`,
    got: used.size === 1 ? 'One worker has them all.' : `${used.size} workers have them all.`,
    why: "The addresses begin alike. A hash that leaves out their last part has few values. Or a worker said 'ready', and nothing put it in its place.",
    try: 'look at how an address becomes a place: are all places used?',
  });
}

/** The clients of the killed worker got another one, and no other client has moved. */
export function demandOthersStay({ program, homes, victim, visits, fate }) {
  demand(!fate, {
    expected: 'A worker dies, a new one takes its place, and the others live on.',
    got: `The whole server ended (${howItEnded(fate ?? {})}).`,
    why: whyOfPrimary(program) ?? 'The death of one worker is no reason to end the others.',
    try: 'look at what happens to a place when its worker exits, and when it is filled again',
    shows: endShown(program),
  });
  const others = visits.filter(({ client }) => homes.get(client) !== victim);
  const movers = others.filter(({ client, pid }) => pid !== undefined && pid !== homes.get(client));
  demand(movers.length === 0, {
    expected: `A worker dies: the ${others.length} clients of the other workers stay where they are.`,
    got: `${movers.length} of them had to move, and what their worker knew about them is lost, although it lives.`,
    why: 'A remainder by the number of living workers changes when one of them dies, and with it most places.',
    try: 'look at the number that the place is computed with: does it change when a worker dies?',
  });
  const [lost] = visits.filter(({ pid }) => pid === undefined);
  const whose = homes.get(lost?.client) === victim ? 'of the dead worker' : 'of another worker';
  const isSilent = /^no answer/.test(lost?.answer.error ?? '');
  (isSilent ? demandInTime : demand)(!lost, {
    expected: 'A worker dies: all clients are served, its own by another worker.',
    got: `A client ${whose} was not served: ${wordsOf(lost?.answer)}.`,
    why: whyOfPrimary(program) ?? 'Its place is empty, and no other worker stands in.',
    try: 'leave deal() as it was, and keep the places of all living workers filled',
  });
}

export function demandStarted({ program, listens, silent }) {
  demandNoExit(program);
  demandInTime(listens, {
    expected: 'The server starts without Redis: it listens, and answers 503.',
    got: 'It runs, but it is not listening on PORT.',
    why: 'connect() finishes only when Redis is up. If you await it first, nothing listens until then.',
    try: 'look at what the start waits for',
  });
  demandUnavailable(silent, 'Redis is down');
}

function demandNoExit(program) {
  const { fate, events } = program;
  const [exit] = exitsOf(events).filter(({ signal }) => signal !== 'SIGKILL'); // the check itself killed one
  demand(!fate && !exit, {
    expected: 'Redis is down, and every process lives on.',
    got: fate ? 'The primary exited.' : `A worker exited (${howItEnded(exit ?? {})}).`,
    why: [
      describeCrash(events),
      "An 'error' event without a listener, or a rejection that is not caught, ends the process.",
    ]
      .filter(Boolean)
      .join('. '),
    try: 'look at which events of the client you listen to',
    shows: crashShown(program),
  });
}

export function demandAway({ program, silent, back, doneLater }) {
  demandNoExit(program);
  demandUnavailable(silent, 'Redis is down');
  demandInTime(back.count !== undefined, {
    expected: 'Redis is back on its port: soon the same workers count again.',
    got: `Seconds later still: ${wordsOf(back.answer)}.`,
    why: 'The client does not try to connect again; or it relies on what was stored in the old Redis, such as a script that was loaded into it.',
    try: 'look at how the client connects again, and whether Redis still knows the script then',
  });
  const done = Math.max(0, ...doneLater.values());
  demand(done === 0, {
    expected:
      'Increments are answered 503 while Redis is down. When it is back they have not been done.',
    got: `No client asked for them again, but their count is ${done}.`,
    why: 'They were kept in a queue and sent when there was a connection again, for clients that are long gone.',
    try: 'look at what the client does with a command while it has no connection',
  });
}
