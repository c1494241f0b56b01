/**
 * The large number of a slide: its first paragraph, when that begins in bold, as in
 *
 *     **4.02** times as fast (95 %: 3.86 to 4.17)
 *     2 cores (AMD EPYC), Node 20.20.2, 20 November 2026
 *
 * What is bold is set large; below it stands what it is a number of, with its interval, and where it was measured. It is a
 * quote: each number of its first line has to stand in the slide's diagram or table, too. It is alone on the slide until the
 * diagram's first step (theme.css).
 */

/** @typedef {import('markdown-it').Token} Token */

const HEADING = 3; // tokens

/**
 * Sets the large number of a slide, if it has one.
 * @param {Token[]} tokens  of the slide, from its heading on
 * @returns {string[]}  the numbers of its line; none where it has no large number
 */
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

/**
 * @param {string} html  of the whole slide
 * @param {string[]} numbers  of its large number's line
 * @returns {string | undefined}  the first that stands nowhere else on the slide
 */
export function missingIn(html, numbers) {
  const rest = html.replace(/<p class="headline.*?<\/p>/s, '').replace(/<[^>]*>/g, ' ');
  return numbers.find((number) => !rest.split(/[^\d.,]+/).some((one) => plain(one) === number));
}

/** Without the stop or comma that ends a sentence. */
const plain = (/** @type {string} */ text) => text.replace(/[.,]+$/, '');
