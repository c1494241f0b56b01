/**
 * The deck: slides/NN-slug/slides.md rendered, one chapter a file, in order; of a plan, its chapters only, and what they say
 * of the day is the plan's own (day.js). A chapter whose front matter has a `question` is opened by it; `build` says what a
 * lesson's class builds, `short` is its name on the ribbon of the day. Slides are divided by `---`; a slide's heading may
 * end in `{minutes=20 steps large}` (steps: the items of its lists come one by one; large: it is short, so all of it is set larger), or in `{read}`: it is on no wall,
 * but on paper; and `answer` says that it gives an answer away, so learners' paper lacks it. One whose heading begins with "Your turn" is in the class's hands; what follows a paragraph "Note:" is for the speaker, and there a paragraph
 * "**Bridge:** ..." leads to the lesson that comes next in the whole deck. A code block whose first line says `js file=... lines=1-3|5` has a focus in steps, and with `starter` is made of the starter's region first; one that says
 * `demo name` is a live demo, and its text says what is to be seen (`vote=2 result="* of 120"`: it answers the second row of the chapter's vote, with that of its last sentence); `spot name` shows an answer of the catalogue as a change,
 * and Run has it judged; `lessons question` and `lessons build` list those of the plan; `repository` becomes the address of the workshop, or, where it has none, is read as it stands. An image that is an SVG of slides/ becomes part of
 * the page, its groups with data-step coming one by one; vote-NAME.svg and answer-NAME.svg have the same boxes, in which the
 * hands of the room are counted. A slide whose text begins in bold has a large number (headline.js). In the notes "One: ...", "Two: ..." are said at the steps of the slide, and a
 * sentence in brackets after a question is its answer (notes.js).
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
 * @property {boolean} [isReading]  only on paper
 * @property {boolean} [isSolution]  it shows code of the lesson's solution
 * @property {boolean} [isAnswer]  it tells what was voted on or measured
 *
 * @typedef {{ key: string, title: string, question?: string, build?: string, short?: string }} Front
 *
 * @typedef {object} Chapter
 * @property {string} key
 * @property {string} title
 * @property {Slide[]} slides  on the wall
 * @property {Slide[]} pages  these, and in their places those that are only on paper
 * @property {number} minutes  of all its slides
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chapterKeys, keyPattern } from '../lessons/catalog.js';
import { refreshDocument } from '../lessons/documents.js';
import { splitFrontMatter } from '../lessons/front-matter.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { UsageError } from '../common/usage-error.js';
import { faultIn, renderFence, renderImage } from './blocks.js';
import { tellTheDay } from './day.js';
import { missingIn, setHeadline } from './headline.js';
import { createMarkdown, makeCornersCells } from '../web/markdown.js';
import { setNotes } from './notes.js';
import { planNamed } from './plans.js';

/**
 * @param {string} root
 * @param {string} [plan]  the name of one; the whole deck without it
 * @returns {Chapter[]}
 * @throws {UsageError}  that names the file, for a stale quote, a missing diagram, a slide without a heading or minutes; or for a plan that there is not
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
  return tellTheDay(chapters, { root, plan, keys, fronts: sources.map(({ front }) => front) });
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
    makeCornersCells(content);
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
