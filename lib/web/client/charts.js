/** The numbers under an X-ray: measurements, charts, and its table. */
import { make } from './elements.js';

/** Replaces the element of the same name, or appends a new one. */
export function put(place, name, element) {
  element.dataset.name = name;
  const before = place.querySelector(`[data-name="${CSS.escape(name)}"]`);
  if (before) before.replaceWith(element);
  else place.append(element);
}

const NARROW = '\u00a0'; // "95 %" stays on one line

const round = (number) => number.toFixed(Math.abs(number) < 100 ? 2 : 0);

export function measurementOf({ label, value, low, high, ceiling, unit }) {
  if (high === null) return make('p', { textContent: `${label}: not enough measured yet` }); // JSON knows no Infinity
  const element = make('div', { className: 'measurement' });
  const interval = low === undefined ? '' : ` (95${NARROW}%: ${round(low)} to ${round(high)})`;
  const above = ceiling === undefined ? '' : `, ceiling ${round(ceiling)}`;
  const line = make('p', { textContent: `${label}: ` });
  line.append(make('b', { textContent: `${round(value)} ${unit}` }), `${interval}${above}`);
  element.append(line);
  if (ceiling !== undefined)
    element.append(barOf({ name: label, value, most: ceiling, words: `${round(value)} ${unit}` }));
  return element;
}

/**
 * @param {object} chart @param {string} chart.label @param {string} chart.unit
 * @param {{ name: string, value: number, isLoss?: boolean }[]} chart.rows  isLoss: should be 0
 * @param {number} [chart.most]  the value of a full bar
 */
export function chartOf({
  label,
  unit,
  rows,
  most = Math.max(...rows.map(({ value }) => value), 1),
}) {
  const element = make('div', { className: 'chart' });
  const table = make('table', {});
  table.setAttribute('aria-label', label);
  element.append(make('p', { textContent: label }), table);
  for (const { name, value, isLoss } of rows) {
    const row = make('tr', {});
    const words = `${Number.isInteger(value) ? value : value.toFixed(2)} ${unit}`;
    const head = make('th', { textContent: name, scope: 'row' });
    const bar = make('td', {});
    bar.append(barOf({ name, value, most, words, isLoss }));
    row.append(head, bar, make('td', { textContent: words }));
    table.append(row);
  }
  return element;
}

function barOf({ name, value, most, words, isLoss = false }) {
  const bar = make('div', { className: isLoss ? 'bar loss' : 'bar' });
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', `${name}: ${words}`);
  const length = make('i', {});
  length.style.width = `${Math.min(100, (100 * value) / Math.max(most, 1e-9)).toFixed(2)}%`;
  bar.append(length);
  return bar;
}

const HEADS = {
  name: 'process',
  pid: 'pid',
  connections: 'connections',
  requests: 'requests',
  answered: 'answered',
  end: 'end',
};

export function tableOf(rows) {
  const head = make('tr', {});
  head.append(
    ...Object.values(HEADS).map((textContent) => make('th', { textContent, scope: 'col' })),
  );
  const lines = rows.map((row) => {
    const line = make('tr', {});
    line.append(...Object.keys(HEADS).map((key) => make('td', { textContent: String(row[key]) })));
    return line;
  });
  return [head, ...lines];
}
