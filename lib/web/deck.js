/**
 * The deck: slides/NN-slug/slides.md rendered, one chapter a file, in order. A chapter whose front matter has a `question` is
 * opened by it. Slides are divided by `---`; a slide's heading may
 * end in `{minutes=20 steps large}` (steps: the items of its lists come one by one; large: it is short, so all of it is set larger), and one that begins with "Your turn" is an
 * exercise; what follows a paragraph "Note:" is for the speaker. A code block whose first line says `js file=... lines=1-3|5` has a focus in steps, and with `starter` is made of the starter's region first; one that says
 * `demo name` is a live demo, and its text says what is to be seen (`vote=2`: it answers the second row of the chapter's vote); `spot name` shows an answer of the catalogue as a change,
 * and Run has it judged; `repository` becomes the address of the workshop, or, where it has none, is read as it stands. An image that is an SVG of slides/ becomes part of
 * the page, its groups with data-step coming one by one; vote-NAME.svg and answer-NAME.svg have the same boxes, in which the
 * hands of the room are counted. A slide whose text begins in bold has a large number (headline.js).
 *
 * @typedef {object} Slide
 * @property {string} id  NN-slug-3
 * @property {string} heading  plain text
 * @property {number} minutes
 * @property {string} html
 * @property {string} notes  HTML
 * @property {string[]} demos  names
 * @property {boolean} [isLarge]  set larger than others
 * @property {boolean} [isOpener]  made of the chapter's title and question, not written
 *
 * @typedef {object} Chapter
 * @property {string} key
 * @property {string} title
 * @property {Slide[]} slides
 * @property {number} minutes  of all its slides
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseAbout } from '../lessons/about.js';
import { chapterKeys, keyPattern } from '../lessons/catalog.js';
import { refreshDocument } from '../lessons/documents.js';
import { placesOf } from '../lessons/places.js';
import { hasCode } from '../common/files.js';
import { splitFrontMatter } from '../lessons/front-matter.js';
import { UsageError } from '../common/usage-error.js';
import { escapeHtml, focusSteps, highlight, measureOf } from './code.js';
import { codeFigure, createMarkdown, fileOf, makeCornersCells } from './markdown.js';
import { missingIn, setHeadline, withItsStep } from './headline.js';
import { openerOf } from './opener.js';
import { repositoryOf } from './repository.js';
import { readSpot } from './spots.js';
import { starterCode } from './starter-code.js';

/**
 * @param {string} root
 * @returns {Chapter[]}
 * @throws {UsageError}  that names the file, for a stale quote, a missing diagram, a slide without a heading or minutes
 */
export function readDeck(root) {
  const keys = chapterKeys(root);
  if (keys.length === 0)
    throw new UsageError('There are no slides.', 'They are written in slides/NN-slug/slides.md.');
  const lessons = keys.filter((key) => existsSync(join(root, placesOf(key).about)));
  return keys.map((key) => readChapter(root, key, lessons));
}

function readChapter(root, key, lessons) {
  const path = placesOf(key).slides;
  if (!keyPattern.test(key)) throw faultIn(path, 'Its folder is not named NN-slug.');
  if (refreshDocument(root, path).stale.length > 0)
    throw faultIn(path, 'It quotes code that has changed.', 'npm run sync');
  const { values, text } = splitFrontMatter(readFileSync(join(root, path), 'utf8'), path);
  if (!values.title) throw faultIn(path, 'Its front matter has no title.');
  const { title, question } = values;
  const slides = renderSlides(text, { root, path, key });
  const minutes = slides.reduce((sum, slide) => sum + slide.minutes, 0);
  const about = lessons.includes(key) ? readAbout(root, key) : undefined;
  if (question) slides.unshift(openerOf({ key, title, question, lessons, about }));
  return { key, title, slides, minutes };
}

function readAbout(root, key) {
  const { about } = placesOf(key);
  return parseAbout(readFileSync(join(root, about), 'utf8'), about);
}

const faultIn = (path, fault, mend = 'lib/web/deck.js says how a slide is written.') =>
  new UsageError(`${path}: ${fault}`, mend);

/** @typedef {{ root: string, path: string, key: string }} Source */

/** @returns {Slide[]} */
function renderSlides(text, /** @type {Source} */ source) {
  const context = { ...source, demos: /** @type {string[]} */ ([]) };
  const markdown = createMarkdown({
    fence: (token) => renderFence(token, context),
    image: (token) => renderImage(token, context),
  });
  const render = (tokens) => markdown.renderer.render(tokens, markdown.options, {});
  return splitTokens(markdown.parse(text, {})).map((tokens, index) => {
    context.demos = [];
    const { content, notes, isStepwise, ...about } = anatomy(tokens, source, index + 1);
    if (isStepwise) makeStepwise(content);
    makeCornersCells(content);
    const { large, numbers } = setHeadline(content);
    const html = withItsStep(render(content), large);
    const missing = missingIn(html, numbers);
    if (missing)
      throw faultIn(source.path, `"${about.heading}": ${missing} isn't in its diagram or table.`);
    const id = `${source.key}-${index + 1}`;
    return { id, ...about, html, notes: render(notes), demos: context.demos };
  });
}

/** At each `---` that stands by itself: one inside code or a list divides nothing. */
function splitTokens(tokens) {
  /** @type {import('markdown-it').Token[][]} */
  const parts = [[]];
  for (const token of tokens) {
    if (token.type === 'hr' && token.level === 0) parts.push([]);
    else parts[parts.length - 1].push(token);
  }
  return parts;
}

/** Heading, content, notes. */
function anatomy(tokens, { path }, number) {
  const [open, inline] = tokens;
  if (open?.type !== 'heading_open') throw faultIn(path, `Slide ${number} begins with no heading.`);
  const [, heading, settings = ''] = /^(.*?)(?:\s*\{([^}]*)\})?$/.exec(inline.content) ?? [];
  const minutes = Number(/\bminutes=([\d.]+)/.exec(settings)?.[1]);
  if (!(minutes > 0)) throw faultIn(path, `Slide ${number}, "${heading}", has no {minutes=...}.`);
  const last = inline.children.at(-1);
  last.content = last.content.replace(/\s*\{[^}]*\}$/, '');
  open.tag = tokens[2].tag = 'h1';
  const note = tokens.findIndex(
    ({ type, content, level }) => type === 'inline' && level === 1 && content === 'Note:',
  );
  if (note < 0) throw faultIn(path, `Slide ${number}, "${heading}", has no "Note:".`);
  const isStepwise = /\bsteps\b/.test(settings);
  const isLarge = /\blarge\b/.test(settings);
  const [content, notes] = [tokens.slice(0, note - 1), tokens.slice(note + 2)];
  return { heading, minutes, isStepwise, isLarge, content, notes };
}

function makeStepwise(tokens) {
  for (const token of tokens)
    if (token.type === 'list_item_open') token.attrJoin('class', 'fragment');
}

function renderFence({ info, content }, context) {
  const [language, ...settings] = info.trim().split(/\s+/);
  if (language === 'demo') return renderDemo(settings, content.trim(), context);
  if (language === 'spot') return renderSpot(settings[0], content.trim(), context);
  if (language === 'repository') return renderRepository(content.trim(), context);
  const text = content.replace(/\n$/, '');
  const lines = /\blines=(\S+)/.exec(info)?.[1];
  const file = fileOf(info);
  const rows = text.split('\n');
  const steps = lines ? [...focusSteps(lines, rows.length), ''] : []; // at last all of them
  const starter = starterCode(context.root, info);
  if (starter) steps.unshift(''); // it has become the solution
  const before = starter && highlight(starter, language, 'line old');
  const marks = steps.map((step) => `<i class="fragment focus" data-lines="${step}"></i>`).join('');
  const measure = measureOf(starter ? [...rows, ...starter.split('\n')] : rows);
  return codeFigure({ html: highlight(text, language), measure, before, marks, file });
}

function renderDemo([name, ...settings], text, context) {
  if (!name || text === '')
    throw faultIn(context.path, 'A demo needs a name, and a text that says what is to be seen.');
  context.demos.push(name);
  const [, row] = /\bvote=(\d+)/.exec(settings.join(' ')) ?? [];
  const vote = row ? ` data-vote="${row}"` : '';
  return (
    `<figure class="demo" data-demo="${escapeHtml(name)}"${vote}><div class="desk">` +
    `<button type="button" class="run">Run</button><p class="status" role="status">${escapeHtml(text)}</p></div>` +
    `${row ? '<p class="said" hidden></p>' : ''}<div class="stage"></div></figure>\n`
  );
}

/** Where the workshop can be had, or, where nobody knows, the block's own sentence. */
function renderRepository(text, { root }) {
  const address = repositoryOf(root);
  if (!address) return `<p>${escapeHtml(text)}</p>\n`;
  return `<p class="address">${escapeHtml(address)}</p>\n`;
}

/** Somebody's change, and what judges it. */
function renderSpot(name, text, context) {
  const { root, key, path } = context;
  try {
    const { demo, figures } = readSpot(root, key, name);
    return figures.map(codeFigure).join('') + renderDemo([demo], text, context);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw faultIn(path, error.message, error.hint);
  }
}

/** An SVG becomes part of the page, where the theme colours it; other images are not on slides. */
function renderImage(token, { root, path }) {
  const source = String(token.attrGet('src'));
  const file = posix.join(dirname(path), source);
  try {
    const svg = readFileSync(join(root, file), 'utf8').replace(/^<\?xml[^>]*>\s*/, '');
    const alt = escapeHtml(token.content);
    const [, ballot] = /^(vote|answer)-/.exec(posix.basename(file)) ?? [];
    const kind = ballot ? ` data-ballot="${ballot}"` : '';
    return svg
      .replace('<svg', `<svg class="diagram"${kind} role="img" aria-label="${alt}"`)
      .replaceAll(/ data-step="(\d+)"/g, ' class="fragment" data-fragment-index="$1"');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw faultIn(path, `There is no diagram ${file}.`);
  }
}
