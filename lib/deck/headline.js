/**
 * The large number of a slide: the bold words that begin its first paragraph, as in
 *
 *     **4.02** times as fast (95 %: 3.86 to 4.17)
 *     2 cores (AMD EPYC), Node 20.20.2, 20 November 2026
 *
 * It is a quote: the slide's diagram or table must contain each number of the first line. It stands alone on the slide until
 * the diagram's first step (theme.css).
 */

/** @typedef {import('markdown-it').Token} Token */

const HEADING = 3; // tokens

/** @param {Token[]} tokens  of a slide, from its heading on @returns {string[]}  the numbers of its headline, if any */
export function setHeadline(tokens) {
  const [open, inline] = tokens.slice(HEADING);
  const [line] = (inline?.content ?? '').split('\n');
  const [, large = ''] = /^\*\*([^*]*\d[^*]*)\*\*/.exec(line) ?? [];
  if (open?.type !== 'paragraph_open' || !large) return [];
  open.attrJoin('class', 'headline');
  const children = inline.children ?? [];
  const end = children.findIndex(({ type }) => type === 'strong_close') + 1;
  const [before, after] = [children.slice(0, end), children.slice(end)];
  for (const one of after) if (one.type === 'softbreak') one.type = 'hardbreak';
  inline.children = [...before, markOf(inline, '<span>'), ...after, markOf(inline, '</span>')];
  return line.match(/\d[\d.,]*\d|\d/g) ?? [];
}

function markOf(/** @type {Token} */ { constructor: Token }, /** @type {string} */ content) {
  return Object.assign(Reflect.construct(Token, ['html_inline', '', 0]), { content });
}

/** The first number that only the headline has. @param {string} html @param {string[]} numbers @returns {string | undefined} */
export function missingIn(html, numbers) {
  const rest = html.replace(/<p class="headline.*?<\/p>/s, '').replace(/<[^>]*>/g, ' ');
  return numbers.find((number) => !rest.split(/[^\d.,]+/).some((one) => plain(one) === number));
}

const plain = (/** @type {string} */ text) => text.replace(/[.,]+$/, '');
