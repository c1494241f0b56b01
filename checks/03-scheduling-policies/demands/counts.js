/** What lesson 3 demands of /counts: it asks until an answer is wrong, and says which mistake makes such counts. */
import { Agent } from 'node:http';
import { demand, get, groupBy, requestsOf, whyOfCrash } from '../../../lib/check/checking.js';
import { WORKERS } from '../looks.js';
import { ONE_LISTENER, storyOfCrash } from './policies.js';

const ROUNDS = 4;
const AT_ONCE = 16;
const ALL_BEGUN_MS = 1_500;

export function demandCounts(fault) {
  demand(!fault, {
    expected: 'JSON such as {"5172":10,"5177":10}: how many requests for / each process has had',
    ...fault,
  });
}

/** What /counts tells, against what was observed: after each request, from each worker, and to many at once. */
export async function faultOfCounts(program) {
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
    const answers = await askTogether(program);
    const fault = answers.map((answer) => faultOfTold(answer, had)).find(Boolean);
    if (fault) return explained({ ...fault, try: ONE_LISTENER }, program, AT_ONCE);
  }
  return undefined;
}

/**
 * So many requests that several wait in the same worker: on connections that are there already, while the primary stands
 * still and answers nobody.
 */
async function askTogether(program) {
  const agents = Array.from({ length: AT_ONCE }, () => new Agent({ keepAlive: true }));
  const askAll = () => Promise.all(agents.map((agent) => get(`${program.url}/counts`, { agent })));
  try {
    const answers = await askAll();
    if (answers.some(({ status }) => status !== 200)) return answers;
    const begun = () => requestsOf(program.events, '/counts').length;
    const before = begun();
    program.kill(program.pid, 'SIGSTOP');
    const asked = askAll();
    await program.until(() => begun() >= before + AT_ONCE, ALL_BEGUN_MS);
    program.kill(program.pid, 'SIGCONT');
    return [...answers, ...(await asked)];
  } finally {
    for (const agent of agents) agent.destroy();
  }
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
