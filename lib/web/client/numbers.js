/** Numbers as a page shows them: with their interval, their ceiling, and a bar; side by side; as a table. */
import { make } from './page.js';

/** A number with its interval, and a bar against the ceiling. */
export function measurementOf({ label, value, low, high, ceiling, unit }) {
  if (high === null) return make('p', { textContent: `${label}: not enough measured yet` }); // JSON knows no Infinity
  const element = make('div', { className: 'measurement' });
  const round = (number) => number.toFixed(Math.abs(number) < 100 ? 2 : 0);
  const interval = low === undefined ? '' : ` (95 %: ${round(low)} to ${round(high)})`;
  const above = ceiling === undefined ? '' : `, ceiling ${round(ceiling)}`;
  const line = make('p', { textContent: `${label}: ` });
  line.append(make('b', { textContent: `${round(value)} ${unit}` }), `${interval}${above}`);
  element.append(line);
  if (ceiling !== undefined) {
    const meter = make('progress', { max: ceiling, value: Math.min(value, ceiling) });
    meter.setAttribute('aria-label', label);
    element.append(meter);
  }
  return element;
}

/** `most`: the value of a full bar, so that charts side by side can be compared. */
export function chartOf({
  label,
  unit,
  rows,
  most = Math.max(...rows.map(({ value }) => value), 1),
}) {
  const element = make('table', { className: 'chart' });
  element.append(make('caption', { textContent: label }));
  for (const { name, value } of rows) {
    const row = make('tr', {});
    const meter = make('progress', { max: most, value });
    meter.setAttribute('aria-label', name);
    const head = make('th', { textContent: name, scope: 'row' });
    const bar = make('td', {});
    bar.append(meter);
    row.append(
      head,
      bar,
      make('td', { textContent: `${Number.isInteger(value) ? value : value.toFixed(2)} ${unit}` }),
    );
    element.append(row);
  }
  return element;
}

/** What an X-ray draws, as the rows of a table. */
export function tableOf(rows) {
  const heads = {
    name: 'process',
    pid: 'pid',
    connections: 'connections',
    requests: 'requests',
    answered: 'answered',
    end: 'end',
  };
  const head = make('tr', {});
  head.append(
    ...Object.values(heads).map((textContent) => make('th', { textContent, scope: 'col' })),
  );
  return [
    head,
    ...rows.map((row) => {
      const line = make('tr', {});
      line.append(
        ...Object.keys(heads).map((key) => make('td', { textContent: String(row[key]) })),
      );
      return line;
    }),
  ];
}
