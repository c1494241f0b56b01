/**
 * Formats a verdict for a terminal: pure functions from records to lines.
 * @typedef {{ name: string, label: string, value: number, low?: number, high?: number, ceiling?: number, unit: string,
 *   formula?: { value: number, says: string }, note?: string, isHeadline?: boolean, controlPerSecond?: number,
 *   candidatePerSecond?: number }} Measurement  a number with its 95 % interval; ceiling: the highest possible value; formula: a
 *   computed value; note: why the number says little; isHeadline: the number that the learner predicts
 * @typedef {{ name: string, label: string, unit: string, rows: { name: string, value: number }[], most?: number, note?: string }}
 *   Chart  numbers with bars; most: the value of a full bar on a slide, shared by charts side by side; note: what to look for
 */
import { cut } from './visible.js';

const BAR_COLUMNS = 32;
const NARROWEST = 24;
const DOTS = ' [...]';
export const FIELD_LINES = 4; // of each part of a story
const ROUGH = 0.1; // half the interval, as a share of the value

/**
 * One line, or more in a narrow terminal. @param {import('./outcome.js').PromiseRecord} promise
 * @param {{ number: number, of: number }} place @param {import('./style.js').Style} style @param {number} [columns]  of the terminal
 */
export function promiseLine({ verdict, sentence }, { number, of }, style, columns = Infinity) {
  const { sign, paint } = {
    passed: { sign: '✔ ', paint: style.green },
    failed: { sign: '✖ failed: ', paint: style.red },
    inconclusive: { sign: '? undecided: ', paint: style.yellow },
    skipped: { sign: '· not reached: ', paint: style.dim },
  }[verdict];
  const place = `  [${number}/${of}] `;
  const text = wrap(sign + sentence, columns - place.length)
    .join(`\n${' '.repeat(place.length)}`)
    .slice(sign.length);
  return `${place}${paint(sign)}${verdict === 'skipped' ? style.dim(text) : text}`;
}

/**
 * A promise with expected, got and why; what to try is added if `isTold`, or if the promise is undecided. @returns {string[]}
 * @param {import('./outcome.js').PromiseRecord} promise @param {{ isTold?: boolean, most?: number }} help  most: lines of each part
 * @param {import('./style.js').Style} style @param {number} columns  of the terminal
 */
export function promiseDetails(
  { sentence, ...record },
  { isTold = false, most = FIELD_LINES },
  style,
  columns,
) {
  const isHelped = isTold || record.verdict === 'inconclusive';
  const names = ['expected', 'got', 'why', ...(isHelped ? ['try'] : [])];
  const lines = names
    .filter((name) => record[name])
    .flatMap((name) => {
      const lines = wrap(cut(record[name]), columns - 14);
      const shown = lines.slice(0, most);
      if (shown.length < lines.length)
        shown[most - 1] = `${shown[most - 1].slice(0, columns - 14 - DOTS.length)}${DOTS}`;
      const [first, ...rest] = shown;
      return [
        `    ${style.bold(name.padEnd(10))}${first}`,
        ...rest.map((line) => ' '.repeat(14) + line),
      ];
    });
  const head = wrap(sentence, columns - 2).map((line) => `  ${style.bold(line)}`);
  return [...head, ...lines];
}

/**
 * A number with its interval, and a bar against the ceiling. @param {Measurement} measurement @returns {string[]}
 * @param {{ prediction?: number, before?: number, longer?: string, style: import('./style.js').Style }} options  longer: the
 *   command for a more exact measurement, or ''
 */
export function measurementLines(
  measurement,
  { prediction, before, longer = 'npm run check -- --longer', style },
) {
  const { label, value, low, high, ceiling, unit, formula, isHeadline, note } = measurement;
  const unitText = unitInWords(unit);
  const roughness = roughnessOf(measurement);
  if (roughness === 'unknown') {
    const most = Number.isFinite(high) ? `and ${format(high)} ` : '';
    const range = `${most ? 'somewhere between' : 'more than'} ${format(low)} ${most}${unitText}`;
    const lines = [`  ${label}`, `    ${range}: too rough to tell`];
    return note || longer
      ? [...lines, `    ${style.yellow(note ?? `measure longer: ${longer}`)}`]
      : lines;
  }
  const interval = low === undefined ? '' : `  (95 % interval ${format(low)} to ${format(high)})`;
  const lines = [`  ${label}`, `    ${style.bold(`${format(value)} ${unitText}`)}${interval}`];
  if (roughness && !note)
    lines.push(`    ${style.yellow(roughness + (longer && `; measure longer: ${longer}`))}`);
  if (ceiling !== undefined) lines.push(`    ${bar(value, ceiling)} ceiling ${format(ceiling)}`);
  const { controlPerSecond: from, candidatePerSecond: to } = measurement;
  if (from !== undefined) lines.push(`    from ${format(from)} to ${format(to)} requests/s`);
  if (note) lines.push(`    ${style.yellow(note)}`);
  if (formula) lines.push(`    computed: ${format(formula.value)} ${unitText} (${formula.says})`);
  if (before !== undefined) lines.push(`    last time: ${format(before)}`);
  if (isHeadline && prediction !== undefined)
    lines.push(`    ${judgePrediction(prediction, { value, low, high, note, unit })}`);
  return lines;
}

/**
 * How rough a measurement is, in words; undefined if it is exact within ROUGH, 'unknown' for a ratio between half and twice.
 * @param {Pick<Measurement, 'value' | 'low' | 'high' | 'unit'>} measurement @returns {string | undefined}
 */
export function roughnessOf({ value, low, high, unit }) {
  if (low === undefined || high === undefined) return undefined;
  if (unit === 'times' && !(low > 0.5 || high < 2)) return 'unknown';
  const half = (high - low) / 2 / value;
  if (half <= ROUGH) return undefined;
  return Number.isFinite(half) ? `rough: give or take ${Math.round(half * 100)} %` : 'rough';
}

/**
 * The greatest number fills its bar. @param {Chart} chart @param {import('./style.js').Style} style @returns {string[]}
 */
export function chartLines({ label, unit, rows, note }, style) {
  const most = Math.max(...rows.map(({ value }) => value));
  const names = Math.max(...rows.map(({ name }) => name.length));
  const values = rows.map(({ value }) => (Number.isInteger(value) ? String(value) : format(value)));
  const width = Math.max(...values.map((value) => value.length));
  const lines = rows.map(({ name, value }, index) => {
    const filled = '█'.repeat(most > 0 ? Math.round((value / most) * BAR_COLUMNS) : 0);
    return `    ${name.padEnd(names)}  ${values[index].padStart(width)} ${unit}  ${filled}`.trimEnd();
  });
  return [`  ${label}`, ...lines, ...(note ? [`    ${style.dim(note)}`] : [])];
}

function bar(value, ceiling) {
  const filled = Math.round(Math.min(1, value / ceiling) * BAR_COLUMNS);
  return '█'.repeat(filled) + '░'.repeat(BAR_COLUMNS - filled);
}

/**
 * Compares a prediction with the measurement, in words. Inside a wide interval it is neither right nor wrong. @returns {string}
 * @param {number} prediction @param {Pick<Measurement, 'value' | 'low' | 'high' | 'note' | 'unit'>} measurement
 */
export function judgePrediction(prediction, { value, low = value, high = value, note, unit }) {
  const off = prediction / value;
  const isNear = off > 0.9 && off < 1.1;
  const isWithin = prediction >= low && prediction <= high;
  const more = value > prediction ? 'more' : 'less';
  const words = note
    ? 'this measurement says nothing about it'
    : isNear
      ? 'well predicted'
      : isWithin
        ? 'it cannot be told apart from what was measured here'
        : `${more} than you predicted; find out why`;
  return `you predicted ${format(prediction)} ${unit}: ${words}`;
}

/** @param {string} unit  of a measurement */
export const unitInWords = (unit) => (unit === 'times' ? 'times as fast' : unit);

/** Three significant digits, at most two of them decimals. @param {number} [value] */
export function format(value = NaN) {
  if (!Number.isFinite(value)) return 'unknown';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(digits, 2));
}

/** Breaks text into lines at its spaces; its own line breaks stay. @param {string} text @param {number} columns @returns {string[]} */
export function wrap(text, columns) {
  const room = Math.max(NARROWEST, columns);
  return text.split('\n').flatMap((paragraph) => {
    const lines = [''];
    for (const word of paragraph.split(' ')) {
      const line = lines[lines.length - 1];
      if (line !== '' && line.length + 1 + word.length > room) lines.push(word);
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
    return lines;
  });
}
