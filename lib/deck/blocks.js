/** Renders the blocks of a slide: code, a demo, a spot, a list of the plan's lessons, a diagram. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { renderSVG } from 'uqr';
import { hasCode } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';
import { escapeHtml, focusSteps, highlight, widthClassOf } from '../web/code.js';
import { codeFigure, quotedFile } from '../web/markdown.js';
import { repositoryOf } from './repository-address.js';
import { readSpot } from './spots.js';
import { starterCode } from './starter-code.js';

/**
 * @typedef {object} Context  of a chapter; rendering a block adds facts about its slide
 * @property {string} root
 * @property {string} path  of the chapter's slides.md
 * @property {string} key
 * @property {import('./read-deck.js').Front[]} lessons  of the plan
 * @property {string[]} demos  on this slide
 * @property {boolean} isSolution  it shows code of the lesson's solution
 * @property {boolean} isAnswer  it gives away the answer to a vote
 */

/** A fault in a chapter's slides. @param {string} path @param {string} fault @param {string} [mend] */
export const faultIn = (path, fault, mend = 'lib/deck/read-deck.js says how a slide is written.') =>
  new UsageError(`${path}: ${fault}`, mend);

/** @param {{ info: string, content: string }} token  a fence @param {Context} context @returns {string}  HTML */
export function renderFence({ info, content }, context) {
  const [language, ...settings] = info.trim().split(/\s+/);
  if (language === 'demo') return renderDemo(settings, content.trim(), context);
  if (language === 'spot') return renderSpot(settings[0], content.trim(), context);
  if (language === 'repository') return renderRepository(content.trim(), context);
  if (language === 'lessons') return renderLessons(settings[0], context);
  const text = content.replace(/\n$/, '');
  const lines = /\blines=(\S+)/.exec(info)?.[1];
  const file = quotedFile(info);
  context.isSolution ||= file?.startsWith('solutions/') ?? false;
  const rows = text.split('\n');
  const steps = lines ? [...focusSteps(lines, rows.length), ''] : []; // the last step shows all of them
  const starter = starterCode(context.root, info);
  if (starter) steps.unshift(''); // the first step turns it into the solution
  const before = starter && highlight(starter, language, 'line old');
  const marks = steps.map((step) => `<i class="fragment focus" data-lines="${step}"></i>`).join('');
  const width = widthClassOf(starter ? [...rows, ...starter.split('\n')] : rows);
  return codeFigure({ html: highlight(text, language), width, before, marks, file });
}

function renderDemo(/** @type {string[]} */ [name, ...settings], text, context) {
  if (!name || text === '')
    throw faultIn(context.path, 'A demo needs a name, and a text that says what is to be seen.');
  context.demos.push(name);
  const [, row] = /\bvote=(\d+)/.exec(settings.join(' ')) ?? [];
  const [, result] = /\bresult="([^"]+)"/.exec(settings.join(' ')) ?? [];
  const vote = row ? ` data-vote="${row}" data-result="${escapeHtml(result ?? '')}"` : '';
  return (
    `<figure class="demo" data-demo="${escapeHtml(name)}"${vote}><div class="desk">` +
    `<button type="button" class="run">Run</button><p class="status" role="status">${escapeHtml(text)}</p></div>` +
    `${row ? '<p class="said" hidden></p>' : ''}<div class="stage"></div></figure>\n`
  );
}

/** The workshop's public address, and a QR code of it for phones; if it has none, the block's own sentence. */
function renderRepository(text, { root }) {
  const address = repositoryOf(root);
  if (!address) return `<p>${escapeHtml(text)}</p>\n`;
  const label = `role="img" aria-label="The same address as a QR code"`;
  const code = renderSVG(address, { border: 4 }).replace('<svg ', `<svg class="qr" ${label} `);
  return `<p class="address">${escapeHtml(address)}${code}</p>\n`;
}

/** A change to the solution, the promises that it may break (a line `- ...` each), and the demo that judges it. */
function renderSpot(name, text, context) {
  const { root, key, path } = context;
  context.isSolution = true;
  try {
    const { demo, figures } = readSpot(root, key, name);
    const lines = text.split('\n').filter(Boolean);
    const [options, words] = [true, false].map((is) =>
      lines.filter((one) => /^- /.test(one) === is),
    );
    const items = options.map((one) => `<li>${escapeHtml(one.slice(2))}</li>`);
    const choice = items.length > 0 ? `<ol class="options">${items.join('')}</ol>` : '';
    return figures.map(codeFigure).join('') + choice + renderDemo([demo], words.join(' '), context);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw faultIn(path, error.message, error.hint);
  }
}

function renderLessons(/** @type {string} */ what, { lessons, path }) {
  if (!['question', 'build'].includes(what))
    throw faultIn(path, `"lessons ${what ?? ''}" lists neither questions nor what you build.`);
  const rows = lessons.map(
    (one) =>
      `<tr><td>${Number(one.key.slice(0, 2))}</td><td>${escapeHtml(one[what] ?? '')}</td></tr>`,
  );
  const size = lessons.length > 7 ? ' class="many"' : '';
  return `<table${size}><tbody>${rows.join('')}</tbody></table>\n`;
}

/** Embeds a diagram, an SVG, so that the theme colours it. @param {any} token @param {Context} context @returns {string}  HTML */
export function renderImage(token, context) {
  const { root, path } = context;
  const source = String(token.attrGet('src'));
  const file = posix.join(dirname(path), source);
  try {
    const svg = readFileSync(join(root, file), 'utf8').replace(/^<\?xml[^>]*>\s*/, '');
    const alt = escapeHtml(token.content);
    const [, ballot] = /^(vote|answer)-/.exec(posix.basename(file)) ?? [];
    context.isAnswer ||= ballot === 'answer';
    const kind = ballot ? ` data-ballot="${ballot}"` : '';
    return svg
      .replace('<svg', `<svg class="diagram"${kind} role="img" aria-label="${alt}"`)
      .replaceAll(/ data-step="(\d+)"/g, ' class="fragment" data-fragment-index="$1"');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw faultIn(path, `There is no diagram ${file}.`);
  }
}
