/**
 * The X-ray: what really happened inside a server, drawn as lanes of time. Clients above, below them the processes, in
 * the order in which they came. It takes the messages of lib/web/stage.js one by one, live or recorded, and draws what
 * they say, at the times that they say; nothing is made up. Used by the deck, and made for the learner's page too.
 *
 *   const xray = createXray(element);
 *   xray.take(message); ...; xray.draw(nowMs); xray.rows()
 */
import { createStory, heirsOf, lanesOf, nameOf, rowsOf, tell } from './xray-story.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 1168;
const MARGIN = 164; // for the lanes' names
const RIGHT = 36; // the last label of the axis needs it
const HEIGHT = 396; // at the most, so that a slide need not shrink the text
const HEIGHT_ABOVE_NUMBERS = 330;
const HEIGHT_ABOVE_CHART = 300;
const WIDEST_LANE = 72;
const WIDEST_CLIENT = 12;
const CLIENTS_AT_MOST = 130;
const AXIS = 30;
const SHORTEST_MS = 600;

/** @param {HTMLElement} element  where the drawing is put */
export function createXray(element) {
  const story = createStory();
  let highest = HEIGHT;
  return {
    take(message) {
      if (message.measurement) highest = Math.min(highest, HEIGHT_ABOVE_NUMBERS);
      if (message.chart) highest = HEIGHT_ABOVE_CHART;
      tell(story, message);
    },
    rows: () => rowsOf(story),
    /** @param {number} [nowMs]  on the timeline's clock; without it, the last thing that was told */
    draw: (nowMs = story.lastMs) => element.replaceChildren(drawing(story, nowMs, highest)),
  };
}

function drawing(story, nowMs, highest) {
  const { originMs } = story;
  const spanMs = Math.max(SHORTEST_MS, nowMs - originMs, story.lastMs - originMs);
  const share = (ms) => Math.min(1, Math.max(0, (ms - originMs) / spanMs));
  const processes = lanesOf(story);
  const clients = clientRows([...story.asked.values()]);
  const row = Math.min(WIDEST_CLIENT, CLIENTS_AT_MOST / clients.count);
  const top = clients.count > 0 ? Math.max(WIDEST_LANE, clients.count * row + 14) : 0;
  const count = Math.max(1, processes.length);
  const lane = Math.min(WIDEST_LANE, (highest - AXIS - top) / count);
  const yOf = new Map(processes.map((one, index) => [one, top + index * lane]));
  const height = top + count * lane + AXIS;
  const scale = {
    lane,
    bar: lane * 0.6,
    row,
    x: (ms) => MARGIN + share(ms) * (WIDTH - MARGIN - RIGHT),
    seconds: (ms) => `${((ms - originMs) / 1_000).toFixed(2)} s`,
    nowMs: Math.max(nowMs, story.lastMs),
    originMs,
    spanMs,
  };
  const svg = make('svg', {
    viewBox: `0 0 ${WIDTH} ${height}`,
    class: 'xray',
    role: 'img',
    'aria-label': words(story, scale),
  });
  svg.append(...axis(scale, height));
  if (clients.count > 0) svg.append(label('clients', top / 2), ...clientMarks(clients, scale));
  svg.append(...handoffs(story, yOf, scale));
  for (const one of processes) svg.append(...processMarks(one, yOf.get(one), scale));
  svg.append(...gaps(story, yOf, scale));
  return svg;
}

function axis({ x, originMs, spanMs }, height) {
  const step = [100, 200, 500, 1_000, 2_000, 5_000].find((ms) => spanMs / ms <= 10) ?? 10_000;
  const marks = [];
  for (let ms = 0; ms <= spanMs; ms += step) {
    const at = x(originMs + ms);
    marks.push(make('line', { class: 'grid', x1: at, x2: at, y1: 0, y2: height - AXIS }));
    marks.push(text(`${ms / 1_000} s`, { class: 'tick', x: at, y: height - 6 }));
  }
  return marks;
}

/** Each request of a client on the first row that is free. */
function clientRows(asked) {
  const ends = [];
  const rows = asked.map((one) => {
    const free = ends.findIndex((end) => end <= one.fromMs);
    const row = free < 0 ? ends.length : free;
    ends[row] = one.toMs ?? Infinity;
    return { ...one, row };
  });
  return { rows, count: ends.length };
}

/** Hollow while it waits; then a tick or a cross where it ended. */
function clientMarks({ rows }, { x, nowMs, row: height }) {
  return rows.flatMap(({ fromMs, toMs, row, status, error }) => {
    const isFine = !error && status < 400;
    const y = 6 + row * height;
    const width = Math.max(2, x(toMs ?? nowMs) - x(fromMs));
    const box = make('rect', { class: 'waiting', x: x(fromMs), y, width, height: height - 2 });
    if (toMs === undefined) return [box];
    const kind = isFine ? 'done' : 'failed';
    return [box, text(isFine ? '✓' : '✗', { class: kind, x: x(toMs) + 2, y: y + 7 })];
  });
}

/** From the process that accepted to the one that got the connection. */
function handoffs({ handoffs: all }, yOf, { x, lane, bar }) {
  return all
    .filter(({ from, to }) => yOf.has(from) && yOf.has(to))
    .map(({ ms, from, to }) => {
      const y1 = yOf.get(from) + lane / 2;
      const y2 = yOf.get(to) + (lane - bar) / 2;
      return make('line', { class: 'handoff', x1: x(ms), x2: x(ms), y1, y2 });
    });
}

function processMarks(one, y, scale) {
  const { x, nowMs, seconds, lane, bar } = scale;
  const { bornMs, listeningMs, diedMs, silent, requests } = one;
  const end = diedMs ?? nowMs;
  const top = y + (lane - bar) / 2;
  const span = (kind, fromMs, toMs) => {
    const width = Math.max(1.5, x(toMs) - x(fromMs));
    return make('rect', { class: kind, x: x(fromMs), y: top, width, height: bar });
  };
  const marks = [label(nameOf(one), y + lane / 2), span('alive', bornMs, end)];
  if (listeningMs !== undefined) {
    const at = x(listeningMs);
    marks.push(make('line', { class: 'listening', x1: at, x2: at, y1: top, y2: top + bar }));
  }
  for (const { fromMs, toMs } of requests)
    marks.push(span(toMs === undefined ? 'running' : 'served', fromMs, toMs ?? end));
  for (const { fromMs, toMs } of silent.filter((each) => (each.toMs ?? end) > scale.originMs)) {
    marks.push(span('silent', fromMs, toMs ?? end));
    if (toMs === undefined && diedMs === undefined)
      marks.push(says(`silent since ${seconds(fromMs)}`, { x: x(fromMs), y: top - 3 }));
  }
  if (diedMs !== undefined) marks.push(...gravestone(one, x(diedMs), top + bar));
  return marks;
}

function gravestone({ code, signal }, at, bottom) {
  const stone = `M${at} ${bottom} v-12 a8 8 0 0 1 16 0 v12 z`;
  const why = says(signal ?? `exit ${code}`, { x: at, y: bottom - 4, gap: 20 });
  return [make('path', { class: 'grave', d: stone }), why];
}

/** From a death to the moment at which the next one listens. */
function gaps(story, yOf, { x, lane }) {
  return heirsOf(story).flatMap(({ dead, heir }) => {
    const y = yOf.get(heir) + lane / 2;
    const [from, to] = [x(dead.diedMs), x(heir.listeningMs)];
    const gap = `${Math.round(heir.listeningMs - dead.diedMs)} ms until it listens`;
    return [
      make('line', { class: 'gap', x1: from, x2: to, y1: y, y2: y }),
      says(gap, { x: to, y: y - lane / 2 + 6 }),
    ];
  });
}

/** The same in words, for who does not see it. */
function words(story, { seconds }) {
  const lines = rowsOf(story).map(
    ({ name, requests, end }) => `${name}: ${requests} requests, ${end}`,
  );
  return `X-ray of ${seconds(story.lastMs)}. ${lines.join('; ')}.`;
}

/** Words beside a mark; where the drawing ends they stand before it. */
function says(content, { x, y, gap = 8 }) {
  const isAtEnd = x > WIDTH - 220;
  const place = isAtEnd ? { x: x - gap, 'text-anchor': 'end' } : { x: x + gap };
  return text(content, { class: 'says', y, ...place });
}

const label = (name, y) => text(name, { class: 'lane', x: MARGIN - 12, y: y + 7 });

function text(content, attributes) {
  const element = make('text', attributes);
  element.textContent = content;
  return element;
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, typeof value === 'number' ? value.toFixed(1) : value);
  return element;
}
