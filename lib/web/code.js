/** Highlights code on the server, with a span for each line, so that a slide can focus on lines. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import { UsageError } from '../common/usage-error.js';

const WIDE_COLUMNS = 76;
const NARROW_COLUMNS = 62;
const TALL_ROWS = 13;

hljs.registerLanguage('js', javascript);
hljs.registerLanguage('sh', bash);

/**
 * @param {string} text @param {string} language  js, sh, or anything else for plain text
 * @param {string} [kind]  the class of a line @returns {string}  HTML: a `<span class="line">` for each line
 */
export function highlight(text, language, kind = 'line') {
  const isKnown = hljs.getLanguage(language) !== undefined;
  const html = isKnown ? hljs.highlight(text, { language }).value : escapeHtml(text);
  return splitLines(html)
    .map((line) => `<span class="${kind}">${line || ' '}</span>`)
    .join('\n');
}

/** Closes a span at the end of a line, and opens it again on the next: a comment may have several lines. */
function splitLines(html) {
  let open = [];
  return html.split('\n').map((line) => {
    const start = open.join('');
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop();
      else open = [...open, tag];
    }
    return start + line + '</span>'.repeat(open.length);
  });
}

/**
 * The lines in focus at each step of `lines=1-3|5,7-9`.
 * @param {string} steps @param {number} count  of lines @returns {string[]}  each as "1 2 3"
 * @throws {UsageError}  if it is no such list, or names a missing line
 */
export function focusSteps(steps, count) {
  return steps.split('|').map((step) =>
    step
      .split(',')
      .flatMap((range) => {
        const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
        const [from, to] = [Number(first), Number(last)];
        if (from >= 1 && from <= to && to <= count)
          return Array.from({ length: to - from + 1 }, (_, index) => from + index);
        throw new UsageError(
          `"lines=${steps}" asks for line ${range || '""'} of ${count}.`,
          'Write lines as in lines=1-3|5',
        );
      })
      .join(' '),
  );
}

/**
 * The class of a block of code: `wide` sets long or many lines close and wraps them, `narrow` allows a larger font.
 * @param {string[]} lines @returns {'wide' | 'narrow' | ''}
 */
export function widthClassOf(lines) {
  const columns = Math.max(...lines.map((line) => line.length));
  if (lines.length > TALL_ROWS || columns > WIDE_COLUMNS) return 'wide';
  return columns <= NARROW_COLUMNS ? 'narrow' : '';
}

/** @param {string} text */
export function escapeHtml(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (sign) => names[sign]);
}
