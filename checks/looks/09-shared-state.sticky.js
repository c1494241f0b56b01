/** What the check of lesson 9 sees of the sticky server: who serves whom, and who does when a worker has died. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Undecided, get, hasPid, nowMs, requestsOf } from '../../lib/checking.js';
import { INSIST_MS, PATIENCE_MS, RETRY_MS, SEEN_MS } from './09-shared-state.js';

export const PLACES = 3;
const SETTLED_MS = 4_000;
const CLIENTS = 47; // by any hash each place has some, and who deals in turn begins each round elsewhere
const ROUNDS = 3;

/** Clients of different addresses, each with a new connection at every visit. */
export async function visitInTurn(program) {
  await program.settled(() => false, SETTLED_MS); // it has started all that it starts
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await visit(program, `${round}`));
  return { program, rounds };
}

/** Everybody comes once; tells who served whom, as it was observed, and what the client was told. */
async function visit(program, round) {
  const first = program.events.length;
  const clients = Array.from({ length: CLIENTS }, (_, index) => `127.0.0.${index + 2}`);
  const answers = await Promise.all(clients.map((client) => visitOnce(program, client, round)));
  const seen = () => requestsOf(program.events.slice(first), '/visits');
  const servedBy = (client) =>
    seen().findLast(({ url }) => url.endsWith(tagOf(client, round)))?.pid;
  await program.until(() => clients.every(servedBy), SEEN_MS);
  return clients.map((client, index) => ({
    client,
    pid: servedBy(client),
    status: answers[index].status,
    visits: visitsOf(answers[index]),
  }));
}

const tagOf = (client, round) => `?round=${round}-${client}`;

/** A connection may break with the worker to which it was dealt: then the client comes again. */
async function visitOnce(program, client, round) {
  const deadline = nowMs() + INSIST_MS / 2;
  for (;;) {
    const options = { localAddress: client, timeoutMs: PATIENCE_MS };
    const answer = await get(`${program.url}/visits${tagOf(client, round)}`, options);
    if (answer.error === 'EADDRNOTAVAIL') throw noAddress(client);
    if (answer.status === 200 || program.fate || nowMs() > deadline) return answer;
    await sleep(RETRY_MS);
  }
}

const noAddress = (client) =>
  new Undecided({
    got: `This system does not let a client come from ${client}.`,
    why: 'Clients with addresses of their own are needed here. Linux has all of 127.0.0.0/8 on board.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2, and so on up to 127.0.0.48 (macOS), then check again',
  });

function visitsOf({ status, body }) {
  try {
    return status === 200 ? Number(JSON.parse(body).visits) : undefined;
  } catch {
    return NaN;
  }
}

/** One worker dies. Everybody comes as soon as the primary knows, and if all were served once more when all is calm. */
export async function visitAfterDeath({ program, rounds }) {
  const homes = new Map(rounds.at(-1).map(({ client, pid }) => [client, pid]));
  const [victim] = homes.values();
  program.kill(victim, 'SIGKILL');
  await program.until(() => !hasPid(victim), PATIENCE_MS); // its parent has heard of it
  const visits = await visit(program, 'soon');
  if (visits.every(({ status }) => status === 200)) {
    await program.settled(() => false, SETTLED_MS);
    visits.push(...(await visit(program, 'calm')));
  }
  return { program, homes, victim, visits, fate: program.fate };
}
