/** A scene under load as one SVG file that needs nothing else: availability, latency and workers over time, the blows marked. */
import { MOST_NUMBERED, firstBroken } from './scene-strip.js';
import { allVisible } from './visible.js';

const [WIDTH, HEIGHT] = [960, 470];
const [LEFT, RIGHT] = [110, 20];
const LONGEST = 120; // characters in a line
const MOST_SECONDS = 20; // marks on the axis
const PANELS = {
  answered: { top: 90, height: 70 },
  latency: { top: 190, height: 100 },
  workers: { top: 320, height: 60 },
};
const STYLE = `text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:18px;font-weight:600}.dim{fill:#666}
.blow{fill:#f2c14e;opacity:.28}.ok{fill:#3a9d5d}.lost{fill:#c8322b}.p50{stroke:#2d6cdf}.p99{stroke:#8a4fd0}
.line{fill:none;stroke-width:2}.staff{fill:#5b7083}.axis{stroke:#999}.broken{stroke:#c8322b;stroke-width:2;stroke-dasharray:4 3}`;

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
    text(LEFT, 28, title, 'title'),
    ...blowMarks(blows, x),
    ...answeredPanel(slices, (index) => x(index * sliceMs), x(sliceMs) - x(0)),
    ...latencyPanel(slices, (index) => x((index + 0.5) * sliceMs)),
    ...workersPanel(scene, (index) => x(index * sliceMs), x(sliceMs) - x(0)),
    ...secondsAxis(slices.length * sliceMs, x),
  ];
  if (broken) parts.push(...brokenWords(broken));
  if (broken?.ms !== undefined) parts.push(momentMark(x(broken.ms - startMs)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}">
<style>${STYLE}</style><rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}

const scaleOf = (/** @type {number} */ totalMs) => (/** @type {number} */ ms) =>
  LEFT + (Math.max(0, Math.min(ms, totalMs)) / totalMs) * (WIDTH - LEFT - RIGHT);

function blowMarks(blows, x) {
  const [top, bottom] = [PANELS.answered.top - 10, PANELS.workers.top + PANELS.workers.height];
  return blows.flatMap(({ name, how, fromMs, toMs }, index) => [
    `<rect class="blow" x="${at(x(fromMs))}" y="${top}" width="${at(Math.max(2, x(toMs) - x(fromMs)))}" height="${bottom - top}"><title>${escape(how)}</title></rect>`,
    ...(blows.length <= MOST_NUMBERED
      ? [text(x(fromMs), index % 2 ? 70 : 54, `${index + 1} ${name}`)]
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
    text(10, top + 20, 'latency'),
    text(10, top + 38, 'p99, p50', 'dim'),
    text(10, top + 56, `to ${Math.round(slowestMs)} ms`, 'dim'),
    ...[line('p50'), line('p99')],
  ];
}

function workersPanel({ slices, most }, x, width) {
  const { top, height } = PANELS.workers;
  const highest = Math.max(most, ...slices.map(({ workers }) => workers));
  return [
    text(10, top + 20, 'workers'),
    text(10, top + 38, `${most} in calm`, 'dim'),
    ...slices.map(({ workers }, index) => {
      const tall = (workers / highest) * height;
      return bar('staff', x(index), top + height - tall, width, tall);
    }),
  ];
}

function secondsAxis(totalMs, x) {
  const y = PANELS.workers.top + PANELS.workers.height;
  const all = Math.floor(totalMs / 1_000);
  const step = Math.ceil(all / MOST_SECONDS);
  const seconds = Array.from({ length: Math.floor(all / step) + 1 }, (_, mark) => mark * step);
  return [
    `<line class="axis" x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}"/>`,
    ...seconds.map((second) => text(x(second * 1_000), y + 18, `${second} s`, 'dim')),
  ];
}

const brokenWords = ({ sentence, got }) => [
  text(LEFT, HEIGHT - 28, `✖ ${cut(sentence)}`, 'lost'),
  text(LEFT, HEIGHT - 10, cut(got), 'lost'),
];

const cut = (/** @type {string} */ says) =>
  says.length > LONGEST ? `${says.slice(0, LONGEST)}...` : says;

const momentMark = (/** @type {number} */ x) =>
  `<line class="broken" x1="${at(x)}" y1="${PANELS.answered.top - 10}" x2="${at(x)}" y2="${HEIGHT - 46}"/>`;

const bar = (name, x, y, width, height) =>
  `<rect class="${name}" x="${at(x)}" y="${at(y)}" width="${at(width + 0.2)}" height="${at(height)}"/>`;

const text = (/** @type {number} */ x, /** @type {number} */ y, says, name = '') =>
  `<text x="${at(x)}" y="${y}"${name && ` class="${name}"`}>${escape(says)}</text>`;

const at = (/** @type {number} */ value) => Math.round(value * 10) / 10;

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (/** @type {string} */ value) => value.replace(/[&<>"]/g, (sign) => ESCAPES[sign]);
