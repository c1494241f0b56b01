import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  check,
  createLoad,
  demand,
  get,
  groupBy,
  interleave,
  mean,
  ratioOf,
  requestsOf,
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
const AT_ONCE = 16;
const NONE = 1; // cluster.SCHED_NONE
const WINDOW_MS = 100;
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
    const forks = workersOf(events).length;
    const { hows } = await inTurn;
    demand(forks === WORKERS && isAll(hows, 'handed'), {
      expected: 'Four workers; the primary accepts each connection and hands it to one of them.',
      got: forks === WORKERS ? whoAccepted(hows) : `It forked ${forks} workers, not 4.`,
      why: whyNotRr(events),
      try: 'cluster.schedulingPolicy = cluster.SCHED_RR; before the first cluster.fork()',
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
      });
    },
    { needs: ['rr-accepts', 'none-is-on'] },
  );

  await hold('refuses-nonsense', async () => {
    const accepted = (await refusals).find(({ fault }) => fault);
    demand(!accepted, {
      expected: 'a message that says what the policy can be, exit code 1, and no worker',
      got: `${accepted?.name}: ${accepted?.fault}`,
      why: 'Node.js ignores a policy that it does not know, and schedules by its default: nobody would notice.',
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
        got: fault,
        why: 'Only the primary hears of all workers. Each tells it at once of a request, and asks it for the counts.',
        try: "process.send(...) in the worker, cluster.on('message', (worker, message) => ...) in the primary",
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
const workersOf = (events) => events.filter(({ what }) => what === 'fork');

const isAll = (hows, how) => hows.length > 0 && hows.every((each) => each === how);

/** Starts the program with four workers. */
async function startFour({ launch, ready }, args = []) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  try {
    return await ready(await launch({ env, args }), WORKERS);
  } catch (/** @type {any} */ error) {
    const isStar = /object Module/.test(error.story?.why);
    if (isStar) error.story.try = "import cluster from 'node:cluster', without the star";
    throw error;
  }
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
  const pidOf = new Map(requestsOf(events, '/').map(({ client, pid }) => [client, pid]));
  return {
    answers,
    hows: answers.map(({ client }) => howOf.get(client)),
    pids: answers.map(({ client }) => pidOf.get(client)),
  };
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
const policyOf = (events) => workersOf(events).at(-1)?.policy;

function whyNotRr(events) {
  if (policyOf(events) === NONE)
    return 'Neither --policy nor NODE_CLUSTER_SCHED_POLICY was given, so it should be rr.';
  return 'The policy may be rr, but connections do not come through it: workers listen with exclusive or reusePort, or not at all, or something else deals.';
}

function whyNotNone(events) {
  return policyOf(events) === NONE
    ? 'cluster.schedulingPolicy reads as SCHED_NONE, but it was set too late: the first fork had fixed it.'
    : 'In the primary, cluster.schedulingPolicy was never SCHED_NONE. What a worker sets has no effect.';
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
        const workers = workersOf(events).map(({ workerPid }) => workerPid);
        return events.find(({ what, pid }) => what === 'listening' && workers.includes(pid));
      };
      const { events } = await startBriefly(lesson, choice, (seen) => Boolean(listener(seen)));
      return { ...choice, how: listener(events)?.handle };
    }),
  );
}

const isUp = (events) =>
  events.some(({ what, role }) => ['fork', 'listening'].includes(what) || role === 'worker');

/** Starts the program with policies that do not exist; `fault` tells how it went along with one. */
function tryAllNonsense(lesson) {
  return Promise.all(
    NONSENSE.map(async (choice) => {
      const end = await startBriefly(lesson, choice, isUp);
      return { ...choice, fault: faultOfRefusal({ ...end, isStarted: isUp(end.events) }) };
    }),
  );
}

function faultOfRefusal({ fate, output, isStarted }) {
  if (isStarted) return 'it started all the same.';
  if (fate?.kind !== 'ended') return 'it neither started nor refused.';
  if (fate.code === 0) return 'it forked no worker and ended as if all were well (exit code 0).';
  if (/ERR_INTERNAL_ASSERTION/.test(output))
    return 'it crashed inside Node.js, with a stack trace.';
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
  const requests = requestsOf(program.events.slice(first), '/');
  const pidOf = new Map(requests.map(({ client, pid }) => [client, pid]));
  const pids = all.map(({ client }) => pidOf.get(client));
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
      if (fault) return fault;
    }
    if (round < ROUNDS - 1) continue;
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, ask));
    const fault = answers.map((answer) => faultOfTold(answer, had)).find(Boolean);
    if (fault) return `${AT_ONCE} requests at once: ${fault}`;
  }
  return undefined;
}

function faultOfTold({ status, body, error }, had) {
  if (error || status !== 200) return `/counts failed: ${error ?? `status ${status}`}.`;
  let told;
  try {
    told = JSON.parse(body) ?? {};
  } catch {
    return `/counts answers no JSON: ${body.slice(0, 60)}`;
  }
  for (const pid of new Set([...had.keys(), ...Object.keys(told).map(Number)])) {
    const [says, saw] = [told[pid] ?? 0, had.get(pid)?.length ?? 0];
    if (says !== saw) return `It tells ${JSON.stringify(told)}; process ${pid} has had ${saw}.`;
  }
  return undefined;
}

function drawShares({ drawn }, policy, { events }, { pids }) {
  const rows = workersOf(events).map(({ worker, workerPid }) => ({
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
  const window = await load.fire({ connections: 8, durationMs: WINDOW_MS, ...options });
  return (1000 * window.answers.length) / (window.endMs - window.startMs);
}

/** How many times as fast none is as rr, in interleaved windows. */
async function compare(sides) {
  for (const warmUp of [...Object.values(sides), ...Object.values(sides)]) await warmUp(); // compiled code is faster
  const ratio = (/** @type {Record<string, number[]>} */ { rr, none }) => ratioOf(rr, none);
  const isEnough = (rates) => ratio(rates).high < NARROW * ratio(rates).low;
  const rates = await interleave(sides, { isEnough, budgetMs: BUDGET_MS });
  const { value, low, high } = ratio(rates);
  const note = high > WIDE * low ? 'inconclusive: other programs were using the cores' : undefined;
  const [controlPerSecond, candidatePerSecond] = [mean(rates.rr), mean(rates.none)];
  return { value, low, high, note, controlPerSecond, candidatePerSecond };
}
