/** Renders the text of a lesson; of HTML it may contain folded answers only. */
import { posix } from 'node:path';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { escapeHtml, highlight, widthClassOf } from '../web/code.js';
import { codeFigure, createMarkdown, quotedFile, demoteEmptyHeaders } from '../web/markdown.js';

const FOLDED = /^<details><summary>([^<]*)<\/summary>\s*$/;
const LESSON = /^lessons\/(\d\d-[a-z0-9-]+)\/README\.md$/;

/** @param {import('../lessons/catalog.js').Lesson} lesson  @returns {string} HTML */
export function renderText({ key, text }) {
  const image = (token) => renderImage(token, key);
  const fence = (token) => renderFence(token, key);
  const markdown = createMarkdown({ fence, image }, { html: true });
  const { rules } = markdown.renderer;
  rules.html_block = (tokens, index) => folded(tokens[index].content);
  rules.html_inline = (tokens, index) => escapeHtml(tokens[index].content);
  rules.table_open = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table>';
  rules.table_close = () => '</table></div>';
  const tokens = markdown.parse(text, {});
  demoteEmptyHeaders(tokens);
  for (const token of tokens) pointLinks(token.children ?? [], key);
  return markdown.renderer.render(tokens, markdown.options, {});
}

function folded(content) {
  const [, summary] = FOLDED.exec(content.trim()) ?? [];
  if (summary !== undefined) return `<details class="answer"><summary>${summary}</summary>\n`;
  return content.trim() === '</details>' ? '</details>\n' : escapeHtml(content);
}

function renderFence({ info, content }, key) {
  const [language] = info.trim().split(/\s+/);
  const text = content.replace(/\n$/, '');
  const file = quotedFile(info)?.replace(lessonPaths(key).starter, `lessons/${key}`); // the learner's copy
  return codeFigure({
    html: highlight(text, language),
    width: widthClassOf(text.split('\n')),
    file,
  });
}

/** The class gives a diagram its white ground. */
function renderImage(token, key) {
  const source = `/lessons/${key}/${token.attrGet('src')}`;
  return `<img class="diagram" src="${escapeHtml(source)}" alt="${escapeHtml(token.content)}">`;
}

/** Links to a lesson lead to its page, links to a file become its name, and links elsewhere send no referrer. */
function pointLinks(children, key) {
  for (const [index, token] of children.entries()) {
    if (token.type !== 'link_open') continue;
    const href = String(token.attrGet('href'));
    if (/^[a-z]+:/.test(href)) token.attrSet('rel', 'noreferrer');
    else if (!href.startsWith('#')) pointLocally(children, index, posix.join('lessons', key, href));
  }
}

function pointLocally(children, index, path) {
  const [, other] = LESSON.exec(path) ?? [];
  if (other) return children[index].attrSet('href', `/lessons/${other}/`);
  const close = children.findIndex(({ type }, at) => at > index && type === 'link_close');
  for (const at of [index, close]) children[at].tag = 'code';
  children[index].attrs = [['title', path]];
}
