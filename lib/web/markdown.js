/** Renders the Markdown of the deck's slides and the learner's texts. */
import MarkdownIt from 'markdown-it';
import { escapeHtml } from './code.js';

/** @typedef {import('markdown-it').Token} Token */

/**
 * @param {{ fence: (token: Token) => string, image: (token: Token) => string }} rules  render code and pictures as HTML
 * @param {{ html?: boolean }} [options]
 */
export function createMarkdown({ fence, image }, options) {
  const markdown = new MarkdownIt({ html: false, typographer: false, ...options });
  markdown.renderer.rules.fence = (tokens, index) => fence(tokens[index]);
  markdown.renderer.rules.image = (tokens, index) => image(tokens[index]);
  return markdown;
}

/** The file that a block of code quotes, as in `js file=solutions/01-slug/server.js#task`. @param {string} info */
export const fileOf = (info) => /\bfile=([^\s#:]+)/.exec(info)?.[1];

/** @param {{ html: string, measure: string, before?: string, marks?: string, file?: string }} code  html: highlighted lines; measure: see code.js; before: the lines before a change */
export function codeFigure({ html, measure, before, marks = '', file }) {
  const first = before ? `<code class="before" aria-hidden="true">${before}</code>` : '';
  const code = `<pre tabindex="0">${first}<code>${html}</code></pre>`;
  const caption = file ? `<figcaption>${escapeHtml(file)}</figcaption>` : '';
  return `<figure class="${`code ${measure}`.trim()}">${code}${marks}${caption}</figure>\n`;
}

/** Turns the empty corner of a table from a heading into a cell. @param {Token[]} tokens */
export function makeCornersCells(tokens) {
  for (const [index, token] of tokens.entries())
    if (token.type === 'th_open' && tokens[index + 1].content === '')
      token.tag = tokens[index + 2].tag = 'td';
}
