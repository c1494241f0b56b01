import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  check,
  createLoad,
  demand,
  forksOf,
  get,
  groupBy,
  interleave,
  mean,
  ratioOf,
  requestsOf,
  whyOfCrash,
} from '../lib/checking.js';

const promises = {
  'rr-accepts':
    'untold, it schedules by rr: the primary accepts and hands connections to four workers',
  'rr-in-turn': '40 new connections one after the other: ten each, always in the same order',
  'none-is-on': '--policy none: the workers accept by themselves',
  'option-wins': '--policy beats NODE_CLUSTER_SCHED_POLICY, which beats rr',
  'refuses-nonsense': 'another policy is refused with a message, as option and as variable',
  'keep-alive-pins':
    'the requests of one connection stay with one worker, the next connection meets the next',
  'blocked-is-skipped': 'under rr a blocked worker is skipped, one that merely waits is not',
  counts: '/counts tells how many requests for / each worker has had, whichever worker is asked',
};
const WORKERS = 4;
const CONNECTIONS = 40;
const KEPT = 6; // requests on a connection
const CLIENT_ASKS = 8; // while a worker is busy
const TRIES = 3;
const LEAST_BLOCKED_MS = 450;
const SEEN_WITHIN_MS = 3_000;
const ROUNDS = 4;
const ONE_LISTENER =
  "one process.on('message', ...) outside the route, and an array of the responses that wait: waiting.shift().json(counts)";
const AT_ONCE = 16;
const NONE = 1; // cluster.SCHED_NONE
const WINDOW_MS = 50; // many short windows tell more than a few long ones
const WARM_UPS = 4; // compiled code is faster
const UNDER_LOAD = 16; // connections
const BUDGET_MS = 900;
const [NARROW, WIDE] = [1.2, 2]; // an interval that is good enough, and one that tells nothing
const TINY = new URL('../lessons/03-scheduling-policies/small/tiny.js', import.meta.url);
const BY_VARIABLE = { NODE_CLUSTER_SCHED_POLICY: 'none' };
const CHOICES = [
  { name: 'NODE_CLUSTER_SCHED_POLICY=none', env: BY_VARIABLE, wanted: 'kernel' },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=none and --policy rr',
    env: BY_VARIABLE,
    args: ['--policy', 'rr'],
    wanted: 'handed',
  },
];
const NONSENSE = [
  { name: '--policy rrr', args: ['--policy', 'rrr'] },
  { name: '--policy ""', args: ['--policy', ''] },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=roundrobin',
    env: { NODE_CLUSTER_SCHED_POLICY: 'roundrobin' },
  },
];

check('03-scheduling-policies', promises, async (lesson) => {
  const { observe, meanwhile, hold } = lesson;
  const main = observe(() => startFour(lesson));
  const none = meanwhile(() => startFour(lesson, ['--policy', 'none']));
  const areUp = Promise.allSettled([main, none]); // before others take CPU time from their start
  const choices = meanwhile(async () => (await areUp) && chooseInTwoWays(lesson));
  const refusals = meanwhile(async () => (await areUp) && tryAllNonsense(lesson));
  const inTurn = observe(async () => askInTurn(await main, CONNECTIONS));
  const inNoTurn = meanwhile(async () => askInTurn(await none, CONNECTIONS));
  const kept = observe(async () => askOnTwoConnections(await main));
  const whileBlocked = observe(async () => dealMeanwhile(await main, '/block', isTelling));
  const whileWaiting = observe(async () =>
    dealMeanwhile(await main, '/wait', (look) => isTelling(look) && look.own > 0),
  );
  const miscount = observe(
    async () => (await faultOfCounts(await main)) ?? (await inNoTurn, faultOfCounts(await none)),
  );

  await hold('rr-accepts', async () => {
    const { events } = await main;
    const forks = forksOf(events).length;
    const { hows } = await inTurn;
    demand(forks === WORKERS && isAll(hows, 'handed'), {
      expected: 'Four workers; the primary accepts each connection and hands it to one of them.',
      got: forks === WORKERS ? whoAccepted(hows) : `It forked ${forks} workers, not 4.`,
      why: whyNotRr(events),
      try: 'cluster.schedulingPolicy = cluster.SCHED_RR; before the first cluster.fork()',
      ...storyOfCrash(events),
    });
  });

  await hold(
    'rr-in-turn',
    async () => {
      const { pids } = await inTurn;
      const fault = faultOfAnswers(await inTurn);
      demand(!fault && isCycle(pids), {
        expected: `${CONNECTIONS} connections, ${CONNECTIONS / WORKERS} for each worker, in a cycle; / tells who answered.`,
        got: fault ?? `The workers that executed them got ${sharesOf(pids).join(', ')}.`,
        why: 'The primary deals to the worker that has been free for longest. What a worker accepts, it should answer itself.',
        try: 'app.listen(port) in each worker, and process.pid as the answer',
        ...storyOfCrash((await main).events),
      });
    },
    { needs: ['rr-accepts'] },
  );

  await hold('none-is-on', async () => {
    const { events } = await none;
    const { hows } = await inNoTurn;
    const isOwn = isAll(hows, 'kernel');
    const shared = await sharedListeners(await none);
    demand(isOwn && shared === WORKERS, {
      expected: 'The four workers share the listening socket of the primary and accept from it.',
      got: isOwn ? `${shared} of 4 listen on a socket that the primary opened.` : whoAccepted(hows),
      why: isAll(hows, 'handed') ? whyNotNone(events) : 'Under none all share one socket.',
      try: 'cluster.schedulingPolicy = choosePolicy(); in the primary, before the first cluster.fork()',
      ...storyOfCrash(events),
    });
  });

  await hold(
    'option-wins',
    async () => {
      const wrong = (await choices).find(({ how, wanted }) => how !== wanted);
      demand(!wrong, {
        expected: `${wrong?.name}: ${whoAccepted([wrong?.wanted])}`,
        got: wrong?.how ? whoAccepted([wrong.how]) : 'No worker listens.',
        why: 'Who starts the program by hand knows best; the environment comes next; rr is for when neither says anything.',
        try: "values.policy ?? process.env.NODE_CLUSTER_SCHED_POLICY ?? 'rr'",
        ...storyOfCrash(wrong?.events),
      });
    },
    { needs: ['rr-accepts', 'none-is-on'] },
  );

  await hold('refuses-nonsense', async () => {
    const accepted = (await refusals).find(({ fault }) => fault);
    demand(!accepted, {
      expected: 'a message that says what the policy can be, exit code 1, and no worker',
      got: `${accepted?.name}: ${accepted?.fault}`,
      why: accepted?.isCrash
        ? 'It went on to fork. Node.js ignores a variable that it does not know, but throws when cluster.schedulingPolicy is no constant of the module.'
        : 'Nobody notices a policy that is not the one which was asked for; a worker that has started may have clients already.',
      try: "if (name !== 'rr' && name !== 'none') { console.error(...); process.exit(1); }",
    });
  });

  await hold(
    'keep-alive-pins',
    async () => {
      const { fault, ...pids } = await kept;
      demand(!fault && pids.first !== pids.second, {
        expected: `${KEPT} requests on one connection: one worker. On a second connection: another worker.`,
        got: fault ?? `Both connections met process ${pids.first}.`,
        why: 'A policy deals connections, not requests, and a connection stays open for the next request.',
        try: 'no "Connection: close" and no keepAliveTimeout: leave connections as Node.js handles them',
      });
    },
    { needs: ['rr-in-turn'] },
  );

  await hold(
    'blocked-is-skipped',
    async () => {
      const [blocked, waiting] = [await whileBlocked, await whileWaiting];
      const fault = faultOfBlocked(blocked) ?? faultOfWaiting(waiting);
      demand(!fault, {
        expected:
          'While a worker is in /block it answers nothing else and traps at most one connection; while one is in /wait it gets its share.',
        got: fault,
        why: 'The primary deals a worker its next connection when it has taken the last. A blocked one takes none.',
        try: 'blockFor(500); in /block, setTimeout(..., 500) in /wait, as the starter has them',
      });
      if (!isTelling(blocked) || !isTelling(waiting)) throw tooSlow();
    },
    { needs: ['rr-in-turn'] },
  );

  await hold(
    'counts',
    async () => {
      const fault = await miscount;
      demand(!fault, {
        expected:
          'JSON such as {"5172":10,"5177":10}: how many requests for / each process has had',
        ...fault,
      });
    },
    { needs: ['rr-accepts'] },
  );

  if (!lesson.allHold()) return;
  drawShares(lesson, 'rr', await main, await inTurn);
  drawShares(lesson, 'none', await none, await inNoTurn);
  if (!lesson.isQuick) await measureCost(lesson);
});

/** The forks of workers, in order. */

const isAll = (hows, how) => hows.length > 0 && hows.every((each) => each === how);

/** Starts the program with four workers. */
async function startFour({ launch, ready }, args = []) {
  const program = await launch({ env: { NODE_CLUSTER_WORKERS: String(WORKERS) }, args });
  try {
    return await ready(program, WORKERS);
  } catch (/** @type {any} */ error) {
    const hint = hintOf(program.events.find(({ what }) => what === 'crash')?.error ?? '');
    if (hint && error.story) error.story.try = hint;
    throw error;
  }
}

/** Where a process has died, that explains the rest. */
function storyOfCrash(events = []) {
  const why = whyOfCrash(events);
  const { error } = events.find(({ what }) => what === 'crash') ?? {};
  return why && { why, try: hintOf(error) ?? 'repair what was thrown first' };
}

/** What to do about the errors that this lesson is known for. */
function hintOf(stack) {
  if (/object Module/.test(stack)) return "import cluster from 'node:cluster', without the star";
  if (/Bad cluster\.schedulingPolicy/.test(stack))
    return 'cluster.SCHED_NONE or cluster.SCHED_RR, not its name';
  if (/ERR_HTTP_HEADERS_SENT/.test(stack)) return ONE_LISTENER;
  return /TypeError[^]*\bWorker\.emit/.test(stack)
    ? "worker.on('message', (message) => ...): only cluster.on('message', (worker, message) => ...) has the worker first"
    : undefined;
}

/** Requests on new connections, one after the other: who accepted each connection, and who executed the request. */
async function askInTurn(program, times) {
  const first = program.events.length;
  const answers = [];
  while (answers.length < times && !answers.at(-1)?.error)
    answers.push(await get(`${program.url}/`));
  await program.drained();
  const isSeen = () => requestsOf(program.events.slice(first), '/').length >= answers.length;
  if (!answers.at(-1)?.error) await program.until(isSeen, SEEN_WITHIN_MS);
  const events = program.events.slice(first);
  const accepted = events.filter(({ what }) => what === 'connection');
  const howOf = new Map(accepted.map(({ client, how }) => [client, how]));
  return {
    answers,
    hows: answers.map(({ client }) => howOf.get(client)),
    pids: pidsOf(events, answers),
  };
}

/** Which process executed each of these requests for /. */
function pidsOf(events, answers) {
  const pidOf = new Map(requestsOf(events, '/').map(({ client, pid }) => [client, pid]));
  return answers.map(({ client }) => pidOf.get(client));
}

/** Who accepted, in words. */
function whoAccepted(hows) {
  const words = {
    handed: 'The primary accepts connections and hands them over (rr).',
    kernel: 'Who answers has accepted the connection by itself (none).',
    dealt: 'Connections are dealt by hand, not by the cluster module.',
  };
  const seen = [...new Set(hows)].map((how) => words[how] ?? 'Nobody accepts the connection.');
  return seen.join(' And: ');
}

function faultOfAnswers({ answers, pids }) {
  const index = answers.findIndex(({ error, body }, at) => error || body !== String(pids[at]));
  if (index < 0) return undefined;
  const { error, body } = answers[index];
  if (error) return `A request for / failed: ${error}.`;
  const who = pids[index] ? `Process ${pids[index]}` : 'A process that was not seen';
  return `${who} answered a request for / with "${body.slice(0, 40)}", not with its pid.`;
}

const isCycle = (pids) =>
  new Set(pids.slice(0, WORKERS)).size === WORKERS &&
  pids.every((pid, index) => pid === pids[index % WORKERS]);

const sharesOf = (pids) => [...groupBy(pids, (pid) => pid).values()].map(({ length }) => length);

/** How many workers listen on a socket that the primary opened for all: only then it hears of it. */
async function sharedListeners(program) {
  const heard = () =>
    program.events.filter(({ what, port }) => what === 'worker-listening' && port === program.port);
  await program.until(() => heard().length >= WORKERS, 3_000);
  return heard().length;
}

/** What cluster.schedulingPolicy read as, a moment after the last fork. */
const policyOf = (events) => forksOf(events).at(-1)?.policy;

function whyNotRr(events) {
  if (policyOf(events) === NONE)
    return 'Neither --policy nor NODE_CLUSTER_SCHED_POLICY was given, so it should be rr.';
  return 'The policy may be rr, but connections do not come through it: workers listen with exclusive or reusePort, or not at all, or something else deals.';
}

function whyNotNone(events) {
  return policyOf(events) === NONE
    ? 'cluster.schedulingPolicy reads as SCHED_NONE, but it was set too late: the first fork() or setupPrimary() had fixed it.'
    : 'In the primary, cluster.schedulingPolicy was never SCHED_NONE. What a worker sets has no effect, nor has an option of setupPrimary().';
}

/**
 * Starts the program with one worker, waits until `isDone` or nothing more happens, and ends it.
 * @param {any} lesson
 * @param {{ args?: string[], env?: Record<string, string> }} choice
 * @param {(events: any[]) => boolean} isDone
 */
async function startBriefly({ launch }, { args, env }, isDone) {
  const program = await launch({ args, env: { NODE_CLUSTER_WORKERS: '1', ...env } });
  await program.settled(isDone);
  const { fate, events } = program;
  const output = program.output();
  await program.stop();
  return { fate, events, output };
}

/** Who accepts when the environment speaks, and when the option speaks against it. */
function chooseInTwoWays(lesson) {
  return Promise.all(
    CHOICES.map(async (choice) => {
      const listener = (events) => {
        const workers = forksOf(events).map(({ workerPid }) => workerPid);
        return events.find(({ what, pid }) => what === 'listening' && workers.includes(pid));
      };
      const { events } = await startBriefly(lesson, choice, (seen) => Boolean(listener(seen)));
      return { ...choice, events, how: listener(events)?.handle };
    }),
  );
}

/** A child is seen even when the primary ends in the same moment. */
const hasForked = (events) => events.some(({ what }) => what === 'child');

const isUp = (events) => hasForked(events) || events.some(({ what }) => what === 'listening');

/** Starts the program with policies that do not exist; `fault` tells how it went along with one. */
function tryAllNonsense(lesson) {
  return Promise.all(
    NONSENSE.map(async (choice) => {
      const end = await startBriefly(lesson, choice, isUp);
      const isCrash = /ERR_INTERNAL_ASSERTION/.test(whyOfCrash(end.events) ?? '');
      const fault = faultOfRefusal(end, isCrash);
      return { ...choice, isCrash, fault };
    }),
  );
}

function faultOfRefusal({ fate, events, output }, isCrash) {
  if (isUp(events)) return `it ${hasForked(events) ? 'forked a worker' : 'listens'} all the same.`;
  if (fate?.kind !== 'ended') return 'it neither started nor refused.';
  if (fate.code === 0) return 'it forked no worker and ended as if all were well (exit code 0).';
  if (isCrash) return 'it crashed inside Node.js, with a stack trace.';
  return /polic|\brr\b/i.test(output) ? undefined : 'it ended, but did not say why.';
}

/** Some requests on one connection, then as many on another while the first is still open. */
async function askOnTwoConnections(program) {
  const first = program.events.length;
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const all = [];
  for (const agent of agents)
    for (let count = 0; count < KEPT; count += 1) all.push(await get(`${program.url}/`, { agent }));
  agents.forEach((agent) => agent.destroy());
  await program.drained();
  const pids = pidsOf(program.events.slice(first), all);
  const opened = new Set(all.map(({ client }) => client)).size;
  const isClosed = opened !== 2 && `${all.length} requests took ${opened} connections, not 2.`;
  return {
    first: pids[0],
    second: pids[KEPT],
    fault: isClosed || faultOfAnswers({ answers: all, pids }),
  };
}

/** Looks up to three times, until there is enough to tell from. */
async function dealMeanwhile(program, path, isEnough) {
  let look = await dealOnce(program, path);
  for (let tries = 1; tries < TRIES && !isEnough(look); tries += 1)
    look = await dealOnce(program, path);
  return look;
}

/** One request for `path`; and while its worker is at it, two clients that ask again as soon as they are answered. */
async function dealOnce(program, path) {
  const first = program.events.length;
  const seen = (wanted) => requestsOf(program.events.slice(first), wanted);
  let isOver = false;
  const held = get(program.url + path).finally(() => (isOver = true));
  await program.until(() => isOver || seen(path).length > 0);
  const client = async () => {
    let left = CLIENT_ASKS;
    for (; left > 0 && !isOver; left -= 1) await get(`${program.url}/`);
    return left === 0 && !isOver; // it got through
  };
  const [{ status, error }, ...through] = await Promise.all([held, client(), client()]);
  await program.drained();
  const { pid, startMs = 0, endMs = 0 } = seen(path)[0] ?? {};
  const others = seen('/').filter((one) => one.pid === pid);
  const own = others.filter((one) => one.startMs > startMs && one.startMs < endMs).length;
  const trapped = others.filter((one) => one.startMs >= endMs).length;
  const fault = status !== 200 && `A request for ${path} failed: ${error ?? `status ${status}`}.`;
  return { fault, isThrough: through.includes(true), own, trapped, tookMs: endMs - startMs };
}

const isTelling = ({ fault, isThrough, own }) => Boolean(fault) || isThrough || own > 0;

function faultOfBlocked({ fault, isThrough, own, trapped, tookMs }) {
  if (fault) return fault;
  if (own > 0) return `The worker in /block answered ${own} other requests meanwhile.`;
  if (tookMs < LEAST_BLOCKED_MS) return `/block took ${Math.round(tookMs)} ms, not 500.`;
  return !isThrough && trapped > 1
    ? `The blocked worker trapped ${trapped} connections.`
    : undefined;
}

function faultOfWaiting({ fault, isThrough, own, tookMs }) {
  if (fault) return fault;
  if (tookMs < LEAST_BLOCKED_MS) return `/wait took ${Math.round(tookMs)} ms, not 500.`;
  const rest = 'while a client of the others got all its answers.';
  return isThrough && own === 0 ? `The worker in /wait answered nothing else, ${rest}` : undefined;
}

const tooSlow = () =>
  new Undecided({
    got: 'The requests sent while a worker was busy for 500 ms came too late to tell.',
    why: 'Other programs keep this machine busy.',
    try: 'close other programs, then check again',
  });

/** What /counts tells, against what was observed: after each request, from each worker, and to many at once. */
async function faultOfCounts(program) {
  const ask = () => get(`${program.url}/counts`);
  for (let round = 0; round < ROUNDS; round += 1) {
    await get(`${program.url}/`);
    await program.drained(); // every event loop has turned since: what was to be told is told
    const had = groupBy(requestsOf(program.events, '/'), ({ pid }) => pid);
    for (let turn = 0; turn < WORKERS; turn += 1) {
      const fault = faultOfTold(await ask(), had);
      if (fault) return explained(fault, program);
    }
    if (round < ROUNDS - 1) continue;
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, ask));
    const fault = answers.map((answer) => faultOfTold(answer, had)).find(Boolean);
    if (fault) return explained({ ...fault, try: ONE_LISTENER }, program, AT_ONCE);
  }
  return undefined;
}

/** The whole story of a wrong answer to /counts. */
async function explained({ got, ...story }, program, atOnce = 1) {
  await program.drained(); // the last words of who died
  if (atOnce === 1) return { got, ...story, ...storyOfCrash(program.events) };
  const why =
    'Several clients wait at the same worker, and each needs its own answer: one variable holds one response.';
  return {
    got: `${atOnce} requests at once: ${got}`,
    ...story,
    why: [whyOfCrash(program.events), why].filter(Boolean).join('. '),
  };
}

/** What is wrong with an answer to /counts, why, and what to do. */
function faultOfTold({ status, body, error }, had) {
  if (error || status !== 200) return faultOfFailure(error, status);
  let told;
  try {
    told = JSON.parse(body) ?? {};
  } catch {
    const got = `/counts answers no JSON: ${body.slice(0, 60)}`;
    return {
      got,
      why: 'A response needs JSON, and its own brackets.',
      try: 'response.json(counts)',
    };
  }
  const pids = Object.keys(told);
  const saw = (pid) => had.get(Number(pid))?.length ?? 0;
  const wrong = [...new Set([...pids, ...[...had.keys()].map(String)])].find(
    (pid) => (told[pid] ?? 0) !== saw(pid),
  );
  if (wrong === undefined) return undefined;
  const got = `It tells ${JSON.stringify(told)}; process ${wrong} has had ${saw(wrong)}.`;
  return { got, ...whyWrong(pids, told, had, told[wrong] > saw(wrong)) };
}

function faultOfFailure(error, status) {
  const got = `/counts failed: ${error ?? `status ${status}`}.`;
  if (status === 404)
    return { got, why: 'There is no /counts yet.', try: "app.get('/counts', ...) in the workers" };
  if (error?.startsWith('no answer'))
    return {
      got,
      why: 'The primary sent nothing back, or the worker did not pass it on.',
      try: "worker.send(counts) in the primary, process.on('message', ...) in the worker",
    };
  return { got, why: 'Its worker broke off.', try: 'curl -i localhost:8080/counts' };
}

/** Which mistake makes such counts. */
function whyWrong(pids, told, had, isMore) {
  if (pids.length === 0)
    return {
      why: 'The primary has counted nothing, or in a Map: that becomes {} in JSON.',
      try: 'const counts = {}; and counts[worker.process.pid] = ...',
    };
  if (!pids.some((pid) => had.has(Number(pid))))
    return {
      why: `The counts are to be by pid; "${pids[0]}" is the pid of no worker.`,
      try: 'counts[worker.process.pid]',
    };
  if (pids.length === 1 && had.size > 1)
    return {
      why: 'A worker knows only its own requests. The primary hears of all: ask it.',
      try: "process.send({ ask: 'counts' }) in the worker, worker.send(counts) in the primary",
    };
  if (isMore)
    return {
      why: 'Something else than a request for / was counted, perhaps the questions for the counts.',
      try: 'look in the primary at what each message says',
    };
  return {
    why: 'Each request for / is to be told at once, and each worker to have a count of its own.',
    try: 'served += 1; process.send({ served }); in the route of /',
  };
}

function drawShares({ drawn }, policy, { events }, { pids }) {
  const rows = forksOf(events).map(({ worker, workerPid }) => ({
    name: `worker ${worker}`,
    value: pids.filter((pid) => pid === workerPid).length,
  }));
  const label = `${policy}: ${CONNECTIONS} new connections, one after the other`;
  drawn(`shares-${policy}`, { label, unit: 'connections', rows });
}

/** What each policy costs, on the smallest server: only the policy differs. It decides nothing. */
async function measureCost({ launch, measured }) {
  const load = createLoad();
  const start = async (policy) => {
    const env = { NODE_CLUSTER_WORKERS: '2', NODE_CLUSTER_SCHED_POLICY: policy };
    const program = await launch({ entry: fileURLToPath(TINY), env, probe: 'life' });
    await program.ready(2);
    return program.url;
  };
  const [rr, none] = await Promise.all([start('rr'), start('none')]);
  const [fresh, kept] = ['a new connection for each', 'on connections that stay open'];
  for (const kind of [fresh, kept]) {
    const isHeadline = kind === fresh;
    const window = (url) => () => perSecond(load, { url, isFresh: kind === fresh });
    const cost = await compare({ rr: window(rr), none: window(none) });
    const label = `tiny requests, ${kind}: none against rr`;
    measured(kind === fresh ? 'fresh' : 'kept', { label, unit: 'times', isHeadline, ...cost });
  }
  load.close();
}

async function perSecond(load, options) {
  const window = await load.fire({ connections: UNDER_LOAD, durationMs: WINDOW_MS, ...options });
  const answers = Math.max(1, window.answers.length); // none, on a busy machine: a ratio needs a number
  return (1000 * answers) / (window.endMs - window.startMs);
}

/** The geometric mean: the ratio of two is the ratio that is told. */
const typical = (rates) => Math.exp(mean(rates.map(Math.log)));

/** How many times as fast none is as rr, in interleaved windows. */
async function compare(sides) {
  for (let count = 0; count < WARM_UPS; count += 1)
    for (const warmUp of Object.values(sides)) await warmUp();
  const ratio = (/** @type {Record<string, number[]>} */ { rr, none }) => ratioOf(rr, none);
  const isEnough = (rates) => ratio(rates).high < NARROW * ratio(rates).low;
  const rates = await interleave(sides, { isEnough, budgetMs: BUDGET_MS });
  const { value, low, high } = ratio(rates);
  const note = high > WIDE * low ? 'inconclusive: other programs were using the cores' : undefined;
  const [controlPerSecond, candidatePerSecond] = [typical(rates.rr), typical(rates.none)];
  return { value, low, high, note, controlPerSecond, candidatePerSecond };
}
