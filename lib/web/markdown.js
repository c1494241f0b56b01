/** What slides and lessons share when they turn Markdown into HTML. */
import MarkdownIt from 'markdown-it';
import { escapeHtml } from './code.js';

/** @typedef {import('markdown-it').Token} Token */

/**
 * @param {{ fence: (token: Token) => string, image: (token: Token) => string }} rules  render code and pictures as HTML
 * @param {{ html?: boolean }} [options]
 */
export function createMarkdown({ fence, image }, options = {}) {
  const markdown = new MarkdownIt(options);
  markdown.renderer.rules.fence = (tokens, index) => fence(tokens[index]);
  markdown.renderer.rules.image = (tokens, index) => image(tokens[index]);
  return markdown;
}

/** The file that a block of code quotes, as in `js file=solutions/01-slug/server.js#task`. @param {string} info */
export const quotedFile = (info) => /\bfile=([^\s#:]+)/.exec(info)?.[1];

/**
 * A block of code with the name of its file.
 * @param {{ html: string, width: string, before?: string, marks?: string, file?: string }} code  html: highlighted lines; width:
 *   see widthClassOf in code.js; before: the starter's lines, which a slide shows first; marks: HTML, an element for each step of a slide
 */
export function codeFigure({ html, width, before, marks = '', file }) {
  const first = before ? `<code class="before" aria-hidden="true">${before}</code>` : '';
  const code = `<pre tabindex="0">${first}<code>${html}</code></pre>`;
  const caption = file ? `<figcaption>${escapeHtml(file)}</figcaption>` : '';
  return `<figure class="${`code ${width}`.trim()}">${code}${marks}${caption}</figure>\n`;
}

/** Makes an empty header, such as the corner of a table, a plain cell: it is the header of nothing. @param {Token[]} tokens */
export function demoteEmptyHeaders(tokens) {
  for (const [index, token] of tokens.entries())
    if (token.type === 'th_open' && tokens[index + 1].content === '')
      token.tag = tokens[index + 2].tag = 'td';
}
