import { wrap } from './terminal.js';

const SHADES = [' ', '░', '▒', '▓', '█'];

/**
 * Which process executed requests: a row for each process, a column for each slice of time. @returns {string[]}
 * @param {import('../observe/timeline.js').Request[]} requests  in order of their start @param {Map<number, string>} names  by pid
 * @param {number} columns  of the terminal
 */
export function drawTimeline(requests, names, columns) {
  if (requests.length === 0) return ['  No request was executed, so there is nothing to draw.'];
  const fromMs = requests[0].startMs;
  const toMs = Math.max(...requests.map(({ startMs, endMs }) => endMs ?? startMs + 1));
  const nameOf = (pid) => names.get(pid) ?? `process ${pid}`;
  const pids = [...new Set(requests.map(({ pid }) => pid))];
  pids.sort((a, b) => nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true }));
  const margin = Math.max(...pids.map((pid) => nameOf(pid).length)) + 3;
  const slices = Math.max(20, Math.min(100, columns - margin - 4));
  const lanes = pids.map((pid) =>
    laneOf(
      requests.filter((one) => one.pid === pid),
      { fromMs, toMs, slices },
    ),
  );
  const drawn = pids.map(
    (pid, index) => `  ${nameOf(pid).padEnd(margin - 2)}|${lanes[index].drawn}|`,
  );
  const words = pids.map((pid, index) => `  ${nameOf(pid)}: ${lanes[index].words}`);
  const legend =
    `One column is ${((toMs - fromMs) / slices).toFixed(1)} ms; the darker, the more time it spent executing requests. ` +
    `${requests.length} requests in ${((toMs - fromMs) / 1000).toFixed(2)} s.`;
  return [...drawn, '', ...wrap(legend, columns - 4).map((line) => `  ${line}`), ...words];
}

function laneOf(requests, { fromMs, toMs, slices }) {
  const busy = union(requests.map(({ startMs, endMs }) => [startMs, endMs ?? toMs]));
  const width = (toMs - fromMs) / slices;
  const drawn = Array.from({ length: slices }, (_, index) => {
    const share = lengthWithin(busy, fromMs + index * width, fromMs + (index + 1) * width) / width;
    return SHADES[Math.ceil(share * (SHADES.length - 1) - 0.01)];
  });
  const busyMs = lengthWithin(busy, fromMs, toMs);
  const share = Math.round((busyMs / (toMs - fromMs)) * 100);
  return {
    drawn: drawn.join(''),
    words: `${requests.length} requests, busy ${share} % of the time`,
  };
}

function union(intervals) {
  const joined = [];
  for (const [start, end] of intervals) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

function lengthWithin(intervals, fromMs, toMs) {
  return intervals.reduce(
    (sum, [start, end]) => sum + Math.max(0, Math.min(end, toMs) - Math.max(start, fromMs)),
    0,
  );
}
