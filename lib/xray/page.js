/**
 * An X-ray as one file that needs no other: the findings, the charts, and the timeline, to zoom and pan, drawn as on the learner's page.
 * @typedef {object} Look
 * @property {string} name  of the server @property {string} about  the load and the machine
 * @property {import('./report/tell.js').Section[]} sections @property {import('./report/conclusion.js').Conclusion} conclusion
 * @property {import('../observe/timeline.js').Event[]} events
 * @property {Pick<import('./report/facts.js').Facts, 'silences' | 'hangs' | 'load'>} facts
 */
import { readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NOTHING, doubtOf, headOf } from './report/conclusion.js';
import { escapeHtml } from '../web/code.js';
import { evidenceOf } from '../web/evidence.js';
import { asData } from '../web/page-shell.js';

/** By their paths below lib/. */
const ENTRY = 'xray/client/xray-page.js';
const STYLES = ['web/client/theme.css', 'web/client/learner.css', 'xray/client/xray-page.css'];
const IMPORT = /^(import [^;]*?from )'(\.[\w./-]+\.js)';/gm;
const lib = fileURLToPath(new URL('..', import.meta.url));
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** @param {Look} look @returns {string} */
export function xrayPage({ name, about, sections, conclusion, events, facts }) {
  const moments = conclusion.findings.flatMap((one) => one.moments ?? []);
  const charts = sections.flatMap((one) => one.charts ?? []);
  const timeline = timelineOf(events, moments, facts);
  const styles = STYLES.map((file) => readFileSync(join(lib, file), 'utf8'));
  const title = `X-ray of ${name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(title)}</title>
<style>
${styles.join('\n')}
</style>
<script type="importmap">${asData({ imports: modules() })}</script>
</head>
<body class="learner looked">
<main>
<h1>${escapeHtml(title)}</h1>
<p class="note">${escapeHtml(about)}</p>
${found(conclusion)}
<section id="evidence" aria-labelledby="evidence-title" hidden></section>
${sections.map((section) => shown(section, charts)).join('\n')}
</main>
<script type="application/json" id="data">${asData({ charts, timeline, name, moments })}</script>
<script type="module">import '${ENTRY}';</script>
</body>
</html>
`;
}

/** The drawing's modules, by path, so that they import one another without a server. */
function modules() {
  const found = {};
  const take = (/** @type {string} */ file) => {
    if (found[file]) return;
    found[file] = 'on its way'; // one may import the other
    const text = readFileSync(join(lib, file), 'utf8');
    const pathOf = (/** @type {string} */ name) => posix.join(posix.dirname(file), name);
    for (const [, , other] of text.matchAll(IMPORT)) take(pathOf(other));
    const bare = text.replace(IMPORT, (all, start, other) => `${start}'${pathOf(other)}';`);
    found[file] = `data:text/javascript;base64,${Buffer.from(bare).toString('base64')}`;
  };
  take(ENTRY);
  return found;
}

/** Up to the end of the load, even if the last event was earlier. */
function timelineOf(events, moments, /** @type {Look['facts']} */ { silences, hangs, load }) {
  const evidence = evidenceOf(events, moments);
  const [first] = evidence.events;
  const end = first ? [{ t: load.toMs, pid: /** @type {any} */ (first).pid, what: 'end' }] : [];
  const isHang = (/** @type {{ pid: number, fromMs: number }} */ { pid, fromMs }) =>
    hangs.some((one) => one.pid === pid && one.fromMs === fromMs);
  return {
    ...evidence,
    events: [...evidence.events, ...end],
    silences: silences.map((one) => ({
      ...{ pid: one.pid, sinceMs: one.fromMs },
      untilMs: isHang(one) ? load.toMs : one.fromMs + one.ms,
    })),
  };
}

function found({ findings, undecided, looked }) {
  const items = findings.map(({ says, evidence, see }) => {
    const lesson = see
      ? `<p class="note">Lesson ${see[0]} explains it: <code>npm run try lesson-${see[0]} ${escapeHtml(see[1])}</code></p>`
      : '';
    return `<li><b>${escapeHtml(says)}</b>${listed(evidence)}${lesson}</li>`;
  });
  const doubts = undecided.map(
    (one) => `<p>${escapeHtml(doubtOf(one))}</p>${listed(one.evidence)}`,
  );
  const isClear = findings.length + undecided.length === 0;
  const head = findings.length > 0 ? `<h2>${headOf(findings)}</h2><ol>${items.join('')}</ol>` : '';
  return `<section class="findings">${isClear ? `<p>${NOTHING}</p>` : head}${doubts.join('')}<p class="note">${escapeHtml(looked)}</p></section>`;
}

const listed = (/** @type {string[]} */ evidence) =>
  evidence.length > 0
    ? `<ul>${evidence.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`
    : '';

/** @param {import('./report/tell.js').Section} section @param {unknown[]} all  charts, which the page draws */
function shown({ head, says = [], charts = [], lines = [], adds = [] }, all) {
  const sentences = (/** @type {string[]} */ some) =>
    some.map((one) => `<p>${escapeHtml(one)}</p>`).join('');
  const drawn = charts.map((chart) => `<div data-chart="${all.indexOf(chart)}"></div>`).join('');
  const pre =
    lines.length > 0
      ? `<pre>${escapeHtml(lines.map((line) => line.replace(/^ {2}/, '')).join('\n'))}</pre>`
      : '';
  return `<section><h2>${escapeHtml(head)}</h2>${sentences(says)}${drawn}${pre}${sentences(adds)}</section>`;
}

/** The server's file or command, for the title. */
export const titleOf = (/** @type {import('./launch.js').Order} */ order) =>
  order.isCommand ? [order.entry, ...order.args].join(' ') : basename(order.entry);
