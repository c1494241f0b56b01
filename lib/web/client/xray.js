/**
 * The X-ray: what happened inside a server, drawn as lanes of time, the clients above the processes. It takes the messages of
 * lib/deck/perform-demo.js one by one, and a frame changes only what is new, to leave the CPU to the server.
 */
import { arrange, createMemo, spanFor } from './xray-layout.js';
import { createStory, lanesOf, nameOf, rowsOf, tell } from './xray-story.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 396; // the default
const SHORTEST_MS = 600;
const LAYERS = ['grid', 'lanes', 'handoffs', 'work', 'clients', 'words', 'legend'];
const PATTERNS = ['running', 'lost', 'failed'];
let count = 0;

/**
 * @param {HTMLElement} element  its content is replaced by the drawing
 * @param {{ height?: () => number, width?: () => number, hasLegend?: boolean, onPoint?: (words: string, event: PointerEvent) => void,
 *   isStretch?: boolean, sinceMs?: number, moments?: import('./xray-moments.js').Moment[] }} [options]
 *   height: in px of the drawing's width; onPoint: gets the words for the mark under the pointer, '' for none; isStretch: the
 *   axis ends with the last event; hasLegend, sinceMs, moments: see xray-layout.js
 */
export function createXray(
  element,
  { height = () => HEIGHT, width, onPoint, isStretch, ...view } = {},
) {
  let story = createStory();
  const expected = createStory();
  const sheet = createSheet(element);
  const widthOf = rulerFor(element);
  const memo = createMemo();
  if (onPoint) followPointer(sheet, onPoint);
  let room;
  let drawn;
  return {
    take: (message) => tell(story, message),
    rows: () => rowsOf(story),
    xOf: (/** @type {number} */ ms) => drawn?.x(ms) ?? 0,
    marked: () => drawn?.marked ?? [],
    forget: () => void (story = createStory()),
    /** Keeps room for the lanes of a recording, and draws them empty until the first process starts. @param {any[]} messages */
    expect(messages) {
      messages.forEach((message) => tell(expected, message));
      room = sizeOf(expected);
    },
    /** @param {number} [nowMs]  on the timeline's clock; without it the story is complete, and all of it is drawn */
    draw(nowMs) {
      const { shown, ...frame } = frameOf(story, { expected, nowMs, isStretch });
      drawn = arrange(shown, {
        ...{ ...view, ...frame, height: height(), width: width?.() },
        ...{ expected: room, memo, widthOf },
      });
      sheet.show(drawn);
      const label = frame.isEmpty ? emptyWords(shown) : words(story);
      if (nowMs === undefined) sheet.svg.setAttribute('aria-label', label);
    },
  };
}

/** @typedef {import('./xray-story.js').Story} Story */

/** @param {ReturnType<typeof createSheet>} sheet */
function followPointer(sheet, onPoint) {
  for (const kind of /** @type {const} */ (['pointerover', 'pointerleave']))
    sheet.svg.addEventListener(kind, (event) => onPoint(sheet.wordsAt(event.target), event));
}

/** What a drawing of this story needs room for. @param {Story} story */
const sizeOf = (story) => ({
  lanes: lanesOf(story).length,
  curves: story.curves.size,
  asked: [...story.asked.values()],
});

/**
 * The story of the next frame and its place on the axis; until the first process starts, the lanes that are expected.
 * @param {Story} story @param {{ expected: Story, nowMs?: number, isStretch?: boolean }} options
 */
function frameOf(story, { expected, nowMs, isStretch }) {
  const isLast = nowMs === undefined;
  const isEmpty = lanesOf(story).length === 0;
  const shown = isEmpty ? emptyOf(expected) : story;
  const untilMs = Math.max(nowMs ?? 0, shown.lastMs) - shown.originMs;
  const exactMs = isStretch ? untilMs : Math.max(SHORTEST_MS, untilMs);
  const grows = !isStretch && (isEmpty || !isLast);
  return {
    ...{ shown, isEmpty, isFinal: isLast && !isEmpty },
    nowMs: isEmpty ? shown.originMs : (nowMs ?? story.lastMs),
    spanMs: grows ? spanFor(Math.max(exactMs, expected.lastMs - expected.originMs)) : exactMs,
  };
}

/** The expected lanes, with nothing in them. @param {Story} expected @returns {Story} */
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

const emptyWords = (/** @type {Story} */ story) =>
  `X-ray, still empty. ${lanesOf(story).map(nameOf).join('; ')}.`;

/** The drawing in words, for a screen reader. @param {Story} story */
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

/** Measures words in the page's own font. @param {HTMLElement} element */
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

/** The SVG: an element for each mark, kept for as long as the mark's key recurs. */
function createSheet(element) {
  count += 1;
  const prefix = `xray-${count}`;
  const svg = make('svg', { class: 'xray', role: 'img', 'aria-label': 'X-ray' });
  svg.append(patterns(prefix));
  const layers = new Map(LAYERS.map((name) => [name, make('g', { class: name })]));
  svg.append(...layers.values());
  /** @type {Map<string, Shown>} by the mark's key */
  const shown = new Map();
  let frame = 0;
  let size = '';
  return {
    svg,
    show({ height, width, marks }) {
      frame += 1;
      if (!svg.isConnected) element.replaceChildren(svg);
      const box = `0 0 ${width} ${written(height)}`;
      if (box !== size) svg.setAttribute('viewBox', box);
      size = box;
      for (const mark of marks) {
        const known = shown.get(mark.key) ?? addMark(layers.get(mark.layer), mark);
        if (known.mark !== mark) changeMark(known, mark, prefix);
        shown.set(mark.key, known);
        known.frame = frame;
      }
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

/**
 * @typedef {{ node: SVGElement, at: Record<string, string | number>, text?: string, mark?: object, says?: () => string,
 *   frame?: number }} Shown  an element, and the mark that it shows
 */

function addMark(layer, { tag }) {
  const node = make(tag, {});
  layer.append(node);
  return { node, at: {} };
}

/** Sets only the attributes that differ. @param {Shown} known */
function changeMark(known, mark, prefix) {
  const { node, at: before } = known;
  const { at, text, says } = mark;
  for (const name in at) if (at[name] !== before[name]) node.setAttribute(name, written(at[name]));
  if (at.class !== before.class && PATTERNS.includes(at.class))
    node.setAttribute('fill', `url(#${prefix}-${at.class})`);
  if (text !== known.text) node.textContent = text;
  Object.assign(known, { mark, at, text, says });
}

/** Hatching tells requests in flight from lost requests without colours. */
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

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
