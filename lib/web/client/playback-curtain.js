/** Plays an X-ray: a curtain moves off the drawing to the right, slowly enough to follow; a badge says how slowly. */
import { make } from './elements.js';

const SVG = 'http://www.w3.org/2000/svg';
const LONG_ENOUGH_MS = 8_000; // to see what happens
const STEPS = 1_000;
const TICK_MS = 33;
const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/**
 * @typedef {{ svg: SVGSVGElement, x: (ms: number) => number, fromMs: number, toMs: number, zeroMs: number }} Drawing  x: of a
 *   time
 */

export function createCurtain() {
  const { line, play, time, badge } = controls();
  let drawing;
  let stop;

  const pause = () => {
    stop?.();
    stop = undefined;
    play.textContent = 'Play';
  };
  const show = (/** @type {number} */ share) => showShare(drawing, time, share);
  const run = () => {
    const from = Number(time.value) / STEPS;
    play.textContent = 'Pause';
    stop = animate(from < 1 ? from : 0, lengthOf(drawing) * slowdownOf(drawing), (share) => {
      show(share);
      if (share >= 1) pause();
    });
  };
  play.addEventListener('click', () => (stop ? pause() : run()));
  time.addEventListener('input', () => {
    pause();
    show(Number(time.value) / STEPS);
  });

  return {
    line,
    /** Hangs the curtain before another drawing, all of which is shown. @param {Drawing} another */
    hang(another) {
      pause();
      drawing = another;
      const slower = slowdownOf(another);
      badge.textContent = slower === 1 ? 'true time' : `${slower} times slower than it was`;
      show(1);
    },
  };
}

function controls() {
  const play = make('button', { type: 'button', textContent: 'Play' });
  const time = make('input', { type: 'range', min: '0', max: String(STEPS) });
  time.setAttribute('aria-label', 'The moment up to which it is shown');
  const badge = make('span', { className: 'badge' });
  const line = make('p', { className: 'transport' });
  line.append(play, time, badge);
  return { line, play, time, badge };
}

const lengthOf = (/** @type {Drawing} */ { fromMs, toMs }) => toMs - fromMs;

const slowdownOf = (/** @type {Drawing} */ drawing) =>
  SPEEDS.findLast((times) => times === 1 || times * lengthOf(drawing) <= LONG_ENOUGH_MS) ?? 1;

/** @param {Drawing} drawing  @param {HTMLInputElement} time  @param {number} share  of its length, from the left */
function showShare(drawing, time, share) {
  const atMs = drawing.fromMs + share * lengthOf(drawing);
  time.value = String(Math.round(share * STEPS));
  time.setAttribute('aria-valuetext', `${((atMs - drawing.zeroMs) / 1_000).toFixed(3)} s`);
  cover(drawing, share < 1 ? atMs : undefined);
}

/** Covers a drawing from a time on. @param {Drawing} drawing  @param {number} [atMs]  without it, uncovers the drawing */
function cover({ svg, x }, atMs) {
  const known = svg.querySelector('.curtain');
  if (atMs === undefined) return known?.remove();
  const curtain = known ?? svg.appendChild(document.createElementNS(SVG, 'rect'));
  const place = {
    ...{ class: 'curtain', x: x(atMs), y: 0 },
    width: svg.viewBox.baseVal.width - x(atMs),
    height: Number(svg.querySelector('line.grid')?.getAttribute('y2')),
  };
  for (const [name, value] of Object.entries(place)) curtain.setAttribute(name, String(value));
}

/**
 * Calls `onShare` again and again with the share that has passed, the last time with 1.
 * @param {number} from @param {number} lengthMs  of the whole @param {(share: number) => void} onShare
 * @returns {() => void}  stops it
 */
function animate(from, lengthMs, onShare) {
  const sinceMs = performance.now();
  let timer;
  const step = () => {
    const share = Math.min(1, from + (performance.now() - sinceMs) / lengthMs);
    if (share < 1) timer = setTimeout(step, TICK_MS);
    onShare(share);
  };
  step();
  return () => clearTimeout(timer);
}
