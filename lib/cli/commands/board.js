import { networkInterfaces } from 'node:os';
import { listLessons } from '../../lessons/catalog.js';
import { UsageError } from '../../common/usage-error.js';
import { quoted } from '../../common/nearest.js';
import { BOARD_PORT, REPORT_IN_WORDS } from '../../board/reports.js';
import { parseAddress } from '../address.js';
import { parse, parsePort } from '../args.js';
import { interrupted } from '../interrupt.js';

const options = /** @type {const} */ ({
  host: { type: 'string' },
  port: { type: 'string' },
});

/** `board`: shows where each learner is; without --host for this machine only. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const { values } = parse(argv, options, io.env, 0);
  const port = parsePort(values.port, BOARD_PORT);
  const host = hostOf(values.host);
  const { serveBoard } = await import('../../board/serve.js');
  const { root } = io;
  const board = await serveBoard({ root, lessons: listLessons(root), host, port });
  const stopped = interrupted();
  io.stdout.write(boardLines(board, host));
  await stopped;
  await board.close();
  return 0;
}

/**
 * The facts about a board for the instructor.
 * @param {import('../../board/serve.js').Board} board @param {string | undefined} host  where learners join from other machines
 */
export const boardLines = ({ url, address, code }, host) =>
  `The board, for this machine only: ${url}\n` +
  `To join, a learner types this, and chooses a name:\n\n` +
  `  npm start -- --join ${address} ${code}\n\n` +
  `${host ? '' : `${onlyHere()}\n\n`}` +
  `It hears this from a learner, unencrypted, and nothing else:\n  ${REPORT_IN_WORDS}.\n` +
  'Use a network that you trust. No file leaves a machine, and nothing is kept:\n' +
  'stop it with Ctrl-C, and all is forgotten. The next code will be new.\n';

/** An address of this machine, as it was typed. @param {string | undefined} host @throws {UsageError} */
export function hostOf(host) {
  if (host === undefined) return undefined;
  const { address, why } = parseAddress(host);
  if (address) return address;
  throw new UsageError(
    `${quoted(host)} ${why}.`,
    `Name the one by which learners reach this machine${known(' (it has ', ')')}.`,
  );
}

const addresses = () =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);

const known = (/** @type {string} */ before, /** @type {string} */ after) =>
  addresses().length > 0 ? `${before}${addresses().join(', ')}${after}` : '';

function onlyHere() {
  const [address = '192.168.1.20'] = addresses();
  return `Only this machine can join. For a class: npm run board -- --host ${address}`;
}
