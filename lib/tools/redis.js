/**
 * A real Redis server on 127.0.0.1, without disk, which ends with the run.
 * @typedef {{ url: string, port: number, program: import('../observe/program.js').Program }} Redis  url: for REDIS_URL; program: while it
 *   is frozen, connections stay open and get no answer; once it is stopped, all data is lost
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reservePort } from '../observe/ports.js';
import { demandTool } from './tools.js';
import { Undecided } from '../verdict/outcome.js';

const READY_MS = 10_000;
const PING_MS = 500;
const POLL_MS = 10;

/**
 * @param {(options: { entry: string, args: string[], isNative: true }) => Promise<import('../observe/program.js').Program>} launch
 * @param {{ port?: number }} [options]  port: a free one by default
 * @returns {Promise<Redis>}  ready for commands @throws {Undecided}  when it isn't installed or doesn't start
 */
export async function startRedis(launch, { port } = {}) {
  const entry = demandTool('redis');
  const ours = port ?? (await reservePort());
  const args = ['--port', String(ours), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const program = await launch({ entry, args, isNative: true });
  const deadline = performance.now() + READY_MS;
  while (!(await answersPing(ours))) {
    if (program.fate || performance.now() > deadline) throw explainSilence(ours, program.output());
    await sleep(POLL_MS);
  }
  return { url: `redis://127.0.0.1:${ours}`, port: ours, program };
}

const explainSilence = (port, output) =>
  new Undecided({
    got: `The Redis server that was started on port ${port} doesn't answer. It printed: ${output || 'nothing'}`,
    why: 'Without it nothing can be decided.',
    try: `redis-server --port ${port}`,
  });

function answersPing(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(PING_MS, () => socket.destroy());
    socket.on('data', (data) => {
      resolve(String(data).startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('error', () => {}); // refused; 'close' follows
    socket.on('close', () => resolve(false));
  });
}
