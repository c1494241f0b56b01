/** Draws the timeline of one program: an X-ray of a stretch, which buttons and keys move and resize. */
import { tableOf } from './charts.js';
import { make } from './elements.js';
import { markMoments } from './mark-moments.js';
import { createStretch, messagesWithin } from './time-stretch.js';
import { createStory, nameOf, rowsOf, tell } from './xray-story.js';
import { createXray } from './xray.js';

/** On the drawing itself these keys do the same as the buttons. */
const KEYS = {
  '+': 'closer',
  '=': 'closer',
  '-': 'wider',
  0: 'whole',
  '[': 'earlier',
  ']': 'later',
};
const WIDEST = 1168; // what the drawing is made for
const FINER = 1.8; // px of the drawing in one of the page: its smallest words are 11 px there
const HEIGHT = 460;

/** @param {import('./evidence-parts.js').Parts} parts */
export function createTimeline(parts) {
  let evidence;
  let moments = [];
  let stretch;
  let drawnFor = 0; // px of the page

  function draw() {
    drawnFor = parts.drawing.clientWidth;
    const width = drawnFor > 0 ? Math.min(WIDEST, Math.round(FINER * drawnFor)) : WIDEST;
    drawStretch(parts, { evidence, stretch, moments, width });
    parts.span.textContent = spanWords(stretch, evidence.left);
  }
  addMoves(parts, (change) => {
    stretch = stretch[change]();
    draw();
  });
  new ResizeObserver(() => {
    const { clientWidth } = parts.drawing;
    if (evidence && clientWidth > 0 && clientWidth !== drawnFor) draw(); // it was narrower, or hidden
  }).observe(parts.drawing);

  return {
    /** @param {any} shown  the Evidence of lib/web/evidence.js  @param {typeof moments} decided  the moments to mark */
    show(shown, decided) {
      evidence = shown;
      moments = decided;
      stretch = createStretch(evidence.events, moments);
      describe(parts, { evidence, moments, zeroMs: stretch.zeroMs });
      draw();
    },
  };
}

function addMoves({ moves, drawing }, move) {
  for (const [change, button] of Object.entries(moves))
    button.addEventListener('click', () => move(change));
  drawing.addEventListener('keydown', (event) => {
    const change = KEYS[event.key];
    const isOther = event.ctrlKey || event.metaKey || event.altKey;
    if (!change || isOther || moves[change].closest('[hidden]')) return;
    event.preventDefault();
    move(change);
  });
}

function drawStretch({ drawing, curtain }, { evidence, stretch, moments, width }) {
  const { fromMs, toMs, zeroMs } = stretch;
  const xray = createXray(drawing, {
    ...{ isStretch: true, sinceMs: fromMs - zeroMs, moments },
    ...{ width: () => width, height: () => HEIGHT },
  });
  for (const message of messagesWithin(evidence, { fromMs, toMs })) xray.take(message);
  xray.draw(toMs);
  const svg = /** @type {SVGSVGElement} */ (drawing.children[0]);
  markMoments(svg, xray.marked());
  curtain.hang({ svg, x: xray.xOf, fromMs, toMs, zeroMs });
}

/** The list of the moments, and the table: the same for each stretch. */
function describe({ marks, table, moves }, { evidence, moments, zeroMs }) {
  const whole = createStory();
  for (const message of messagesWithin(evidence, { fromMs: zeroMs, toMs: Infinity }))
    tell(whole, message);
  const names = new Map([...whole.processes.values()].map((one) => [one.pid, nameOf(one)]));
  marks.replaceChildren(...moments.map((one) => momentOf(one, { names, zeroMs })));
  marks.hidden = moves.moment.hidden = moments.length === 0;
  table.replaceChildren(...tableOf(rowsOf(whole)));
}

function momentOf({ pid, t, toMs, says }, { names, zeroMs }) {
  const seconds = (ms) => ((ms - zeroMs) / 1_000).toFixed(3);
  const when = toMs === undefined ? `${seconds(t)} s` : `${seconds(t)} to ${seconds(toMs)} s`;
  const item = make('li', {});
  item.dataset.pid = String(pid);
  item.dataset.t = String(t);
  item.append(
    make('b', { textContent: says }),
    ` ${names.get(pid) ?? `process ${pid}`} (pid ${pid}), ${when}`,
  );
  return item;
}

function spanWords({ fromMs, toMs, zeroMs, endMs }, left) {
  const digits = toMs - fromMs < 200 ? 3 : 2;
  const seconds = (ms) => `${((ms - zeroMs) / 1_000).toFixed(digits)} s`;
  const rest =
    left > 0
      ? ` ${left} more requests and responses are not drawn: there is no room for them.`
      : '';
  return `${seconds(fromMs)} to ${seconds(Math.min(toMs, endMs))} of ${seconds(endMs)}.${rest}`;
}
