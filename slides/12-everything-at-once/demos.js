import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  createDraw,
  deployBad,
  freezeOne,
  get,
  killInDeploy,
  killOne,
  strike,
} from '../../lib/check/checking.js';

const SHOP = 'solutions/12-everything-at-once';
const WORKERS = 2;
const PAGE_EVERY_MS = 100; // sparse, so that the drawing shows each request
const ORDER_EVERY_MS = 200;
const TIMEOUT_MS = 1_000; // a connection on its way to a worker that dies may wait for nothing
const BLOCKED_MS = 600;
const CALM_MS = 400; // before each blow
const TRY_AGAIN_MS = 100;
const TRIES = 5; // of a client that gets no answer to its order
const BAD_PAGE = "throw new Error('this version cannot start');";

const page = readFileSync(new URL(`../../${SHOP}/page.js`, import.meta.url), 'utf8');
const isFine = ({ status, error }) => status < 300 && !error;

/** Each blow, by its box in diagrams/vote-blows.svg. */
export const BLOWS = {
  kill: ({ program, draw }) => killOne(program, draw, WORKERS),
  block: ({ program, draw }) => freezeOne(program, draw, WORKERS, BLOCKED_MS),
  'deploy + kill': ({ program, draw, deploy }) =>
    killInDeploy(program, draw, WORKERS, deploy, 'old'),
  'bad deploy': ({ program, deploy, deployBroken }) =>
    deployBad(program, WORKERS, { bad: deployBroken, good: deploy }),
};

/** Those with the most votes first. @param {{ label: string, count: number }[]} votes  @returns {string[]} */
export function orderOf(votes) {
  const countOf = (name) => votes.find(({ label }) => label === name)?.count ?? 0;
  return Object.keys(BLOWS).sort((a, b) => countOf(b) - countOf(a));
}

export default [
  {
    name: 'blows-by-vote',
    title: 'The class chooses the blows',
    mayFail: true,
    async perform(stage) {
      const { launch, copy, say, begin, votes, signal } = stage;
      say(`Our shop starts, with ${WORKERS} workers.`);
      const { entry, write } = copy(SHOP);
      const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
      const program = await launch(entry, { as: 'primary', env });
      await program.ready(WORKERS);
      let version = 1;
      const deploy = () =>
        write('page.js', page.replace(/version = '\d+'/, `version = '${(version += 1)}'`));
      const deployBroken = () => write('page.js', BAD_PAGE);
      const about = { program, deploy, deployBroken, draw: createDraw(1) };
      begin();
      const traffic = startTraffic(program, stage);
      for (const [index, name] of orderOf(votes).entries()) {
        await sleep(CALM_MS);
        if (signal.aborted) return;
        const fault = BLOWS[name](about);
        say(`Blow ${index + 1}, ${name}: ${fault.how}.`);
        const { isDone } = await strike(program, fault);
        if (!isDone) throw notBack(name);
      }
      await sleep(CALM_MS);
      say(await traffic.end());
    },
  },
];

const notBack = (name) =>
  new Undecided({
    got: `After the blow "${name}" fewer than ${WORKERS} workers serve: this machine is too busy.`,
    why: 'How long a start takes is not known before its end.',
    try: 'run it again, or play the recording',
  });

/** Pages and orders, on schedule. A client sends its order again until it is acknowledged. */
function startTraffic({ url }, { ask, signal }) {
  let isOn = true;
  const attempts = [];
  const send = async (path, options) => {
    const answer = await ask(url + path, { timeoutMs: TIMEOUT_MS, ...options });
    attempts.push(answer);
    return isFine(answer);
  };
  const order = async (id) => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ id, item: 'figs', pieces: 1 });
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (await send('/orders', { method: 'POST', headers, body })) return true;
      await sleep(TRY_AGAIN_MS);
    }
    return false;
  };
  const follow = async (act, everyMs) => {
    const acts = [];
    const since = performance.now();
    while (isOn && !signal.aborted) {
      acts.push(act(`a-${acts.length + 1}`));
      await sleep(Math.max(0, since + acts.length * everyMs - performance.now()));
    }
    return Promise.all(acts);
  };
  const pages = follow(() => send('/'), PAGE_EVERY_MS);
  const orders = follow(order, ORDER_EVERY_MS);
  return {
    /** @returns {Promise<string>}  what became of all requests and orders */
    async end() {
      isOn = false;
      const acknowledged = (await orders).filter(Boolean).length;
      await pages;
      const stats = JSON.parse((await get(`${url}/stats`)).body);
      const fine = attempts.filter(isFine).length;
      return (
        `Answered: ${fine} of ${attempts.length}. Failed: ${attempts.length - fine}. ` +
        `Orders acknowledged: ${acknowledged}, counted: ${stats.orders}.`
      );
    },
  };
}
