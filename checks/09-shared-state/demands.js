/** What lesson 9 demands of what was seen, in the order of its promises. */
import { Undecided, demand, exitsOf, groupBy, whyOfCrash } from '../../lib/check/checking.js';
import { PLACES } from './looks/sticky.js';

const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine has other things to do.',
    try: 'npm run check lesson-9, when it has less to do',
  });

/** What the primary threw, if it ended by that. */
const whyOfPrimary = ({ events, pid }) => whyOfCrash(events.filter((event) => event.pid === pid));

/** Every increment once, each answer of its own, and the same for whoever asks. */
export function demandTogether(program, { times, adds, told, pids }, where) {
  const unheard = adds.filter(({ count }) => count === undefined);
  demand(unheard.length === 0, {
    expected: 'Each client gets a 200 with { count }.',
    got: `${unheard.length} of ${times} increments got none. The last answer: ${wordsOf(unheard[0]?.last)}.`,
    why: whyOfPrimary(program) ?? whyOfCrash(program.events),
    try: "curl -X POST 'localhost:8080/count/pears?id=1'",
  });
  demand(pids.size > 1, {
    expected: 'The workers execute the requests.',
    got: `Process ${[...pids].join(', ')} executed all of them.`,
    why: 'One process counts exactly, and uses one core. The lesson is about many.',
    try: 'leave server.js as it was: the workers serve, the owner only counts',
  });
  const first = adds.filter(({ tries }) => tries === 1).map(({ count }) => count);
  const seen = new Set(first);
  const doubles = first.length - seen.size;
  const [low, high] = [Math.min(...told), Math.max(...told)];
  const [got, why, repair] = firstTrue([
    [
      ![...told, ...first].every(Number.isInteger),
      `Not every answer has a whole number in "count". One of them: ${wordsOf(adds[0]?.last)}.`,
      'The check reads the answer as a client would: JSON, { name, count, pid }.',
      'leave app.js as it was; add() and read() promise the count, a number',
    ],
    [
      low < times || high > times,
      `Of ${times} increments the workers tell ${low === high ? low : `${low} to ${high}`}.`,
      low < high
        ? `Not all ask the same: each worker has a count of its own, or a copy that is old.`
        : 'Each worker has a count of its own; or several read the same number, added one, and wrote the same back.',
      low < high
        ? `${where} counts, nobody else`
        : `${where} counts, and is sent "add one", not the new value`,
    ],
    [
      doubles > 0,
      `All were counted, but ${doubles} clients were told a count that another had got as well.`,
      'The answer of one question was given to several, or the count was read when others had added theirs.',
      'number the questions, and answer with the number and the count that this very increment made',
    ],
  ]);
  demand(!got, {
    expected: `${times} increments: the answers are 1 to ${times}, each once, and every worker tells ${times}.`,
    got,
    why,
    try: repair,
  });
}

const firstTrue = (faults) => (faults.find(([isSo]) => isSo) ?? []).slice(1);

const wordsOf = ({ status, error, body } = /** @type {any} */ ({})) =>
  error ?? `${status} ${String(body).slice(0, 80)}`;

/** Names counted so often that the answer of one is wrong for every other. */
export function demandMatched(questions) {
  const told = questions.filter(({ count }) => count !== undefined);
  if (told.length === 0) throw busy('Nobody was answered within a second.');
  const wrong = told.filter(({ count, expected }) => count !== expected);
  demand(wrong.length === 0, {
    expected: `${wrong[0]?.name} has been counted ${wrong[0]?.expected - 1} times: its next answer is ${wrong[0]?.expected}.`,
    got: `It was told ${wrong[0]?.count}. So it went with ${wrong.length} of ${told.length} questions that came at once.`,
    why: 'A worker has several questions under way, over one channel. A message that says only "7" does not say to whom.',
    try: 'send a number with each question, and in each answer; a Map leads from the number to who waits',
  });
}

/** After a death, and after all have asked again with the same ids; `told` by everybody. */
export function demandExact(program, { sent, lost, unheard, highest, told, fate }, scene) {
  const crash = whyOfPrimary(program);
  demand(!fate, {
    expected: `${scene}: one worker dies, and everything else goes on.`,
    got: `The whole server ended (${fate?.signal ?? `exit code ${fate?.code}`}).`,
    why:
      crash ??
      'The answer for the dead could not be sent. Nobody listened for that error, and so it ended the primary.',
    try: 'worker.send(answer, () => {}): with a callback the error is told there, and ends nobody',
  });
  demand(unheard.length === 0, {
    expected: `${scene}: whoever asks again, with the same id, is answered by another worker.`,
    got: `${unheard.length} of ${sent} clients got no answer any more: ${wordsOf(unheard[0]?.last)}.`,
    why: crash,
    try: 'keep to one answer for each question, whoever else has died',
  });
  const [low, high] = [Math.min(...told), Math.max(...told, highest)];
  const isMore = high > sent;
  demand(high !== sent || low === high, {
    expected: `${scene}: all have been acknowledged, and every worker tells the count, ${sent}.`,
    got: `Clients were told up to ${high}, and then a worker tells ${low}.`,
    why: 'It answers from a copy of its own, which is old. That of a new worker begins with nothing.',
    try: "let read() ask for the count as add() does: ask('read', name)",
  });
  demand(low === sent && high === sent, {
    expected: `${scene}: ${sent} increments with ${sent} ids, and all were acknowledged in the end. The count is ${sent}.`,
    got: `It is ${isMore ? high : low}. ${lost} clients had lost their answer and asked again.`,
    why: isMore
      ? 'What the dead worker had asked for was done; only the answer was lost. Asked for again it was done again.'
      : 'An increment was remembered as done, or acknowledged, and was not counted.',
    try: isMore
      ? 'remember the ids that are counted, where the count is; one that comes again changes nothing'
      : 'remember the id and add one in a single step: one message, one script, one transaction',
  });
}

/** The owner was silent: a 503 in time, late answers for nobody, and exact in the end. */
export function demandSilence(program, { early, late, unheard, expected, count, fate }, owner) {
  demandUnavailable(early, `${owner} is silent`);
  const told = late.filter((one) => one.count !== undefined);
  if (told.length === 0 && !fate) throw busy('No later question was answered within a second.');
  const wrong = told.filter((one) => one.count !== one.expected);
  demand(wrong.length === 0, {
    expected: `A question that was given up is forgotten: its answer, when it comes after all, is for nobody. ${wrong[0]?.name} is at ${wrong[0]?.expected}.`,
    got: `${wrong[0]?.name} was told ${wrong[0]?.count}, the answer of a question that had been given up.`,
    why: 'Answers are taken in the order of the questions, and one that nobody waits for shifts all that follow.',
    try: 'find who waits by the number of the question; delete it there when it is given up',
  });
  demand(!fate && unheard.length === 0 && count === expected, {
    expected: `When ${owner} goes on and all have asked again, the count is ${expected}.`,
    got: fate ? 'The whole server ended.' : `It is ${count}, ${unheard.length} got no answer.`,
    why:
      whyOfPrimary(program) ??
      'A 503 means "I do not know": the increment may have been done. The id tells whether it was.',
    try: 'remember the ids that are counted, where the count is',
  });
}

/** Answers while the owner cannot be asked: 503, and soon. */
function demandUnavailable(answers, when) {
  const wrong = answers.filter(({ status }) => status !== 503);
  const hung = wrong.filter(({ status }) => status === undefined);
  if (wrong.length > 0 && wrong.every((one) => hung.includes(one) && !one.isPatient))
    throw busy(`${wordsOf(wrong[0])}, but the worker had no time to give up, either.`);
  const [other] = wrong.filter((one) => !hung.includes(one));
  demand(wrong.length === 0, {
    expected: `While ${when} a client gets a 503 after a second.`,
    got: `${wrong.length} of ${answers.length} clients: ${wordsOf(other ?? wrong[0])}.`,
    why: other
      ? 'Nobody but the owner knows the count. Any other answer is made up.'
      : 'Whoever waits for ever keeps the client, a connection and memory. "Not now" is an answer.',
    try: "within(1_000, question, '... does not answer'); the route makes a 503 of what is thrown",
  });
}

/** Every client is served, and no worker is left out. */
export function demandSpread({ program, rounds, isFull, isCrowded }) {
  const visits = rounds.flat();
  const lost = visits.filter(({ status, pid }) => status !== 200 || pid === undefined);
  demand(lost.length === 0, {
    expected: 'Every visit is answered.',
    got: `${lost.length} of ${visits.length} were not; ${lost[0]?.client} was one.`,
    why:
      whyOfCrash(program.events) ??
      'A connection that is dealt and not served has a client that waits.',
    try: "net.createServer({ pauseOnConnect: true }, ...) in the primary, server.emit('connection', socket) in the worker",
  });
  const used = new Set(visits.map(({ pid }) => pid));
  if (used.size < PLACES && !isFull && isCrowded)
    throw busy(
      `${PLACES - used.size} of the workers had served nobody yet, and may still be coming up.`,
    );
  demand(used.size >= PLACES, {
    expected: `${rounds[0].length} clients, and each of ${PLACES} workers serves some.`,
    got: `${used.size === 1 ? 'One worker has' : `${used.size} workers have`} them all.`,
    why: isFull
      ? 'A hash that uses too little of the address has few values: all begin with 127.0.0.'
      : "A hash that uses too little of the address has few values. Or a worker says 'ready', and nobody puts it in its place.",
    try: "createHash('sha256').update(address).digest().readUInt32BE() % size",
  });
}

/** Each client on one worker. */
export function demandSticky({ rounds }) {
  const visits = groupBy(rounds.flat(), ({ client }) => client);
  const movers = [...visits].filter(([, its]) => new Set(its.map(({ pid }) => pid)).size > 1);
  const [mover, its = []] = movers[0] ?? [];
  demand(movers.length === 0, {
    expected: `Each of ${visits.size} clients comes ${rounds.length} times, and meets the same worker each time.`,
    got: `${movers.length} met different ones; ${mover} met ${its.map(({ pid }) => pid).join(', ')}.`,
    why: 'What a worker knows of a client is in its memory, and nowhere else. In another it begins anew.',
    try: 'let the place be a function of the address: hash(socket.remoteAddress) % size; no turns, no chance',
  });
  const [forgetful] = [...visits].filter(([, told]) =>
    told.some((one, index) => one.visits !== index + 1),
  );
  demand(!forgetful, {
    expected: 'GET /visits tells a client how often it has come: 1, then 2.',
    got: `${forgetful?.[0]} was told ${forgetful?.[1].map((one) => one.visits).join(', ')}.`,
    try: 'leave app.js as it was',
  });
}

const toldBySend =
  "send('connection', socket, (error) => ...): if there is an error, empty the place and deal again";

/** The primary ended by the error of a message to the dead. */
const isUnheard = (program) =>
  /ERR_IPC_CHANNEL_CLOSED|EPIPE|ECONNRESET/.test(whyOfPrimary(program) ?? '');

/** After the death of one worker. */
export function demandOthersStay({ program, homes, victim, visits, hung, wasAwake, fate }) {
  const isHis = ({ client }) => homes.get(client) === victim;
  const lost = visits.filter(({ status }) => status !== 200);
  demand(!fate && lost.length === 0, {
    expected: 'A worker dies: its clients are served by another one.',
    got: fate
      ? `The whole server ended (${fate.signal ?? `exit code ${fate.code}`}).`
      : `${lost.length} visits were not answered, ${lost.filter(isHis).length} of them by clients of the dead.`,
    why:
      whyOfPrimary(program) ??
      (fate
        ? 'The death of one worker is no reason to end the others.'
        : 'The place of these clients is empty, and nobody stands in until a new worker is ready.'),
    try: isUnheard(program)
      ? toldBySend
      : 'take the place of the client, or while that is empty the next one that is not',
  });
  const movers = visits.filter((one) => !isHis(one) && one.pid !== homes.get(one.client));
  const clients = new Set(movers.map(({ client }) => client));
  const others = [...homes.values()].filter((pid) => pid !== victim).length;
  demand(clients.size === 0, {
    expected: `A worker dies: the ${others} clients of the other workers stay where they are.`,
    got: `${clients.size} of them had to move, and what their worker knew of them is lost, though it lives.`,
    why: 'hash % (number of the living) changes when one of them dies, and with it most places.',
    try: 'hash % size, where size never changes; an empty place is passed on to the next, and only that',
  });
  const waited = `Clients that waited for five seconds in vain, and came again: ${hung.length}.`;
  if (hung.length > 0 && !wasAwake) throw busy(waited);
  demand(hung.length === 0, {
    expected: 'A worker dies: whoever comes before the primary knows is dealt to another one.',
    got: waited,
    why: 'A connection was sent to the dead. That send() failed, and nobody did anything about it.',
    try: toldBySend,
  });
}

/** In Redis, through a death and a restart. */
export function demandStore({ program, together }, { death, kept }) {
  demandTogether(program, together, 'Redis');
  demandExact(program, death, 'Redis stands still and a worker dies');
  const expected = [together.times, death.sent];
  demand(
    kept.every((count, index) => count === expected[index]),
    {
      expected: `After a restart of the whole cluster the counts are ${expected.join(' and ')}, as before.`,
      got: `They are ${kept.join(' and ')}.`,
      why: 'Redis holds the counts; a cluster that comes up has nothing to set, and nothing to clear.',
      try: 'let INCR make the count: of a name that was never counted it makes 1',
    },
  );
}

/** Redis silent, away, and back. */
export function demandRecovery(/** @type {any} */ { silence, absent, program, away, back }) {
  const isWaiting = /listens on no port/.test(absent?.got);
  demand(!absent, {
    ...absent,
    expected: 'The server starts without Redis, too: it listens, and answers 503.',
    ...(isWaiting && {
      why: 'connect() ends only when Redis is there. Where it is awaited first, nothing listens until then.',
      try: "client.connect() without await; it goes on trying, and client.on('error', ...) hears how",
    }),
  });
  const { fate, events } = program;
  const ends = exitsOf(events);
  demand(!fate && ends.length === 0, {
    expected: 'Redis is away: every process lives on.',
    got: fate
      ? 'The primary ended.'
      : `${ends.length} workers ended, the first with ${ends[0]?.signal ?? `exit code ${ends[0]?.code}`}.`,
    why:
      whyOfCrash(events) ??
      "An 'error' event that nobody listens for, or a rejected promise that nobody catches, ends the process.",
    try: "client.on('error', ({ message }) => console.error(message))",
  });
  demandUnavailable(away, 'Redis is away');
  const lost = back.filter(({ count }) => count === undefined);
  demand(lost.length === 0, {
    expected: 'Redis is back on its port: soon the same workers count again.',
    got: `Many seconds later still: ${wordsOf(lost[0]?.last)}.`,
    why: 'A client that has given up does not try again by itself.',
    try: 'socket: { reconnectStrategy: 200 }, which tries every 200 ms, for ever',
  });
  demandSilence(program, silence, 'Redis');
}
