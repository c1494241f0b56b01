import { resolve } from 'node:path';
import { UsageError } from '../usage-error.js';
import { parse } from './args.js';

const DEFAULT_PORT = 4000;

/**
 * `slides [--port N]`: serves the deck on this machine, until Ctrl-C. `--agenda` prints the run of show.
 *
 * @param {string[]} argv
 * @param {import('./progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const options = /** @type {const} */ ({
    port: { type: 'string' },
    agenda: { type: 'boolean' },
  });
  const { values } = parse(argv, options, io.env, 0);
  if (values.agenda) return printAgenda(io);
  const { serveDeck } = await import('../web/serve.js');
  const { url, close } = await serveDeck({ root: resolve(io.root), port: portOf(values.port) });
  io.stdout.write(
    `The deck: ${url}\nThe speaker's window, in the same browser: ${url}speaker\nStop with Ctrl-C.\n`,
  );
  await new Promise((end) => ['SIGINT', 'SIGTERM'].forEach((name) => process.once(name, end)));
  await close();
  return 0;
}

function portOf(text = String(DEFAULT_PORT)) {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`"${text}" is no port.`, 'Take one from 1024 to 65535, or 0 for any.');
}

async function printAgenda(io) {
  const { readDeck } = await import('../web/deck.js');
  const { agenda } = await import('../web/agenda.js');
  io.stdout.write(agenda(readDeck(io.root)));
  return 0;
}
