/** What lesson 9 demands of what was seen, in the order of its promises. */
import {
  NOT_LISTENING,
  Undecided,
  demand,
  eventsOf,
  exitsOf,
  groupBy,
  momentOf,
  requestsOf,
  whyOfCrash,
} from '../../lib/check/checking.js';
import { HASTE } from './looks/counter.js';
import { ODD_PLACES, PLACES } from './looks/sticky.js';
import { SOONER } from './looks/store.js';

const LATE_MS = 1_500; // for a question that should be given up after a second
const LATE_TURNS = 20; // of the event loop, 20 ms or more each, since that second was over
const EARLY_MS = 800;
const ANSWERED_TURNS = 15; // of an event loop, 20 ms or more each: by then what was asked has been answered

const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine is busy.',
    try: 'npm run check lesson-9, when it is less busy',
  });

/** What the primary threw, if it ended by that. */
const whyOfPrimary = ({ events, pid }) => whyOfCrash(events.filter((event) => event.pid === pid));

const MARKED = 6; // moments of a kind
const LONG = 40; // characters

const crashShown = (program) => ({
  program,
  moments: [momentOf(eventsOf(program.events, 'crash')[0], 'throws')],
});
const endShown = (program) => ({
  program,
  moments: eventsOf(program.events, 'exit')
    .filter(({ pid }) => pid === program.pid)
    .map((end) => momentOf(end, 'the primary ends')),
});
const requestsShown = (program, pids) => ({
  program,
  moments: requestsOf(program.events)
    .filter(({ pid }) => pids.has(pid))
    .slice(0, MARKED)
    .map((one) => momentOf(one, 'a request')),
});

/** Every increment once, each with its own answer, and the same for everybody who asks. */
export function demandTogether(program, { times, adds, told, unknown, pids, still }, where) {
  const unheard = adds.filter(({ count }) => count === undefined);
  const [nonsense] = adds.filter((one) => !Number.isInteger(one.count));
  demand(unheard.length === 0, {
    expected: 'Each client gets a 200 with { count }.',
    got: `${unheard.length} of ${adds.length} increments got none. The last answer: ${wordsOf(unheard[0]?.last)}.`,
    why: whyOfPrimary(program) ?? whyOfCrash(program.events),
    try: "curl -X POST 'localhost:8080/count/pears?id=1'",
    shows: crashShown(program),
  });
  demand(pids.size > 1, {
    expected: 'The workers execute the requests.',
    got: `Process ${[...pids].join(', ')} executed all of them.`,
    why: 'One process counts exactly, but uses one core. The lesson is about many.',
    try: 'leave server.js as it was: the workers serve, the owner only counts',
    shows: requestsShown(program, pids),
  });
  const first = adds.filter(({ tries }) => tries === 1).map(({ count }) => count);
  const seen = new Set(first);
  const doubles = first.length - seen.size;
  const [low, high] = [Math.min(...told), Math.max(...told)];
  const [got, why, repair] = firstTrue([
    [
      ![...told, ...first].every(Number.isInteger),
      nonsense
        ? `Not every answer has a whole number in "count". One of them: ${wordsOf(nonsense.last)}.`
        : 'Not every answer to GET /count/pears has a whole number in "count".',
      'The check reads the answer as a client would: JSON, { name, count, pid }. Text, "7", isn\'t a number.',
      'leave app.js as it was; add() and read() promise the count, a number',
    ],
    [
      low < times || high > times,
      `Of ${times} increments the workers report ${low === high ? low : `${low} to ${high}`}.`,
      low < high
        ? `They don't all ask the same owner: each worker has its own count, or an old copy.`
        : 'Each worker has its own count; or several read the same number, added one, and wrote the same back.',
      low < high
        ? `${where} counts, nobody else`
        : `${where} counts, and is sent "add one", not the new value`,
    ],
    [
      doubles > 0,
      `All were counted, but ${doubles} clients were told a count that another one got too.`,
      "One question's answer was given to several, or the count was read after others had added theirs.",
      'number the questions, and answer with the number and the count that this very increment made',
    ],
  ]);
  demand(!got, {
    expected: `${times} increments: the answers are 1 to ${times}, each once, and every worker reports ${times}.`,
    got,
    why,
    try: repair,
  });
  demandUnknown(program, unknown);
  if (still) demandOneOwner(still, where);
}

/** Increments that came while the owner stood still: nobody else can have counted them. */
function demandOneOwner({ counts, count }, where) {
  const isOnce = new Set(counts).size === counts.length && counts.every((one) => one <= count);
  demand(isOnce && count === counts.length, {
    expected: `The primary stands still for a moment, and ${counts.length} clients count: then the answers are 1 to ${counts.length}, each once, and the count is ${counts.length}.`,
    got: `The answers were ${counts.join(', ')}; the count is ${count}.`,
    why: 'Several counted from the same number: from a copy of their own, or from one that they had read before.',
    try: `${where} counts, and is sent "add one", not the new value`,
  });
}

/** A name that nobody has counted, and then somebody. */
function demandUnknown(program, { name, count, isCrowded, anew, hasEnded, ...answer }) {
  const own = name in {} && storyOfOwn(name);
  if (count === undefined && isCrowded) throw busy(`GET /count/${name}: ${wordsOf(answer)}.`);
  demand(count === 0, {
    expected: `GET /count/${name}, a name that nobody has counted: status 200, and "count" is 0.`,
    got: `${wordsOf(answer)}.`,
    why: 'Nothing was counted, and that is an answer. What is 0, or null in a store, is easily taken for none.',
    try: '(await ...) ?? 0 where there may be nothing; and to see whether an answer has come look at its number, not at the count',
    ...own,
  });
  demand(!hasEnded, {
    expected:
      'Clients count with names that nobody has used before: nobody, constructor and __proto__.',
    got: 'The server ended.',
    ...storyOfOwn('constructor'),
    ...(whyOfPrimary(program) && { why: whyOfPrimary(program) }),
  });
  if (anew.includes(undefined)) throw busy('Nobody could be asked for a count.');
  demand(
    anew.every((one) => one === 1),
    {
      expected: `All have read ${name}, a count of 0, then somebody has added one: now each is told 1.`,
      got: `They are told ${anew.join(', ')}.`,
      why: 'A worker has cached what it read, or something between you and the count has. It may be stale the moment it is told.',
      try: "read() asks each time, as add() does: ask('read', name)",
      ...own,
    },
  );
}

const storyOfOwn = (text) => ({
  why: `Clients choose names and ids, and ${text} is one like any other. But a plain object has its own ${text} from the start.`,
  try: 'a Map: new Map(), get(), set() and has()',
});

const firstTrue = (faults) => (faults.find(([isSo]) => isSo) ?? []).slice(1);

const wordsOf = ({ status, error, body } = /** @type {any} */ ({})) =>
  error ?? `${status} ${String(body).slice(0, 80)}`;

/** Names counted so often that one's answer is wrong for every other. */
export function demandMatched(questions) {
  const told = questions.filter(({ count }) => count !== undefined);
  if (told.length === 0) {
    demandPatience(questions, 'the primary is silent for a moment');
    throw busy('Nobody was answered within a second.');
  }
  const wrong = told.filter(({ count, expected }) => count !== expected);
  demand(wrong.length === 0, {
    expected: wrong[0]?.isRead
      ? `Nobody has counted ${wrong[0].name}: it is told as ${wrong[0].expected}.`
      : `${wrong[0]?.name} has been counted ${wrong[0]?.expected - 1} times: its next answer is ${wrong[0]?.expected}.`,
    got: `It got ${wrong[0]?.count}. The same happened to ${wrong.length} of ${told.length} questions that came at once.`,
    why: 'A worker has several questions under way, over one channel. A message that only says "7" does not say who it is for.',
    try: 'send a number with each question, and in each answer; a Map leads from the number to the one who waits',
  });
  demandNoneForgotten(questions);
}

/** The primary went on in time, and nothing was in the way of its answers: then each question has got one. */
function demandNoneForgotten(questions) {
  const isDue = ({ turnsSince, ownerTurns }) => Math.min(turnsSince, ownerTurns) >= ANSWERED_TURNS;
  const forgotten = questions.filter((one) => one.count === undefined && isDue(one));
  const [one] = forgotten;
  demand(!one, {
    expected: `${questions.length} questions at once, some of them for the same name, and the primary answers: each gets its answer.`,
    got: `${forgotten.length} got none; the event loops of the primary and of the worker have turned ${ANSWERED_TURNS} times meanwhile. One of them, for ${one?.name}: ${wordsOf(one)}.`,
    why: 'Two questions were taken for one: the later took the place of the earlier, which was never answered.',
    try: 'lastNumber += 1 for each question: several clients may ask for the same name, or with the same id, at the same time',
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
      'The answer for the dead worker could not be sent. Nothing listened for that error, so it ended the primary.',
    try: 'worker.send(answer, () => {}): with a callback the error goes there, and ends nothing',
    shows: endShown(program),
  });
  demand(unheard.length === 0, {
    expected: `${scene}: clients that ask again, with the same id, are answered by another worker.`,
    got: `${unheard.length} of ${sent} clients no longer got an answer: ${wordsOf(unheard[0]?.last)}.`,
    why: crash,
    try: 'keep to one answer for each question, no matter what else has died',
  });
  const [low, high] = [Math.min(...told), Math.max(...told, highest)];
  const isMore = high > sent;
  demand(high !== sent || low === high, {
    expected: `${scene}: all have been acknowledged, and every worker reports the count, ${sent}.`,
    got: `Clients were told up to ${high}, and then a worker reports ${low}.`,
    why: "It answers from its own copy, which is out of date. A new worker's copy starts empty.",
    try: "let read() ask for the count as add() does: ask('read', name)",
  });
  demand(low === sent && high === sent, {
    expected: `${scene}: ${sent} increments with ${sent} ids, and all were acknowledged in the end. The count is ${sent}.`,
    got: `It is ${isMore ? high : low}. ${lost} clients had lost their answer and asked again.`,
    why: isMore
      ? 'What the dead worker had asked for was done; only the answer was lost. When asked for again, it was done again.'
      : 'An increment was remembered as done, or acknowledged, but not counted.',
    try: isMore
      ? 'remember the ids that are counted, where the count is; one that comes again changes nothing'
      : 'remember the id and add one in a single step: one message, one script, one transaction',
  });
}

/** Ids that came again, several times at once and later. */
export function demandRepeated(repeats, where) {
  const { namesakes, twins, twinsCount, left, own, alike, others } = repeats;
  demandNamesakes(namesakes, where);
  const [unheard] = twins.filter((one) => one.count === undefined);
  const [other] = twins.filter((one) => one.told !== 1);
  const isMore = twinsCount !== 1;
  const story = isMore
    ? {
        why: 'Each was told that the id is unknown before any had been remembered, so each was counted.',
        try: `look the id up, count and remember the id in a single step, in ${where}; nothing may come in between`,
      }
    : storyOf(other?.told, 1);
  demand(!other && !isMore, {
    expected: `${twins.length} clients send one increment, all with the same id and at the same time; one hangs up, and asks again: it counts once, and each is answered 1.`,
    got: unheard
      ? `One no longer got an answer: ${wordsOf(unheard.last)}.`
      : `They were answered ${twins.map((one) => quoted(one.told)).join(', ')}; the count is ${twinsCount}.`,
    ...(!unheard && story),
  });
  demandLeft(left);
  demandKept(repeats, `after ${others} others`);
  own.forEach(demandOwn);
  demandDistinct(alike);
  demandUnjoined(alike.joined);
}

/** A client that hung up while its question was on its way has asked again. */
function demandLeft({ count, told, total, last }) {
  demand(told === 1 && total === 1, {
    expected:
      'A client hangs up when its question is on its way, and asks again with the same id: it counts once, and the answer is 1.',
    got:
      count === undefined
        ? `It got no answer: ${wordsOf(last)}.`
        : `The answer was ${quoted(told)}; the count is ${total}.`,
    why: 'Whether its client is still there changes nothing in what the owner does: it counts an id once, and remembers it.',
    try: 'leave the count and the id as they are when a client is gone',
  });
}

/** Texts that are nearly the same: each is an id, and a name, of its own. */
function demandDistinct({ ids, names }) {
  const [unheard] = [...ids, ...names].filter(({ count }) => count === undefined);
  const silent = unheard && `${spelt(unheard.name)} got no answer: ${wordsOf(unheard.last)}.`;
  const story = {
    why: 'Clients choose them, and any text may come. Folded, trimmed, cut, or read as a number, two of them become one.',
    try: 'take each text as it comes, and all of it',
  };
  const firstWith = (/** @type {any} */ { told }) => ids.find((one) => one.told === told);
  const [twin] = ids.filter((one) => firstWith(one) !== one);
  demand(!silent && !twin && ids.every(({ told }) => told <= ids.length), {
    expected: `${ids.length} clients count, each with a new id, and some ids look alike: the answers are 1 to ${ids.length}, each once.`,
    got:
      silent ??
      (twin
        ? `${spelt(firstWith(twin).id)} and ${spelt(twin.id)} were both answered ${quoted(twin.told)}.`
        : `They were ${ids.map(({ told }) => quoted(told)).join(', ')}.`),
    ...(!silent && story),
  });
  const [other] = names.filter(({ told }) => told !== 1);
  demand(!other, {
    expected: `${names.length} clients count, each for a name that nobody has counted, and some names look alike: each is answered 1.`,
    got: `For ${spelt(other?.name)} the answer was ${quoted(other?.told)}.`,
    ...story,
  });
}

/** New ids of one name: each, joined with it by some sign, is the same text as another id with another name. */
function demandUnjoined(joined) {
  const [unheard] = joined.filter(({ count }) => count === undefined);
  const told = joined.map((one) => one.told);
  demand(
    joined.every((_, index) => told.includes(index + 1)),
    {
      expected: `${joined.length} clients count ${joined[0].name}, each with a new id, such as ${joined[0].id}: the answers are 1 to ${joined.length}, each once.`,
      got: unheard
        ? `For ${spelt(unheard.id)} there was no answer: ${wordsOf(unheard.last)}.`
        : `They were ${told.map(quoted).join(', ')}.`,
      ...(!unheard && {
        why: 'Name and id are joined into one text, such as join:ed:end-0. That is also the name join:ed with the id end-0, which has been counted: any text may come, and so may the sign between them.',
        try: 'answers.get(id): an id is never used for two names, so it is key enough',
      }),
    },
  );
}

/** A text in quotes; of a long one what can be told of it in a line. */
const spelt = (text = '') =>
  text.length > LONG
    ? `one of ${text.length} characters that ends in ${text.at(-1)}`
    : JSON.stringify(text);

/** An id that every object has as a property, twice: new the first time, and known the second. */
function demandOwn(answers) {
  const [{ id }] = answers;
  const unheard = answers.find((one) => one.count === undefined);
  demand(
    answers.every(({ told }) => told === 1),
    {
      expected: `A client counts with the new id ${id}, and once more with the same id: both answers are 1.`,
      got: unheard
        ? `One got no answer: ${wordsOf(unheard.last)}.`
        : `They were ${answers.map(({ told }) => quoted(told)).join(' and ')}.`,
      ...storyOfOwn(id),
    },
  );
}

/** An id that is spelt like a name, and a name that is spelt like an id: both are new. */
function demandNamesakes(namesakes, where) {
  const [other] = namesakes.filter(({ told }) => told !== 1);
  demand(!other, {
    expected: `Nobody has counted ${other?.name} so far. Now a client does, with the new id ${other?.id}; ${other?.like}. The answer is 1.`,
    got:
      other?.count === undefined
        ? `It got no answer: ${wordsOf(other?.last)}.`
        : `It was answered ${quoted(other.told)}.`,
    why: 'Counts and ids are kept in one place, under the same keys: what is kept for an id is taken for a count, or the other way round.',
    try:
      where === 'Redis'
        ? 'a different beginning for each kind: { keys: [`count:${name}`, `id:${id}`] }'
        : 'one Map for the counts, and another for the ids',
  });
}

/** Ids that were acknowledged once and then come again. */
function demandKept({ repeated, times, count }, when) {
  const [unheard] = repeated.filter((one) => one.count === undefined);
  demand(!unheard, {
    expected: 'An id that comes again gets the same answer as the first time.',
    got: `${unheard?.id} no longer got an answer when it came again, ${when}: ${wordsOf(unheard?.last)}.`,
  });
  demand(count === times, {
    expected: `${repeated.length} ids that were acknowledged come again, ${when}. They change nothing: the count is ${times}, as before.`,
    got: `It is ${count}.`,
    why:
      count > times
        ? 'The ids were forgotten too soon: what had been done was done again.'
        : 'The count itself was forgotten, or set to what it had been before.',
    try:
      count > times
        ? 'remember each id for ten minutes, no matter how many others come meanwhile, or what ends'
        : 'let nothing but an increment change a count; a time to live is for ids only',
  });
  const [other] = repeated.filter((one) => one.told !== one.first);
  demand(!other, {
    expected: `An id that comes again, ${when}, gets the same answer as the first time: ${other?.id} was answered ${other?.first}.`,
    got: `Now it was answered ${quoted(other?.told)}; the count is ${count}.`,
    ...storyOf(other?.told, other?.first),
  });
}

/** Ids that came again when minutes had passed for the owner. */
export function demandAged(seen) {
  if (!seen) return; // it does not come up where time runs that fast
  const { aged } = seen;
  if (aged.length === 0) throw busy('No id could be asked for again before ten minutes were over.');
  const [other] = aged.filter(({ told, first }) => told !== first);
  const minutes = Math.floor((other?.agedMs ?? 0) / 60_000);
  demand(!other, {
    expected: `An id comes again after less than ten minutes, and gets the same answer as the first time: ${other?.id} was answered ${other?.first}.`,
    got: `When ${minutes} minutes had passed for the program, whose timers and Date.now() ran ${HASTE} times as fast, it was answered ${quoted(other?.told)}.`,
    why: 'The id was forgotten too soon, and the increment was done again.',
    try: 'setTimeout(() => answers.delete(id), 600_000).unref(); for each id: what empties the whole Map now and then forgets ids that have only just come',
  });
}

/** Why an id that comes again gets a different answer. */
function storyOf(told, first) {
  if (typeof told === 'string' && Number(told) === first)
    return {
      why: `${quoted(told)} is text, and ${first} a number. Redis keeps text: INCR returns a number, GET returns text.`,
      try: 'Number(...) around what the script answers, or tonumber(...) in it',
    };
  return {
    why: "That isn't the count that this increment made. A client that asks again wants the answer that was lost.",
    try: 'remember the answer with the id, and give that answer again',
  };
}

const quoted = (told) => (told === undefined ? 'nothing' : JSON.stringify(told));

/** The owner was silent: a 503 in time, late answers for nobody, and exact in the end. */
export function demandSilence(program, seen, owner) {
  const { early, late, unheard, expected, count, fate, crashes } = seen;
  const isRemembered = ({ first, count: again }) => first !== undefined && again === first; // by the worker, too
  demandUnavailable(
    early.filter((one) => !isRemembered(one)),
    `${owner} is silent`,
  );
  const hasHungUp = owner === 'Redis' && late.every(isHasty); // a client may take a silent Redis for one that is away
  demandPatience(hasHungUp ? early : [...early, ...late], `${owner} is silent`);
  demand(fate || crashes.length === 0, {
    expected: `${owner} goes on, and answers what it has heard. What was given up is answered to nobody.`,
    got: `${crashes.length} of its workers threw and ended.`,
    why: `${whyOfCrash(crashes)}. Its other clients lost their connections.`,
    try: 'an answer for which nobody waits any more is dropped: waiting.get(number)?.(value)',
    shows: { program, moments: [momentOf(crashes[0], 'throws')] },
  });
  const told = late.filter((one) => one.count !== undefined);
  if (told.length === 0 && !fate && !hasHungUp)
    throw busy('No later question was answered within a second.');
  const wrong = told.filter((one) => one.count !== one.expected);
  demand(wrong.length === 0, {
    expected: `A question that was given up is forgotten: if its answer comes after all, it goes to nobody. ${wrong[0]?.name} is at ${wrong[0]?.expected}.`,
    got: `${wrong[0]?.name} was told ${wrong[0]?.count}, the answer of a question that had been given up.`,
    why: 'Answers are matched in the order of the questions, and one that nobody waits for shifts all that follow.',
    try: 'look up who waits by the number of the question; delete it there when you give up',
  });
  demand(!fate && unheard.length === 0 && count === expected, {
    expected: `When ${owner} goes on and all have asked again, the count is ${expected}.`,
    got: fate ? 'The whole server ended.' : `It is ${count}, ${unheard.length} got no answer.`,
    why:
      whyOfPrimary(program) ??
      'A 503 means "I do not know": the increment may have been done. The id shows whether it was.',
    try: 'remember the ids that are counted, where the count is',
  });
}

/**
 * Answers while the owner cannot be asked: 503, and after a second. Its process shows whether a question was given up
 * too late: its event loop turned so often after the second that a timer would have fired.
 */
function demandUnavailable(answers, when) {
  const isSilent = ({ error }) => /^(no answer|only a part)/.test(error ?? '');
  const others = answers.filter((one) => one.status !== 503 && !isSilent(one));
  const slow = answers.filter((one) => isSilent(one) || one.waitedMs > LATE_MS);
  const late = slow.filter(({ turns }) => turns >= LATE_TURNS);
  if (others.length === 0 && slow.length > 0 && late.length === 0)
    throw busy(
      `${wordsOf(slow[0])}, after ${inSeconds(slow[0].waitedMs)}, but the worker had no time to give up sooner.`,
    );
  const [wrong] = [...others, ...late];
  const isSlow = others.length === 0 && late.some(({ status }) => status === 503);
  const isBroken = others.length > 0 && wrong.status === undefined;
  demand(!wrong, {
    expected: `While ${when} a client gets a 503 after a second.`,
    got: isSlow
      ? `${late.length} of ${answers.length} clients got it after ${inSeconds(wrong.waitedMs)}.`
      : `${others.length + late.length} of ${answers.length} clients: ${wordsOf(wrong)}.`,
    why: isBroken ? whyBroken : others.length > 0 ? whyMadeUp : isSlow ? whyLate : whyHung,
    try: "within(1_000, question, '... does not answer'); the route turns what is thrown into a 503",
  });
}

const whyMadeUp = 'Nobody but the owner knows the count. Any other answer is made up.';
const whyBroken = 'A broken connection tells its client nothing. "Not now" is an answer.';
const whyLate =
  'The limit is longer than a second. Each client that waits keeps a connection, and memory, in the worker.';
const whyHung =
  'Waiting for ever ties up the client, a connection and memory. "Not now" is an answer.';

/** No question is given up before the second is over, by the worker's own clock. */
function demandPatience(answers, when) {
  const hasty = answers.filter(isHasty);
  demand(hasty.length === 0, {
    expected: `While ${when} a client gets a 503 after a second, and no sooner.`,
    got: `${hasty.length} of ${answers.length} clients got it after ${inSeconds(hasty[0]?.waitedMs)}.`,
    why: "A client given up on so soon asks again, and a moment's pause becomes an error for everybody.",
    try: 'a limit of a second for each question: within(1_000, ...)',
  });
}

const isHasty = ({ status, waitedMs }) => status === 503 && waitedMs < EARLY_MS;
const inSeconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

/** Every client is served, and no worker is left out, however many there are. */
export function demandSpread(seen, odd, only) {
  demandAllPlaces(seen);
  for (const group of seen.alike) demandApart(group);
  if (only) demandAllPlaces(only);
  if (!odd) return;
  demandAllPlaces(odd);
  for (const group of odd.alike) demandApart(group, odd.places);
  if (odd.gone) demandGoneHarmless(odd);
}

/** Clients that are gone when they are accepted end nobody, and whoever comes next is served. */
function demandGoneHarmless({ program, gone }) {
  const { fate, exits, next, isCrowded } = gone;
  const expected =
    'Clients have hung up when the primary accepts them: all processes live on, and the next client is served.';
  const why =
    whyOfCrash(program.events) ??
    'A client that is gone has no address any more: socket.remoteAddress is undefined.';
  const repair = "socket.remoteAddress ?? 'gone': any place will do";
  demand(!fate && exits.length === 0, {
    expected,
    got: fate
      ? `The whole server ended (${fate.signal ?? `exit code ${fate.code}`}).`
      : `${exits.length} workers ended.`,
    why,
    try: repair,
    shows: crashShown(program),
  });
  if (next.status !== 200 && isCrowded) throw busy(`The next client: ${wordsOf(next)}.`);
  demand(next.status === 200, {
    expected,
    got: `It got no answer: ${wordsOf(next)}.`,
    why,
    try: repair,
  });
}

function demandAllPlaces(
  /** @type {any} */ { program, places, rounds, coming, wasAwake, isCrowded, ...seen },
) {
  const visits = rounds.flat();
  const lost = visits.filter(({ status, pid }) => status !== 200 || pid === undefined);
  if (!program.fate && lost.some(({ status }) => status !== 200) && !wasAwake)
    throw busy(`${lost.length} of ${visits.length} visits were not answered.`);
  if (isCrowded && lost.length > 0 && lost.every(({ status }) => status === 200))
    throw busy(`Who answered ${lost.length} of ${visits.length} visits was not seen.`);
  demand(lost.length === 0, {
    expected: 'Every visit is answered.',
    got: `${lost.length} of ${visits.length} were not; ${lost[0]?.client} was one.`,
    why:
      whyOfCrash(program.events) ??
      'A connection that is dealt but not served has a client that waits.',
    try: "net.createServer({ pauseOnConnect: true }, ...) in the primary, server.emit('connection', socket) in the worker",
  });
  const used = seen.used ?? new Set(visits.map(({ pid }) => pid));
  if (used.size < places && coming.length > 0 && isCrowded)
    throw busy(
      `${coming.length} of ${places} workers had served nobody and were still busy when the clients came: they may have been starting.`,
    );
  demand(used.size >= places, {
    expected: `${rounds[0].length} clients, and each of ${places} workers serves some.`,
    got: `${used.size === 1 ? 'One worker has' : `${used.size} workers have`} them all.`,
    why:
      whyOfCrash(program.events) ??
      (places === ODD_PLACES
        ? `With ${PLACES} workers each had some. A hash that has few values leaves a place out; hash & (size - 1) does unless size is a power of two.`
        : undefined) ??
      (coming.length === 0
        ? 'The others were ready, and waiting for clients. A hash that uses too little of the address has few values: all begin with 127.0.0.'
        : "A hash that uses too little of the address has few values. Or a worker says 'ready', and nothing puts it in its place."),
    try: "createHash('sha256').update(address).digest().readUInt32BE() % size",
  });
}

/** Addresses that differ in one part, and not in the last; with so many workers, where fewer have shared them. */
function demandApart(group, /** @type {number | undefined} */ places = undefined) {
  const { visits } = group;
  const [first, last] = [visits[0].client, visits.at(-1)?.client];
  demandEachServed(group, `${visits.length} clients, from ${first} to ${last}`);
  const served = visits.filter(({ pid }) => pid !== undefined);
  if (served.length < visits.length)
    throw busy(`Not every client from ${first} to ${last} was seen.`);
  demand(new Set(served.map(({ pid }) => pid)).size > 1, {
    expected: `${visits.length} clients, from ${first} to ${last}: more than one worker serves them.`,
    got: places ? `One of ${places} workers has them all.` : 'One worker has them all.',
    why: places
      ? `With ${PLACES} workers more than one had some. Modulo ${places} this hash loses the part that differs, as does one that multiplies by ${places}, or ${2 * places}, for each character.`
      : 'They differ in one part of the address, and the hash does not look there. Behind such a server whole networks share one worker.',
    try: "the whole address: createHash('sha256').update(address).digest().readUInt32BE() % size",
  });
}

/** Whatever its address, a client has a place. */
function demandEachServed({ program, visits, fate, wasAwake }, clients) {
  const lost = visits.filter(({ status }) => status !== 200);
  const [one] = lost;
  const got = fate
    ? `The whole server ended (${fate.signal ?? `exit code ${fate.code}`}).`
    : `${lost.length} are not; ${one?.client} is one (${wordsOf(one?.broken ?? one?.hung ?? one)}).`;
  if (!fate && lost.length > 0 && !wasAwake) throw busy(got);
  demand(lost.length === 0, {
    expected: `${clients}: each is served.`,
    got,
    why:
      whyOfPrimary(program) ??
      'Others are, so it is a matter of the address. A signed 32-bit hash is negative for half of all addresses, and so is hash % size: that is no place.',
    try: 'hash >>> 0 is never negative; nor is readUInt32BE()',
    shows: crashShown(program),
  });
}

/** Each client on one worker. */
export function demandSticky({ rounds, isCrowded }) {
  const visits = groupBy(rounds.flat(), ({ client }) => client);
  const movers = [...visits].filter(([, its]) => new Set(its.map(({ pid }) => pid)).size > 1);
  const before = new Set(rounds[0].map(({ pid }) => pid));
  const isLate = rounds.flat().some(({ pid }) => !before.has(pid));
  if (movers.length > 0 && isLate && isCrowded)
    throw busy('A worker came up only when the clients had been served by others.');
  const [mover, its = []] = movers[0] ?? [];
  demand(movers.length === 0, {
    expected: `Each of ${visits.size} clients comes ${rounds.length} times, and gets the same worker each time.`,
    got: `${movers.length} got different ones; ${mover} got ${its.map(({ pid }) => pid).join(', ')}.`,
    why: 'What a worker knows about a client is in its memory, and nowhere else. With another worker the client starts over.',
    try: 'compute the place from the address: hash(socket.remoteAddress) % size; not in turn, not at random',
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
export function demandOthersStay(seen) {
  const { program, homes, victim, visits, again, hung, broken, wasAwake, fate } = seen;
  const isHis = ({ client }) => homes.get(client) === victim;
  const lost = visits.filter(({ status }) => status !== 200);
  demand(!fate && lost.length === 0, {
    expected: 'A worker dies: its clients are served by another one.',
    got: fate
      ? `The whole server ended (${fate.signal ?? `exit code ${fate.code}`}).`
      : `${lost.length} visits were not answered, ${lost.filter(isHis).length} of them from the dead worker's clients.`,
    why:
      whyOfPrimary(program) ??
      (fate
        ? 'The death of one worker is no reason to end the others.'
        : 'The place of these clients is empty, and nothing stands in until a new worker is ready.'),
    try: isUnheard(program)
      ? toldBySend
      : "take the client's place, or while that is empty the next one that is not",
  });
  const movers = visits.filter((one) => !isHis(one) && one.pid !== homes.get(one.client));
  const clients = new Set(movers.map(({ client }) => client));
  const others = [...homes.values()].filter((pid) => pid !== victim).length;
  demand(clients.size === 0, {
    expected: `A worker dies: the ${others} clients of the other workers stay where they are.`,
    got: `${clients.size} of them had to move, and what their worker knew about them is lost, although it lives.`,
    why: 'hash % (number of the living) changes when one of them dies, and with it most places.',
    try: 'hash % size, where size never changes; an empty place is passed on to the next, and only that',
  });
  demandStandIn(again, wasAwake);
  demandOneStandIn(visits.slice(0, again.length), again);
  const waited = `Clients that waited five seconds for nothing, and came again: ${hung.length}.`;
  if (hung.length > 0 && !wasAwake) throw busy(waited);
  demand(hung.length === 0, {
    expected: 'A worker dies: clients that come before the primary knows are dealt to another one.',
    got: waited,
    why: 'A connection was sent to the dead worker. That send() failed, and nothing was done about it.',
    try: toldBySend,
  });
  demand(broken.length === 0, {
    expected: 'A worker dies: clients that come before the primary knows are dealt to another one.',
    got: `Clients that lost their connection (${broken[0]?.error}), and had to come again: ${broken.length}.`,
    why: 'They came when the worker was dead already: none was on its way to it. Its send() failed, and the primary still had the connection.',
    try: toldBySend,
  });
}

/** All workers but one have died at once: that one stands in for all. */
export function demandLastStandsIn(seen) {
  if (!seen) return;
  const { program, victims, visits, hung, broken, wasAwake, fate } = seen;
  const lost = visits.filter(({ status }) => status !== 200);
  const expected = `${victims.length} of ${victims.length + 1} workers die at once: the one that is left serves all clients.`;
  demand(!fate, {
    expected,
    got: `The whole server ended (${fate?.signal ?? `exit code ${fate?.code}`}).`,
    why: whyOfPrimary(program),
    try: toldBySend,
  });
  const vain = Math.max(lost.length, hung.length, broken.length);
  if (broken.length === 0 && vain > 0 && !wasAwake) throw busy(`${vain} clients were not served.`);
  demand(vain === 0, {
    expected,
    got: `${vain} of ${visits.length} clients were not served when they came${broken[0] ? ` (${broken[0].error})` : ''}.`,
    why: 'Their place was empty, and so was the next. Somebody stands in as long as any place is filled; and from a negative hash not every place is found.',
    try: 'go round until a place is filled: around.find((one) => places.has(one)); deal again after each failed send(); and hash >>> 0 is never negative',
  });
}

/** A place is empty until its new worker is ready, not only until that has been forked. */
function demandStandIn(visits, wasAwake) {
  const vain = visits.filter(({ status, hung }) => status !== 200 || hung);
  const got = `${vain.length} of ${visits.length} clients were not served when they came.`;
  if (vain.length > 0 && !wasAwake) throw busy(got);
  demand(vain.length === 0, {
    expected:
      'A worker dies, and its clients come while the new one has been forked, but is not ready: the next place that is filled stands in.',
    got,
    why: 'What is sent to a worker that has not loaded its files yet waits for it, or is lost. (The check made this one stand still.)',
    try: "the 'ready' of a worker fills its place: not fork(), and not 'online'",
  });
}

/** While the place is empty the same one stands in, at each visit. */
function demandOneStandIn(visits, again) {
  const isElsewhere = ({ pid, status }, index) =>
    status === 200 &&
    pid !== undefined &&
    visits[index].pid !== undefined &&
    pid !== visits[index].pid;
  const movers = again.filter(isElsewhere);
  demand(movers.length === 0, {
    expected:
      'A worker dies, and its clients come twice while its place is empty: each gets the same stand-in.',
    got: `${movers.length} of them got two different ones; ${movers[0]?.client} was one.`,
    why: 'What the first stand-in has remembered about the client is not known to the second.',
    try: 'the next filled place: around.find((one) => places.has(one)); not in turn, not at random',
  });
}

/** In Redis, through a death and a restart. */
export function demandStore(
  { program, first, clients, isCrowded, crossed, together },
  { death, repeats, kept, late, young, keptLater },
) {
  if (isCrowded) throw busy('No increment was counted in Redis as yet.');
  demand(first.count !== undefined, {
    expected: 'Redis is there, and a client gets a 200 with { count }.',
    got: `The first client asked ${first.tries} times and got none. The last answer: ${wordsOf(first.last)}.`,
    why:
      whyOfCrash(program.events) ??
      (clients > 0
        ? 'The workers are connected to Redis, but no count comes out of it.'
        : 'No worker has a connection to Redis, whose address is in REDIS_URL.'),
    try: clients > 0 ? undefined : 'createClient({ url, ... }), and then client.connect()',
  });
  demandNamesakes(crossed, 'Redis');
  demandTogether(program, together, 'Redis');
  demandExact(program, death, 'Redis stands still and a worker dies');
  demandRepeated(repeats, 'Redis');
  const expected = [together.times, death.sent];
  demand(
    kept.every((count, index) => count === expected[index]),
    {
      expected: `After a restart of the whole cluster the counts are ${expected.join(' and ')}, as before.`,
      got: `They are ${kept.join(' and ')}.`,
      why: 'Redis holds the counts; a cluster that starts has nothing to set, and nothing to clear.',
      try: 'let INCR make the count: for a name that was never counted it makes 1',
    },
  );
  demandKept(
    late,
    "after a restart of the whole cluster and nine minutes, which were taken off each key's time to live",
  );
  demandYoung(young);
  demand(
    keptLater.every((count, index) => count === expected[index]),
    {
      expected: `Ten years later the ids may be forgotten. The counts are ${expected.join(' and ')}, as before.`,
      got: `They are ${keptLater.join(' and ')}.`,
      why: "The count's key was given a time to live too ('EX', EXPIRE), and Redis has forgotten it.",
      try: "'EX' for the id only; the count is for ever",
    },
  );
}

/** An id of two minutes ago is known, even if others that came before it may be forgotten. */
function demandYoung({ id, told, first }) {
  if (first === undefined || told === undefined) throw busy(`${id} had no answer.`);
  demand(told === first, {
    expected: `Nine minutes after the others ${id} is answered ${first}. It comes again after two minutes more, which were taken off each key's time to live: the same answer.`,
    got: `Now it was answered ${quoted(told)}.`,
    why: 'It was forgotten together with the others. Each id has its own ten minutes, so each needs its own key.',
    try: "redis.call('SET', KEYS[2], count, 'EX', 600)",
  });
}

/** Redis was away when the cluster started. */
export function demandAway({ absent, program, away }) {
  demand(!absent, {
    ...absent,
    expected: 'The server starts without Redis, too: it listens, and answers 503.',
    ...(absent?.got === NOT_LISTENING && {
      why: 'connect() finishes only when Redis is there. If you await it first, nothing listens until then.',
      try: "client.connect() without await; it goes on trying, and client.on('error', ...) hears how",
    }),
  });
  demandAllLive(program);
  demandUnavailable(away, 'Redis is down');
}

function demandAllLive({ fate, events }) {
  const ends = exitsOf(events);
  demand(!fate && ends.length === 0, {
    expected: 'Redis is down: every process lives on.',
    got: fate
      ? 'The primary ended.'
      : `${ends.length} workers ended, the first with ${ends[0]?.signal ?? `exit code ${ends[0]?.code}`}.`,
    why:
      whyOfCrash(events) ??
      "An 'error' event that nobody listens for, or a rejected promise that nobody catches, ends the process.",
    try: "client.on('error', ({ message }) => console.error(message))",
  });
}

/** Redis came, was silent, away, and back. */
export function demandRecovery(seen) {
  if (!seen) return; // this is reported elsewhere
  const { silence, program, away, back } = seen;
  demandAllLive(program);
  demandUnavailable(away, 'Redis is down');
  const lost = back.filter(({ count }) => count === undefined);
  const isConnected = lost[0]?.clients > 0;
  demand(lost.length === 0, {
    expected: 'Redis is back on its port: soon the same workers count again.',
    got: `Many seconds later still: ${wordsOf(lost[0]?.last)}. (Pauses of less than a second were ${SOONER} times shorter meanwhile, so there was time for many attempts.)`,
    why: isConnected
      ? 'The worker is connected again, but is refused. A newly started Redis knows nothing of what the old one was told, not even the scripts that were loaded into it.'
      : 'Redis has no connection from the worker. A client that has given up does not try again on its own.',
    try: isConnected
      ? 'client.eval(script, ...), which sends the script each time'
      : 'socket: { reconnectStrategy: 200 }, which tries every 200 ms, for ever',
  });
  const [queued] = back.filter(({ doneLater }) => doneLater > 0);
  demand(!queued, {
    expected:
      'Increments are asked for while Redis is down, and answered 503. When it is back they have not been done.',
    got: `Nobody asked for them again, but their count is ${queued?.doneLater}.`,
    why: 'They were kept in a queue, and sent when there was a connection again: in a minute or an hour, when their clients are long gone.',
    try: 'disableOfflineQueue: true; without a connection a command fails at once',
  });
  demandSilence(program, silence, 'Redis');
}

/** What was refused is not tried again when Redis is back, however soon that is. */
export function demandGivenUp(refused) {
  if (refused?.doneLater === undefined) return;
  demand(refused.doneLater === 0, {
    expected:
      'Increments are asked for while Redis is down, and answered 503. It is back a moment later, and they are not done.',
    got: `Nobody asked for them again, but their count is ${refused.doneLater}.`,
    why: 'The limit ended the wait, but the attempt itself kept on trying. Its client has been told 503, and may have given up.',
    try: 'one try for each question, the client asks again; or end the loop when the second is over, before you answer',
  });
}
