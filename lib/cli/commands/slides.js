import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../common/usage-error.js';
import { parse, parsePort } from '../args.js';
import { BOARD_PORT } from '../../board/reports.js';
import { boardLines, hostOf } from './board.js';
import { interrupted } from '../interrupt.js';
import { resolveNewFile } from '../new-file.js';

const DEFAULT_PORT = 4000;

/**
 * `slides [--port N]`: serves the deck on this machine, until Ctrl-C. `--plan NAME` selects the day, `--start HH:MM` its
 * beginning. `--board ADDRESS` opens the class's board beside it, where learners join at that address of this machine, and vote.
 * `--agenda` prints the run of show; `--pdf FILE`, `--handout FILE`, `--script FILE` and `--html FOLDER` export the deck;
 * `--record` plays every demo and saves its output.
 * @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const options = /** @type {const} */ ({
    port: { type: 'string' },
    agenda: { type: 'boolean' },
    start: { type: 'string' },
    plan: { type: 'string' },
    pdf: { type: 'string' },
    notes: { type: 'boolean' },
    handout: { type: 'string' },
    script: { type: 'string' },
    html: { type: 'string' },
    record: { type: 'boolean' },
    board: { type: 'string' },
  });
  const { values, positionals } = parse(argv, options, io.env, 1);
  const [only] = positionals;
  if (only !== undefined && !values.record)
    throw new UsageError(`"${only}" means nothing here.`, 'Only --record takes a name.');
  const day = await dayOf(values);
  if (values.agenda) return printAgenda(io, day);
  if (values.record) return recordAll(io, only);
  const { plan } = day;
  for (const what of /** @type {const} */ (['pdf', 'handout', 'script'])) {
    const { [what]: name, notes: hasNotes = false } = values;
    if (name !== undefined) return writePaper(io, what, { name, plan, hasNotes });
  }
  if (values.html !== undefined) return writeHtml(io, values.html, plan);
  return serve(io, parsePort(values.port, DEFAULT_PORT), { ...day, host: hostOf(values.board) });
}

async function serve(io, port, { plan, start, host }) {
  const { serveDeck } = await import('../../deck/serve.js');
  const root = resolve(io.root);
  const board = host && (await openBoard(root, host));
  const { url, close } = await serveDeck({ root, port, plan, board }).catch(async (error) => {
    await board?.close();
    throw error;
  });
  const stopped = interrupted();
  io.stdout.write(
    `The deck: ${url}\n` +
      `The speaker's window, in the same browser: ${url}speaker${start === undefined ? '' : `?start=${start}`}\n` +
      `Stop with Ctrl-C.\n${board ? `\n${boardLines(board, host)}` : ''}`,
  );
  preflightReport(root).then((lines) => io.stdout.write(`${lines.join('\n')}\n`));
  await stopped;
  await Promise.all([close(), board?.close()]);
  return 0;
}

async function openBoard(root, host) {
  const { serveBoard } = await import('../../board/serve.js');
  const { listLessons } = await import('../../lessons/catalog.js');
  const another = () => 'Does npm run board run already? Stop it: the slides open it themselves.';
  return serveBoard({ root, lessons: listLessons(root), host, port: BOARD_PORT, another });
}

/** Which demos can run here; a broken demos.js must not keep the deck from being served. */
async function preflightReport(root) {
  const { readDemos } = await import('../../deck/recordings.js');
  const { preflight, preflightLines } = await import('../../deck/preflight.js');
  try {
    const demos = await readDemos(root);
    return preflightLines(preflight(demos), demos.length);
  } catch (/** @type {any} */ error) {
    return [`The demos cannot be read: ${error.message}`];
  }
}

async function recordAll(io, name) {
  const { recordDemos } = await import('../../deck/recordings.js');
  const say = (line) => io.stdout.write(`${line}\n`);
  return (await recordDemos({ root: io.root, name, say })).length > 0 ? 1 : 0;
}

/** @param {'pdf' | 'handout' | 'script'} what */
async function writePaper(io, what, { name, plan, hasNotes }) {
  const example = `npm run slides -- --${what} ${what === 'pdf' ? 'deck' : what}.pdf`;
  const file = resolveNewFile(name, { example });
  const { exportHandout, exportPdf, exportScript } = await import('../../deck/export.js');
  const write = { pdf: exportPdf, handout: exportHandout, script: exportScript }[what];
  const pages = await write({ root: io.root, plan, file, hasNotes, env: io.env });
  io.stdout.write(`${name}: ${pages} pages\n`);
  return 0;
}

async function writeHtml(io, name, plan) {
  if (name === '') throw new UsageError('The folder has no name.', 'npm run slides -- --html deck');
  const folder = resolve(name);
  const parent = nearestExisting(folder);
  if (!isFolder(parent))
    throw new UsageError(`${parent} isn't a folder.`, 'Name an empty folder, or a new one.');
  const { exportHtml } = await import('../../deck/export.js');
  exportHtml({ root: io.root, folder, plan });
  io.stdout.write(`${name}/index.html, for any web server\n`);
  return 0;
}

async function printAgenda(io, { plan, start }) {
  const { readDeck } = await import('../../deck/read-deck.js');
  const { agenda } = await import('../../deck/agenda.js');
  const startMinute = start === undefined ? 0 : minuteOf(start);
  const needs = await needsOf(io.root);
  io.stdout.write(agenda(readDeck(io.root), { needs, startMinute, plan }));
  return 0;
}

async function dayOf(/** @type {any} */ { plan, start }) {
  const { planNamed } = await import('../../deck/plans.js');
  if (plan !== undefined) planNamed(plan);
  if (start !== undefined) minuteOf(start);
  return { plan, start };
}

/** The tools that lesson.yml files name, and whether each is installed. */
async function needsOf(root) {
  const { listLessons } = await import('../../lessons/catalog.js');
  const { describeTool, findTool } = await import('../../tools/tools.js');
  return listLessons(root).flatMap(({ key, needs }) =>
    needs.map((name) => ({ key, ...describeTool(name), isHere: findTool(name) !== undefined })),
  );
}

/** Minutes since midnight: 570 for "09:30". */
function minuteOf(text) {
  const [, hour, minute] = /^(\d{1,2}):(\d\d)$/.exec(text) ?? [];
  if (Number(hour) < 24 && Number(minute) < 60) return Number(hour) * 60 + Number(minute);
  throw new UsageError(`"${text}" isn't a time of day.`, 'Write it as in: --start 09:00');
}

const isFolder = (/** @type {string} */ path) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const nearestExisting = (/** @type {string} */ path) =>
  existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
