/**
 * A real Redis server for a check, an experiment or a demo: on 127.0.0.1 only, nothing on disk, ended with the run.
 *
 * @typedef {object} Redis
 * @property {string} url  as REDIS_URL takes it
 * @property {number} port
 * @property {() => void} still  stops it in its tracks (SIGSTOP): connections stay, and nothing is answered
 * @property {() => void} goOn
 * @property {(ms: number) => Promise<void>} age  for what it keeps for a time so much of that has passed
 * @property {() => Promise<string[]>} keys  all that it keeps something under
 * @property {() => Promise<number>} countClients  how many are connected
 * @property {() => Promise<number[]>} stop  ends it, with all that it held
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../observe/ports.js';
import { demandTool } from './tools.js';
import { Undecided } from '../verdict/outcome.js';

const READY_MS = 10_000;
const PING_MS = 500;
const POLL_MS = 10;
const REPLY_MS = 5_000;

/** Takes ARGV[1] milliseconds from the time that each key has to live, if it has one. */
const AGE = `
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local left = redis.call('PTTL', key)
    if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
  end
  return 'OK'`;

/** A reply in one piece, as `ask` takes it; of few keys. */
const KEYS = `return cjson.encode(redis.call('KEYS', '*'))`;

/**
 * @param {(options: { entry: string, args: string[], isNative: true }) => Promise<import('../observe/program.js').Program>} launch
 * @param {{ port?: number }} [options]  port: a free one unless told otherwise
 * @returns {Promise<Redis>}  answers already
 * @throws {Undecided}  when it is not installed, or does not start
 */
export async function startRedis(launch, { port } = {}) {
  const entry = demandTool('redis');
  const ours = port ?? (await freePort());
  const args = ['--port', String(ours), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const program = await launch({ entry, args, isNative: true });
  const deadline = performance.now() + READY_MS;
  while (!(await answersPing(ours))) {
    if (program.fate || performance.now() > deadline) throw explainSilence(ours, program.output());
    await sleep(POLL_MS);
  }
  return {
    url: `redis://127.0.0.1:${ours}`,
    port: ours,
    still: () => program.interrupt('SIGSTOP'),
    goOn: () => program.interrupt('SIGCONT'),
    async age(ms) {
      const reply = await ask(ours, ['EVAL', AGE, '0', String(ms)]);
      if (!reply.includes('OK')) throw explainSilence(ours, `${program.output()} ${reply}`);
    },
    async keys() {
      const reply = await ask(ours, ['EVAL', KEYS, '0']);
      const [, json] = /^\$\d+\r\n(.*)\r\n$/s.exec(reply) ?? [];
      if (!json) throw explainSilence(ours, `${program.output()} ${reply}`);
      return Object.values(JSON.parse(json)); // of none, {}
    },
    async countClients() {
      const [, count] = /connected_clients:(\d+)/.exec(await ask(ours, ['INFO', 'clients'])) ?? [];
      return Number(count) - 1; // ourselves left out
    },
    stop: () => program.stop(),
  };
}

const explainSilence = (port, output) =>
  new Undecided({
    got: `The Redis server that was started on port ${port} answers nothing. It printed: ${output || 'nothing'}`,
    why: 'Without it nothing can be decided.',
    try: `redis-server --port ${port}`,
  });

async function answersPing(port) {
  return (await ask(port, ['PING'], PING_MS)).startsWith('+PONG');
}

/**
 * One short command over a connection of its own.
 * @param {number} port
 * @param {string[]} words
 * @returns {Promise<string>}  the reply as it comes over the wire; nothing when there is none
 */
function ask(port, words, limitMs = REPLY_MS) {
  const command = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('');
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`*${words.length}\r\n${command}`));
    socket.setTimeout(limitMs, () => socket.destroy());
    socket.on('data', (data) => {
      resolve(String(data));
      socket.destroy();
    });
    socket.on('error', () => {}); // refused; 'close' follows
    socket.on('close', () => resolve(''));
  });
}
