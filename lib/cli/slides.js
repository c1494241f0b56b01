import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../common/usage-error.js';
import { parse, portOf } from './args.js';

const DEFAULT_PORT = 4000;

/**
 * `slides [--port N]`: serves the deck on this machine, until Ctrl-C. `--agenda` prints the run of show, `--pdf FILE`
 * and `--html FOLDER` export it, `--record` plays every demo and writes it down.
 *
 * @param {string[]} argv
 * @param {import('./progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const options = /** @type {const} */ ({
    port: { type: 'string' },
    agenda: { type: 'boolean' },
    pdf: { type: 'string' },
    notes: { type: 'boolean' },
    html: { type: 'string' },
    record: { type: 'boolean' },
  });
  const { values, positionals } = parse(argv, options, io.env, 1);
  const [only] = positionals;
  if (only !== undefined && !values.record)
    throw new UsageError(`"${only}" means nothing here.`, 'A name stands behind --record only.');
  if (values.agenda) return printAgenda(io);
  if (values.record) return recordAll(io, only);
  if (values.pdf !== undefined) return writePdf(io, values.pdf, values.notes ?? false);
  if (values.html !== undefined) return writeHtml(io, values.html);
  return serve(io, portOf(values.port, DEFAULT_PORT));
}

async function serve(io, port) {
  const { serveDeck } = await import('../web/serve.js');
  const { url, close } = await serveDeck({ root: resolve(io.root), port });
  io.stdout.write(
    `The deck: ${url}\nThe speaker's window, in the same browser: ${url}speaker\nStop with Ctrl-C.\n`,
  );
  await new Promise((end) => ['SIGINT', 'SIGTERM'].forEach((name) => process.once(name, end)));
  await close();
  return 0;
}

async function recordAll(io, name) {
  const { recordDemos } = await import('../web/recordings.js');
  const say = (line) => io.stdout.write(`${line}\n`);
  return (await recordDemos({ root: io.root, name, say })).length > 0 ? 1 : 0;
}

async function writePdf(io, name, hasNotes) {
  const file = resolve(name);
  if (name === '' || existsSync(file))
    throw new UsageError(
      name === '' ? 'The PDF has no name.' : `${name} is there already.`,
      'Name a new file: npm run slides -- --pdf deck.pdf',
    );
  if (!isFolder(dirname(file)))
    throw new UsageError(`There is no folder ${dirname(file)}.`, 'Make it first, or name another.');
  const { exportPdf } = await import('../web/export.js');
  const pages = await exportPdf({ root: io.root, file, hasNotes, env: io.env });
  io.stdout.write(`${name}: ${pages} pages\n`);
  return 0;
}

async function writeHtml(io, name) {
  if (name === '') throw new UsageError('The folder has no name.', 'npm run slides -- --html deck');
  const folder = resolve(name);
  const around = nearestThere(folder);
  if (!isFolder(around))
    throw new UsageError(`${around} is no folder.`, 'Name a folder that is empty, or not there.');
  const { exportHtml } = await import('../web/export.js');
  exportHtml({ root: io.root, folder });
  io.stdout.write(`${name}/index.html, for any web server\n`);
  return 0;
}

async function printAgenda(io) {
  const { readDeck } = await import('../web/deck.js');
  const { agenda } = await import('../web/agenda.js');
  io.stdout.write(agenda(readDeck(io.root)));
  return 0;
}

const isFolder = (/** @type {string} */ path) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The path itself, or what is there of it. */
const nearestThere = (/** @type {string} */ path) =>
  existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
