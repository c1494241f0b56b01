/**
 * Renders the deck: slides/NN-slug/slides.md, a chapter each, in order. For a plan it has that plan's chapters, and day.js fits
 * them to the day.
 *
 * Front matter: `title`; `question` makes an opener; `build` says what a lesson's class builds; `short` is the name on the ribbon.
 * Slides are divided by `---`. A heading ends in settings: `{minutes=20 steps large}` (steps: list items appear one by one;
 * large: larger type), `{read}` (only on paper) or `answer` (not on the learners' paper). "Your turn" in the heading makes an
 * exercise. The paragraphs after "Note:" are the speaker's (notes.js); "**Bridge:** ..." in them leads to the next lesson of
 * the whole deck.
 *
 * Blocks: `js file=... lines=1-3|5` has a focus in steps, and with `starter` begins as the starter's code. `demo name` is a live
 * demo, its text the question; `vote=2` gives it the votes in the second row of the chapter's vote, and `result="* of 120"`
 * compares them with the result in its last sentence. `spot name` shows an answer of the catalogue as a change, and Run judges
 * it. `lessons question` and `lessons build` list the plan's lessons. `repository` becomes the workshop's address. An SVG becomes
 * part of the page; its groups with data-step appear in steps. vote-NAME.svg and answer-NAME.svg have the same boxes, which show
 * the votes. A text that begins in bold is a large number (headline.js).
 *
 * @typedef {object} Slide
 * @property {string} id  NN-slug-3
 * @property {string} heading  plain text
 * @property {number} minutes
 * @property {string} html
 * @property {string} notes  HTML
 * @property {string[]} demos  names
 * @property {boolean} [isLarge]  in larger type
 * @property {boolean} [isOpener]  generated
 * @property {boolean} [isReading]  only on paper
 * @property {boolean} [isSolution]  it shows code of the lesson's solution
 * @property {boolean} [isAnswer]  it gives away the answer to a vote or a measurement
 *
 * @typedef {{ key: string, title: string, question?: string, build?: string, short?: string }} Front
 *
 * @typedef {object} Chapter
 * @property {string} key
 * @property {string} title
 * @property {Slide[]} slides  on the wall
 * @property {Slide[]} pages  also those only on paper
 * @property {number} minutes
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chapterKeys, keyPattern } from '../lessons/catalog.js';
import { refreshDocument } from '../lessons/documents.js';
import { splitFrontMatter } from '../lessons/front-matter.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { UsageError } from '../common/usage-error.js';
import { faultIn, renderFence, renderImage } from './blocks.js';
import { fitIntoDay } from './day.js';
import { missingIn, setHeadline } from './headline.js';
import { createMarkdown, demoteEmptyHeaders } from '../web/markdown.js';
import { setNotes } from './notes.js';
import { planNamed } from './plans.js';

/**
 * @param {string} root
 * @param {string} [plan]  its name; default: the whole deck
 * @returns {Chapter[]}
 * @throws {UsageError}  for a fault in a file, which it names (a stale quote, a missing diagram ...), or an unknown plan
 */
export function readDeck(root, plan) {
  const has = plan ? planNamed(plan).has : () => true;
  const keys = chapterKeys(root);
  if (keys.length === 0)
    throw new UsageError('There are no slides.', 'They are written in slides/NN-slug/slides.md.');
  const sources = keys.map((key) => readSource(root, key));
  const shown = sources.filter(({ front }) => has(Number(front.key.slice(0, 2))));
  const lessons = shown
    .map(({ front }) => front)
    .filter(({ key }) => existsSync(join(root, lessonPaths(key).about)));
  const chapters = shown.map((source) => renderChapter(source, { root, lessons }));
  return fitIntoDay(chapters, { root, plan, keys, fronts: sources.map(({ front }) => front) });
}

/** @returns {{ path: string, front: Front, text: string }} */
function readSource(/** @type {string} */ root, /** @type {string} */ key) {
  const path = lessonPaths(key).slides;
  if (!keyPattern.test(key)) throw faultIn(path, 'Its folder is not named NN-slug.');
  if (refreshDocument(root, path).stale.length > 0)
    throw faultIn(path, 'It quotes code that has changed.', 'npm run sync');
  const { values, text } = splitFrontMatter(readFileSync(join(root, path), 'utf8'), path);
  if (!values.title) throw faultIn(path, 'Its front matter has no title.');
  const { title, question, build, short } = values;
  return { path, front: { key, title, question, build, short }, text };
}

/** @returns {Chapter} */
function renderChapter({ path, front, text }, { root, lessons }) {
  const { key, title } = front;
  const pages = renderSlides(text, { root, path, key, lessons });
  const slides = pages.filter(({ isReading }) => !isReading);
  const minutes = slides.reduce((sum, slide) => sum + slide.minutes, 0);
  return { key, title, slides, pages, minutes };
}

/** @returns {Slide[]} */
function renderSlides(/** @type {string} */ text, source) {
  /** @type {import('./blocks.js').Context} */
  const context = { ...source };
  const markdown = createMarkdown({
    fence: (token) => renderFence(token, context),
    image: (token) => renderImage(token, context),
  });
  const render = (tokens) => markdown.renderer.render(tokens, markdown.options, {});
  return splitTokens(markdown.parse(text, {})).map((tokens, index) => {
    Object.assign(context, { demos: [], isSolution: false, isAnswer: false });
    const { content, notes, isStepwise, ...about } = anatomy(tokens, source, index + 1);
    if (isStepwise) makeStepwise(content);
    demoteEmptyHeaders(content);
    const numbers = setHeadline(content);
    const html = render(content);
    const missing = missingIn(html, numbers);
    if (missing)
      throw faultIn(source.path, `"${about.heading}": ${missing} isn't in its diagram or table.`);
    const { demos, isSolution } = context;
    if (about.isReading && demos.length > 0)
      throw faultIn(source.path, `"${about.heading}" is only read, and has a demo.`);
    const isAnswer = about.isAnswer || context.isAnswer || numbers.length > 0;
    const id = `${source.key}-${index + 1}`;
    const isVote = html.includes('data-ballot="vote"');
    const spoken = setNotes(render(notes), isVote);
    return { id, ...about, html, notes: spoken, demos, isSolution, isAnswer };
  });
}

/** Splits at each top-level `---`, not at one in code or a list. */
function splitTokens(tokens) {
  /** @type {import('markdown-it').Token[][]} */
  const parts = [[]];
  for (const token of tokens) {
    if (token.type === 'hr' && token.level === 0) parts.push([]);
    else parts[parts.length - 1].push(token);
  }
  return parts;
}

function anatomy(tokens, { path }, number) {
  const [open, inline] = tokens;
  if (open?.type !== 'heading_open') throw faultIn(path, `Slide ${number} begins with no heading.`);
  const [, heading, settings = ''] = /^(.*?)(?:\s*\{([^}]*)\})?$/.exec(inline.content) ?? [];
  const [isReading, isStepwise, isLarge, isAnswer] = ['read', 'steps', 'large', 'answer'].map(
    (word) => new RegExp(`\\b${word}\\b`).test(settings),
  );
  const minutes = isReading ? 0 : Number(/\bminutes=([\d.]+)/.exec(settings)?.[1]);
  if (!isReading && !(minutes > 0))
    throw faultIn(path, `Slide ${number}, "${heading}", has no {minutes=...}.`);
  const last = inline.children.at(-1);
  last.content = last.content.replace(/\s*\{[^}]*\}$/, '');
  open.tag = tokens[2].tag = 'h1';
  const note = tokens.findIndex(
    ({ type, content, level }) => type === 'inline' && level === 1 && content === 'Note:',
  );
  if (note < 0) throw faultIn(path, `Slide ${number}, "${heading}", has no "Note:".`);
  const [content, notes] = [tokens.slice(0, note - 1), tokens.slice(note + 2)];
  return { heading, minutes, isReading, isStepwise, isLarge, isAnswer, content, notes };
}

function makeStepwise(tokens) {
  for (const token of tokens)
    if (token.type === 'list_item_open') token.attrJoin('class', 'fragment');
}
