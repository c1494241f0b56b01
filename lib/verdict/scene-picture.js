/** A scene under load as one SVG file that needs nothing else: availability, latency and workers over time, the blows marked. */
import { MOST_NUMBERED, firstBroken, legendOf } from './scene-strip.js';
import { wrap } from './terminal.js';
import { allVisible } from './visible.js';

const WIDTH = 640; // the page shows it at 550 px, beside the text
const [LEFT, RIGHT] = [96, 20];
const COLUMNS = 70; // of a line of words
const LONGEST = 3 * COLUMNS; // characters of a sentence
const MOST_SECONDS = 12; // marks on the axis
const LINE = 21;
const PANELS = {
  answered: { top: 74, height: 56 },
  latency: { top: 148, height: 88 },
  workers: { top: 254, height: 54 },
};
const WORDS_TOP = 356; // below the axis
const STYLE = `text{font:15px system-ui,sans-serif;fill:#222}.paper{fill:#fff}.title{font-size:19px;font-weight:600}.dim{fill:#5c6570}
.number{font-weight:700}.blow{fill:#f2c14e;opacity:.28}.ok{fill:#3a9d5d}.lost{fill:#c8322b}.p50{stroke:#2d6cdf}.p99{stroke:#8a4fd0}
text.p50{stroke:none;fill:#2d6cdf}text.p99{stroke:none;fill:#8a4fd0}.line{fill:none;stroke-width:2}.staff{fill:#5b7083}
.axis{stroke:#999}.broken{stroke:#c8322b;stroke-width:2;stroke-dasharray:4 3}
@media(prefers-color-scheme:dark){text{fill:#e6e9ec}.paper{fill:#11161c}.dim{fill:#9aa5b1}.lost{fill:#f0645c}.broken{stroke:#f0645c}
.p50{stroke:#6ea8ff}text.p50{fill:#6ea8ff}.p99{stroke:#c39bff}text.p99{fill:#c39bff}.staff{fill:#8296a8}}`;

/**
 * The picture of a check that played a scene.
 * @param {{ scene: import('./scene-strip.js').Scene, seed?: number, verdict: string, promises: import('./outcome.js').PromiseRecord[] }} check
 * @param {number} number  of its lesson @returns {string}  SVG
 */
export const pictureOfCheck = ({ scene, seed, verdict, promises }, number) =>
  scenePicture(scene, {
    title: `Lesson ${number}, seed ${seed}: ${verdict}`,
    broken: allVisible(firstBroken(promises)),
  });

/**
 * @param {import('./scene-strip.js').Scene} scene @param {{ title: string, broken?: import('./scene-strip.js').FirstBroken }} about  title: what was
 *   judged; broken: the first broken promise, and its moment on the timeline's clock
 * @returns {string}  SVG
 */
export function scenePicture(scene, { title, broken }) {
  const { startMs, sliceMs, slices, blows } = scene;
  const x = scaleOf(slices.length * sliceMs);
  const parts = [
    text(10, 28, title, 'title'),
    ...blowMarks(blows, x),
    ...answeredPanel(slices, (index) => x(index * sliceMs), x(sliceMs) - x(0)),
    ...latencyPanel(slices, (index) => x((index + 0.5) * sliceMs)),
    ...workersPanel(scene, (index) => x(index * sliceMs), x(sliceMs) - x(0)),
    ...secondsAxis(slices.length * sliceMs, x),
  ];
  if (broken?.ms !== undefined) parts.push(momentMark(x(broken.ms - startMs)));
  const names = legendOf(blows).replaceAll(' · ', '\u00a0· '); // no line begins with a dot
  const legend = wrap(blows.length > 0 ? `Blows: ${names}` : '', COLUMNS);
  const words = [
    ...legend.map((line) => ({ line, name: '' })),
    ...brokenLines(broken).map((line) => ({ line, name: 'lost' })),
  ];
  parts.push(
    ...words.map(({ line, name }, index) => text(10, WORDS_TOP + index * LINE, line, name)),
  );
  const height = WORDS_TOP + words.length * LINE;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(title)}">
<style>${STYLE}</style><rect width="100%" height="100%" class="paper"/>
${parts.join('\n')}
</svg>
`;
}

const scaleOf = (/** @type {number} */ totalMs) => (/** @type {number} */ ms) =>
  LEFT + (Math.max(0, Math.min(ms, totalMs)) / totalMs) * (WIDTH - LEFT - RIGHT);

function blowMarks(blows, x) {
  const [top, bottom] = [PANELS.answered.top - 10, PANELS.workers.top + PANELS.workers.height];
  return blows.flatMap(({ how, fromMs, toMs }, index) => [
    `<rect class="blow" x="${at(x(fromMs))}" y="${top}" width="${at(Math.max(2, x(toMs) - x(fromMs)))}" height="${bottom - top}"><title>${escape(how)}</title></rect>`,
    ...(blows.length <= MOST_NUMBERED
      ? [text(x(fromMs) + 2, top - 6, String(index + 1), 'number')]
      : []),
  ]);
}

function answeredPanel(slices, x, width) {
  const { top, height } = PANELS.answered;
  return [
    text(10, top + 20, 'answered'),
    ...slices.flatMap(({ asked, failed }, index) => {
      if (asked === 0) return [];
      const lost = failed > 0 ? Math.max(4, (failed / asked) * height) : 0;
      return [
        bar('ok', x(index), top + lost, width, height - lost),
        ...(lost > 0 ? [bar('lost', x(index), top, width, lost)] : []),
      ];
    }),
  ];
}

function latencyPanel(slices, x) {
  const { top, height } = PANELS.latency;
  const slowestMs = Math.max(1, ...slices.map(({ p99Ms }) => p99Ms ?? 0));
  const line = (/** @type {'p50' | 'p99'} */ which) => {
    const points = slices.flatMap((slice, index) => {
      const ms = slice[`${which}Ms`];
      return ms === null ? [] : [`${at(x(index))},${at(top + height * (1 - ms / slowestMs))}`];
    });
    return `<polyline class="line ${which}" points="${points.join(' ')}"/>`;
  };
  return [
    text(10, top + 16, 'latency'),
    text(10, top + 38, `to ${Math.round(slowestMs)} ms`, 'dim'),
    text(10, top + 60, 'p99', 'p99'),
    text(10, top + 82, 'p50', 'p50'),
    ...[line('p50'), line('p99')],
  ];
}

function workersPanel({ slices, most }, x, width) {
  const { top, height } = PANELS.workers;
  const highest = Math.max(most, ...slices.map(({ workers }) => workers));
  return [
    text(10, top + 20, 'workers'),
    text(10, top + 42, `${most} in calm`, 'dim'),
    ...slices.map(({ workers }, index) => {
      const tall = (workers / highest) * height;
      return bar('staff', x(index), top + height - tall, width, tall);
    }),
  ];
}

function secondsAxis(totalMs, x) {
  const y = PANELS.workers.top + PANELS.workers.height;
  const all = Math.floor(totalMs / 1_000);
  const step = Math.max(1, Math.ceil(all / MOST_SECONDS));
  const seconds = Array.from({ length: Math.floor(all / step) + 1 }, (_, mark) => mark * step);
  return [
    `<line class="axis" x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}"/>`,
    ...seconds.map((second) => text(x(second * 1_000) - 8, y + 20, `${second} s`, 'dim')),
  ];
}

const brokenLines = (/** @type {import('./scene-strip.js').FirstBroken | undefined} */ broken) =>
  broken ? [`✖ ${broken.sentence}`, broken.got].flatMap((says) => wrap(cut(says), COLUMNS)) : [];

const cut = (/** @type {string} */ says) =>
  says.length > LONGEST ? `${says.slice(0, LONGEST)}...` : says;

const momentMark = (/** @type {number} */ x) =>
  `<line class="broken" x1="${at(x)}" y1="${PANELS.answered.top - 10}" x2="${at(x)}" y2="${PANELS.workers.top + PANELS.workers.height + 28}"/>`;

const bar = (name, x, y, width, height) =>
  `<rect class="${name}" x="${at(x)}" y="${at(y)}" width="${at(width + 0.2)}" height="${at(height)}"/>`;

const text = (/** @type {number} */ x, /** @type {number} */ y, says, name = '') =>
  `<text x="${at(x)}" y="${y}"${name && ` class="${name}"`}>${escape(says)}</text>`;

const at = (/** @type {number} */ value) => Math.round(value * 10) / 10;

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (/** @type {string} */ value) => value.replace(/[&<>"]/g, (sign) => ESCAPES[sign]);
