/**
 * The X-ray: what really happened inside a server, drawn as lanes of time. Clients above, below them the processes, in
 * the order in which they came. It takes the messages of lib/deck/perform-demo.js one by one, live or recorded, and draws what
 * they say, at the times that they say; nothing is made up. Used by the deck, and made for the learner's page too.
 *
 *   const xray = createXray(element);
 *   xray.take(message); ...; xray.draw(nowMs); xray.rows()
 *
 * A frame changes only what is new in it: the drawing must not compete with what it shows.
 */
import { arrange, createMemo, spanFor } from './xray-layout.js';
import { createStory, lanesOf, nameOf, rowsOf, tell } from './xray-story.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 396; // unless told
const SHORTEST_MS = 600;
const LAYERS = ['grid', 'lanes', 'handoffs', 'work', 'clients', 'words', 'legend'];
const PATTERNS = ['running', 'lost', 'failed'];
let count = 0;

/**
 * @param {HTMLElement} element  where the drawing is put
 * @param {{ height?: () => number, width?: () => number, hasLegend?: boolean, onPoint?: (words: string, event: PointerEvent) => void,
 *   isStretch?: boolean, sinceMs?: number, moments?: import('./xray-moments.js').Moment[] }} [options]
 *   height: that there is, in px of a drawing of 1168, or of that width; sinceMs: see xray-layout.js; onPoint: told what is pointed
 *   at, and '' afterwards; isStretch: the axis ends with what is drawn, however short that is; moments: no words lie on them
 */
export function createXray(
  element,
  { height = () => HEIGHT, width, hasLegend = true, onPoint, isStretch, sinceMs, moments } = {},
) {
  let story = createStory();
  const expected = createStory();
  const sheet = createSheet(element);
  const widthOf = rulerFor(element);
  const memo = createMemo();
  if (onPoint)
    for (const kind of /** @type {const} */ (['pointerover', 'pointerleave']))
      sheet.svg.addEventListener(kind, (event) => onPoint(sheet.wordsAt(event.target), event));
  /** @type {{ lanes: number, curves: number, asked: any[] } | undefined} */
  let room;
  /** @type {(ms: number) => number} */
  let x = () => 0;
  /** @type {import('./xray-moments.js').Marked[]} */
  let marked = [];
  const expectedMs = () => expected.lastMs - expected.originMs;
  return {
    take: (message) => tell(story, message),
    rows: () => rowsOf(story),
    /** Where a time of the timeline's clock is, in what was drawn last. */
    xOf: (/** @type {number} */ ms) => x(ms),
    /** Where the moments are, in what was drawn last. */
    marked: () => marked,
    /** Begins anew. */
    forget: () => void (story = createStory()),
    /** What was recorded of the same: its lanes stand there before the first event. @param {any[]} messages */
    expect(messages) {
      messages.forEach((message) => tell(expected, message));
      const asked = [...expected.asked.values()];
      room = { lanes: lanesOf(expected).length, curves: expected.curves.size, asked };
    },
    /** @param {number} [nowMs]  on the timeline's clock; without it, nothing more comes, and all that was told is shown */
    draw(nowMs) {
      const isFinal = nowMs === undefined;
      const isEmpty = lanesOf(story).length === 0;
      const shown = isEmpty ? emptyOf(expected) : story;
      const untilMs = Math.max(nowMs ?? 0, shown.lastMs) - shown.originMs;
      const exactMs = isStretch ? untilMs : Math.max(SHORTEST_MS, untilMs);
      const grows = !isStretch && (isEmpty || !isFinal);
      const spanMs = grows ? spanFor(Math.max(exactMs, expectedMs())) : exactMs;
      const now = isEmpty ? shown.originMs : (nowMs ?? story.lastMs);
      const arranged = arrange(shown, {
        height: height(),
        width: width?.(),
        sinceMs,
        moments,
        hasLegend,
        nowMs: now,
        spanMs,
        isFinal: isFinal && !isEmpty,
        isEmpty,
        expected: room,
        memo,
        widthOf,
      });
      ({ x, marked } = arranged);
      sheet.show(arranged);
      if (isFinal) sheet.svg.setAttribute('aria-label', isEmpty ? lanesIn(shown) : words(story));
    },
  };
}

/** @typedef {import('./xray-story.js').Story} Story */

/** The lanes that stand there when it begins, with nothing in them. @param {Story} expected @returns {Story} */
function emptyOf(expected) {
  const { originMs } = expected;
  const lanes = lanesOf(expected);
  const there = lanes.filter(({ bornMs }) => bornMs <= originMs);
  const kept = there.length > 0 ? there : lanes.slice(0, 1);
  const empty = createStory();
  for (const { pid, role, worker, parent, as, called } of kept) {
    const about = { pid, role, worker, parent, as, called, bornMs: originMs };
    empty.processes.set(pid, { ...about, connections: 0, requests: [], silent: [] });
  }
  return Object.assign(empty, { originMs, lastMs: originMs });
}

const lanesIn = (/** @type {Story} */ story) =>
  `X-ray, still empty. ${lanesOf(story).map(nameOf).join('; ')}.`;

/** The same in words, for whoever does not see it. @param {Story} story */
function words(story) {
  const lines = rowsOf(story).map(
    ({ name, requests, end }) => `${name}: ${requests} requests, ${end}`,
  );
  for (const { label, names, points } of story.curves.values())
    for (const [index, name] of names.entries())
      lines.push(
        `${label}, ${name}: at most ${Math.max(...points.map(({ values }) => values[index]))}`,
      );
  const seconds = ((story.lastMs - story.originMs) / 1_000).toFixed(2);
  return `X-ray of ${seconds} s. ${lines.join('; ')}.`;
}

/** The width of words, by the page's own font. @param {HTMLElement} element */
function rulerFor(element) {
  const context = document.createElement('canvas').getContext('2d');
  const known = new Map();
  return (/** @type {string} */ text, /** @type {number} */ size) => {
    const key = `${size} ${text}`;
    if (known.has(key)) return known.get(key);
    context.font = `600 ${size}px ${getComputedStyle(element).fontFamily}`;
    const { width } = context.measureText(text);
    if (document.fonts.status === 'loaded') known.set(key, width); // until then it is another font's
    return width;
  };
}

/** The SVG: each mark is an element that stays for as long as its key comes again. */
function createSheet(element) {
  count += 1;
  const prefix = `xray-${count}`;
  const svg = make('svg', { class: 'xray', role: 'img', 'aria-label': 'X-ray' });
  svg.append(patterns(prefix));
  const layers = new Map(LAYERS.map((name) => [name, make('g', { class: name })]));
  svg.append(...layers.values());
  /** @type {Map<string, { node: SVGElement, at: Record<string, string | number>, text?: string, mark?: object, says?: () => string, frame: number }>} */
  const shown = new Map();
  let frame = 0;
  let size = '';
  const put = (mark) => {
    const { key, layer, tag, at, text, says } = mark;
    let known = shown.get(key);
    if (known?.mark === mark) return void (known.frame = frame);
    if (!known) {
      known = { node: make(tag, {}), at: {}, frame };
      shown.set(key, known);
      layers.get(layer).append(known.node);
    }
    for (const name in at)
      if (at[name] !== known.at[name]) known.node.setAttribute(name, written(at[name]));
    if (at.class !== known.at.class && PATTERNS.includes(at.class))
      known.node.setAttribute('fill', `url(#${prefix}-${at.class})`);
    if (text !== known.text) known.node.textContent = text;
    Object.assign(known, { mark, at, text, says, frame });
  };
  return {
    svg,
    show({ height, width, marks }) {
      frame += 1;
      if (!svg.isConnected) element.replaceChildren(svg);
      const box = `0 0 ${width} ${written(height)}`;
      if (box !== size) svg.setAttribute('viewBox', box);
      size = box;
      for (const mark of marks) put(mark);
      for (const [key, known] of shown)
        if (known.frame !== frame) {
          known.node.remove();
          shown.delete(key);
        }
    },
    wordsAt(target) {
      const found = [...shown.values()].find(({ node }) => node === target);
      return found?.says?.() ?? '';
    },
  };
}

/** Told apart without their colours, too: hatched is under way, cross-hatched is lost. */
function patterns(prefix) {
  const defs = make('defs', {});
  for (const name of PATTERNS) {
    const step = name === 'running' ? 10 : 9;
    const pattern = make('pattern', {
      id: `${prefix}-${name}`,
      class: `pattern-${name}`,
      patternUnits: 'userSpaceOnUse',
      width: String(step),
      height: String(step),
      patternTransform: `rotate(${name === 'running' ? 45 : -45})`,
    });
    const thick = name === 'running' ? '6' : '3';
    pattern.append(
      make('rect', { width: String(step), height: String(step), class: 'ground' }),
      make('rect', { width: thick, height: String(step), class: 'stripe' }),
    );
    defs.append(pattern);
  }
  return defs;
}

const written = (/** @type {string | number} */ value) =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10) : value;

/** @returns {any} */
function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
