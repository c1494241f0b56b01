/** The stage of a demo on its slide, and a showing on it: the X-ray, the numbers, the sentence. */
import { showVote } from './ballot.js';
import { createBeside } from './beside-recording.js';
import { chartOf, measurementOf, put, tableOf } from '../../web/client/charts.js';
import { make } from '../../web/client/elements.js';
import { createXray } from '../../web/client/xray.js';

const LEAST_HEIGHT = 160;
const FRAME_MS = 66; // drawing must not take the cores that the demo measures
const SHARE = 4; // drawing takes at most a quarter of the time

const button = (className, textContent, title) =>
  make('button', { type: 'button', className, textContent, title, hidden: true });

/** Adds the buttons and the drawing to a demo's figure. @param {HTMLElement} figure */
export function furnish(figure) {
  const status = /** @type {HTMLElement} */ (figure.querySelector('.status'));
  const stage = /** @type {HTMLElement} */ (figure.querySelector('.stage'));
  const run = /** @type {HTMLButtonElement} */ (figure.querySelector('.run'));
  const again = button('again', '5 times slower', 'The same again, 5 times slower');
  const hold = button('hold', 'Pause', 'Hold it, and go on');
  const recording = button('again recording', 'Recording', 'Play the recording (R)');
  recording.setAttribute('aria-keyshortcuts', 'R');
  const time = make('input', { type: 'range', className: 'time', min: '0', hidden: true });
  time.setAttribute('aria-label', 'The moment that is shown');
  const badge = make('p', { className: 'badge' });
  const drawing = make('div', { className: 'drawing', hidden: true });
  const point = make('p', { className: 'point', hidden: true });
  const numbers = make('div', { className: 'numbers' });
  const transport = make('div', { className: 'transport' });
  const details = make('details', { hidden: true });
  const table = make('table', {});
  details.append(make('summary', { textContent: 'Table', title: 'The same as a table' }), table);
  transport.append(details, hold, time, again, recording, badge);
  const beside = createBeside(figure);
  stage.append(drawing, numbers, beside.place, transport, point);
  const xray = fitted(
    drawing,
    createXray(drawing, {
      height: () => Math.max(LEAST_HEIGHT, drawing.clientHeight),
      onPoint: (words, event) => showPoint(point, stage, words, event),
    }),
  );
  const parts = { run, again, hold, recording, time, status, badge, drawing, numbers, details };
  return { figure, ...parts, table, xray, beside };
}

/** @typedef {ReturnType<typeof furnish>} Parts */

/** Draws again whenever buttons or longer words below change the height that is left. */
function fitted(
  /** @type {HTMLElement} */ drawing,
  /** @type {ReturnType<typeof createXray>} */ xray,
) {
  /** @type {[ms?: number] | undefined} */
  let last;
  const draw = (/** @type {[ms?: number]} */ ...moment) => {
    last = moment;
    xray.draw(...moment);
  };
  new ResizeObserver(() => last && !drawing.hidden && xray.draw(...last)).observe(drawing);
  return { ...xray, draw };
}

function showPoint(point, stage, words, { clientX, clientY }) {
  point.hidden = words === '';
  if (words === '') return;
  point.textContent = words;
  const box = stage.getBoundingClientRect();
  const zoom = box.width / stage.offsetWidth;
  const most = stage.offsetWidth - point.offsetWidth - 8;
  point.style.left = `${Math.max(0, Math.min(most, (clientX - box.left) / zoom + 12))}px`;
  point.style.top = `${(clientY - box.top) / zoom + 20}px`;
}

/**
 * One showing, from the first message to the last.
 * @param {Parts} parts
 * @param {{ nowMs?: () => number, slower?: number }} [clock]  nowMs: on the timeline; without it, only draw() and finish() draw
 */
export function createScene(parts, { nowMs, slower = 1 } = {}) {
  const { xray } = parts;
  const begin = () => clear(parts, slower);
  begin();
  const leave = nowMs ? drawRepeatedly(parts, nowMs) : () => {};
  return {
    begin,
    take: (/** @type {any} */ message) => showMessage(parts, message, slower),
    draw: (/** @type {number} */ ms) => xray.draw(ms),
    /** Stops the frames; the drawing stays. */
    leave,
    finish() {
      leave();
      showWhole(parts);
    },
  };
}

function clear(/** @type {Parts} */ { figure, xray, numbers, details, badge }, slower) {
  xray.forget();
  numbers.replaceChildren();
  figure.classList.remove('in-doubt');
  details.hidden = true;
  badge.classList.remove('warns');
  delete figure.dataset.was;
  figure.dataset.seen = ''; // until then the slide shows the demo's question
  showVote(figure);
  badge.textContent = slower === 1 ? 'true time' : `${slower} times slower than it was`;
}

/** @returns {() => void}  stops it */
function drawRepeatedly(/** @type {Parts} */ { drawing, xray }, /** @type {() => number} */ nowMs) {
  let timer;
  const frame = () => {
    const sinceMs = performance.now();
    if (!drawing.hidden) xray.draw(nowMs());
    const tookMs = performance.now() - sinceMs;
    timer = setTimeout(frame, Math.max(FRAME_MS, SHARE * tookMs));
  };
  frame();
  return () => clearTimeout(timer);
}

function showMessage(/** @type {Parts} */ parts, /** @type {any} */ message, slower) {
  const { figure, status, badge, drawing, numbers, xray } = parts;
  const { events, recorded, say, measurement, chart, doubt, end } = message;
  xray.take(message);
  if (events) drawing.hidden = false;
  if (recorded) badge.textContent = recordedWords(recorded, slower);
  if (say) showSentence(figure, status, say);
  if (measurement) put(numbers, measurement.name, measurementOf(measurement));
  if (chart && chart.t === undefined) put(numbers, chart.name, chartOf(chart));
  if (doubt) warn(parts, doubt);
  if (end?.error) {
    status.textContent = end.error;
    figure.classList.add('in-doubt');
  } else if (end) figure.dataset.was = '';
}

/** A verdict quotes the option that it found broken; an option's count of votes follows its words. */
function showSentence(figure, status, say) {
  status.textContent = say;
  for (const option of figure.parentElement.querySelectorAll('.options li'))
    option.classList.toggle('broken', say.includes(`“${option.firstChild.textContent}”`));
}

function showWhole(/** @type {Parts} */ { figure, drawing, xray, table, details }) {
  showVote(figure);
  if (drawing.hidden) return;
  xray.draw();
  table.replaceChildren(...tableOf(xray.rows()));
  details.hidden = xray.rows().length === 0;
}

/** Marks a demo that may mislead or cannot run: its style offers the recording. @param {Parts} parts @param {string} words */
export function warn({ figure, badge }, words) {
  badge.textContent = words;
  badge.classList.add('warns');
  figure.classList.add('in-doubt');
}

const recordedWords = ({ cpu, cores, node, date }, slower) =>
  `recorded: ${cores} cores (${cpu}), Node ${node}, ${date}` +
  (slower === 1 ? '' : `, ${slower} times slower`);
