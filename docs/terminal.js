/** What a command printed in colour, as an SVG: light and dark, with the reader's own monospaced font. */
import { stripVTControlCharacters } from 'node:util';
import { escapeHtml } from '../lib/web/code.js';

const [LINE, CHARACTER, MARGIN] = [20, 8.43, 20];
const ESCAPE = '\u001b[';
/** @type {Record<string, string>} */
const STYLES = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
/** @type {Record<string, string[]>} */
const ENDS = { 22: ['bold', 'dim'], 39: ['red', 'green', 'yellow', 'cyan'] };

/**
 * @param {string} text  with the escape codes of lib/verdict/style.js
 * @param {string} title  for whoever does not see it
 * @returns {string}
 */
export function drawTerminal(text, title) {
  const lines = text.trimEnd().split('\n');
  const widths = lines.map((line) => stripVTControlCharacters(line).length);
  const width = Math.ceil(Math.max(...widths) * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  /** @type {Set<string>} */
  const styles = new Set();
  const rows = lines.map(
    (line, index) =>
      `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE}">${spans(line, styles)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
<title>${escapeHtml(title)}</title>
<style>
rect { fill: #fff; stroke: #c9d2dc; } text { fill: #1b2430; white-space: pre; font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
.bold { font-weight: 700; } .dim { fill: #4d5a6a; } .red { fill: #b42318; } .green { fill: #116329; } .yellow { fill: #8a4b00; } .cyan { fill: #0b5cad; }
@media (prefers-color-scheme: dark) {
rect { fill: #11161d; stroke: #3a4655; } text { fill: #e8edf3; }
.dim { fill: #a9b5c4; } .red { fill: #ff8f84; } .green { fill: #57c978; } .yellow { fill: #f2b45c; } .cyan { fill: #6cb6ff; }
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
${rows.join('\n')}
</svg>
`;
}

/** @param {string} line  @param {Set<string>} styles  those in force, changed by the line */
function spans(line, styles) {
  const [first, ...rest] = line.split(ESCAPE);
  const parts = rest.map((part) => {
    const [, code, text] = /^(\d+)m([^]*)$/.exec(part) ?? ['', '', part];
    if (STYLES[code]) styles.add(STYLES[code]);
    for (const name of ENDS[code] ?? []) styles.delete(name);
    return span(text, styles);
  });
  return [span(first, styles), ...parts].join('');
}

function span(/** @type {string} */ text, /** @type {Set<string>} */ styles) {
  if (text === '' || styles.size === 0) return escapeHtml(text);
  return `<tspan class="${[...styles].join(' ')}">${escapeHtml(text)}</tspan>`;
}
