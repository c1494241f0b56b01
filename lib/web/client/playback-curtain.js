/**
 * Plays what an X-ray shows: a curtain over the drawing goes to the right, as slowly as one can follow, and a badge says how
 * much more slowly than it was. It can be held, and moved to any moment.
 */
import { make } from './elements.js';

const SVG = 'http://www.w3.org/2000/svg';
const LONG_ENOUGH_MS = 8_000; // to see what happens
const STEPS = 1_000;
const TICK_MS = 33;
const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** So many times more slowly is a stretch of this length played. @param {number} lengthMs */
const slowdownOf = (lengthMs) =>
  SPEEDS.findLast((times) => times === 1 || times * lengthMs <= LONG_ENOUGH_MS);

export function createCurtain() {
  const play = make('button', { type: 'button', textContent: 'Play' });
  const time = make('input', { type: 'range', min: '0', max: String(STEPS) });
  time.setAttribute('aria-label', 'The moment up to which it is shown');
  const badge = make('span', { className: 'badge' });
  const line = make('p', { className: 'transport' });
  line.append(play, time, badge);
  /** @type {any} the drawing that it hangs before */
  let stage;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const hold = () => {
    clearTimeout(timer);
    timer = undefined;
    play.textContent = 'Play';
  };

  function show(share) {
    const { svg, x, fromMs, toMs, zeroMs } = stage;
    time.value = String(Math.round(share * STEPS));
    const atMs = fromMs + share * (toMs - fromMs);
    time.setAttribute('aria-valuetext', `${((atMs - zeroMs) / 1_000).toFixed(3)} s`);
    const known = svg.querySelector('.curtain');
    if (share >= 1) return void known?.remove();
    const curtain = known ?? svg.appendChild(document.createElementNS(SVG, 'rect'));
    const end = svg.viewBox.baseVal.width;
    const place = {
      class: 'curtain',
      x: x(atMs),
      y: 0,
      width: end - x(atMs),
      height: stage.height,
    };
    for (const [name, value] of Object.entries(place)) curtain.setAttribute(name, String(value));
  }

  function run() {
    const lengthMs = (stage.toMs - stage.fromMs) * stage.slower;
    const from = Number(time.value) / STEPS;
    const first = from >= 1 ? 0 : from;
    const sinceMs = performance.now();
    const step = () => {
      const share = Math.min(1, first + (performance.now() - sinceMs) / lengthMs);
      show(share);
      if (share < 1) timer = setTimeout(step, TICK_MS);
      else hold();
    };
    play.textContent = 'Pause';
    step();
  }

  play.addEventListener('click', () => (timer ? hold() : run()));
  time.addEventListener('input', () => {
    hold();
    show(Number(time.value) / STEPS);
  });

  return {
    line,
    /**
     * Another drawing: all of it is shown.
     * @param {SVGSVGElement} svg
     * @param {{ x: (ms: number) => number, fromMs: number, toMs: number, zeroMs: number }} what  x: where a time is
     */
    hang(svg, { x, fromMs, toMs, zeroMs }) {
      hold();
      const slower = slowdownOf(toMs - fromMs);
      const height = Number(svg.querySelector('line.grid')?.getAttribute('y2'));
      stage = { svg, x, fromMs, toMs, zeroMs, slower, height };
      badge.textContent = slower === 1 ? 'true time' : `${slower} times slower than it was`;
      show(1);
    },
  };
}
