/** Code on a slide: highlighted on the server, a span for each line, so that lines can be brought into focus. */
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
 * @param {string} text
 * @param {string} language  js, sh, or anything else for plain text
 * @param {string} [kind]  the class of a line
 * @returns {string}  HTML: a `<span class="line">` for each line
 */
export function highlight(text, language, kind = 'line') {
  const isKnown = hljs.getLanguage(language) !== undefined;
  const html = isKnown ? hljs.highlight(text, { language }).value : escapeHtml(text);
  return splitLines(html)
    .map((line) => `<span class="${kind}">${line || ' '}</span>`)
    .join('\n');
}

/** Spans that go on over a line's end (a long comment) are closed there and opened again. */
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
 * The steps of `lines=1-3|5,7-9`: which lines are in focus, one step after the other.
 * @param {string} steps
 * @param {number} count  lines that there are
 * @returns {string[]}  each as "1 2 3"
 * @throws {UsageError}  for what is no such list, or names a line that is not there
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
 * How code is to be set, by its longest line and its height: `wide`, so that its lines are close and go on below themselves; or
 * `narrow`, so that it can be larger where there is room.
 * @param {string[]} lines
 * @returns {'wide' | 'narrow' | ''}
 */
export function measureOf(lines) {
  const columns = Math.max(...lines.map((line) => line.length));
  if (lines.length > TALL_ROWS || columns > WIDE_COLUMNS) return 'wide';
  return columns <= NARROW_COLUMNS ? 'narrow' : '';
}

/** @param {string} text */
export function escapeHtml(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (sign) => names[sign]);
}
