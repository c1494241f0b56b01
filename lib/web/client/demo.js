/**
 * A demo on a slide: its button, the X-ray, the numbers as they narrow, and the same in words and as a table. Live it
 * reads what the server sends, a JSON object a line; in a static export, and on paper, it plays what was recorded.
 */
import { letGo, make } from './page.js';
import { chartOf, measurementOf, tableOf } from './numbers.js';
import { performed, recorded, replayed } from './player.js';
import { createXray } from './xray.js';

const SLOWER = 5;
const isStatic = 'static' in document.body.dataset;

/** @param {HTMLElement} figure  figure.demo */
export function createDemo(figure) {
  const { demo: name } = figure.dataset;
  const parts = furnish(figure);
  const { run, again, recording, status } = parts;
  /** @type {any[]} */
  let messages = [];
  let end;
  const isRunning = () => end !== undefined && !end.signal.aborted;

  /** @param {(signal: AbortSignal) => AsyncIterable<any>} source  @param {number} speed */
  async function show(source, speed) {
    stop();
    end = new AbortController();
    const { signal } = end;
    const scene = createScene(parts, speed);
    run.textContent = 'Stop';
    try {
      for await (const message of source(signal)) scene.take(message);
    } catch (/** @type {any} */ error) {
      if (!signal.aborted) status.textContent = `It cannot be shown: ${error.message}`;
    }
    scene.finish();
    if (end?.signal === signal) stop();
    again.hidden = messages.length === 0 || parts.drawing.hidden;
  }

  function stop() {
    end?.abort();
    end = undefined;
    run.textContent = messages.length > 0 ? 'Run again' : 'Run';
  }

  const kept = (source) =>
    async function* (signal) {
      messages = [];
      const since = performance.now();
      for await (const message of source(name, signal)) {
        messages.push({ at: performance.now() - since, ...message });
        yield message;
      }
    };

  for (const button of [run, again, recording]) button.addEventListener('click', letGo);
  const source = isStatic ? recorded : performed;
  run.addEventListener('click', () => (isRunning() ? stop() : show(kept(source), 1)));
  recording.addEventListener('click', () => show(kept(recorded), 1));
  again.addEventListener('click', () =>
    show((signal) => replayed(messages, { signal, slower: SLOWER }), SLOWER),
  );
  return { stop, isRunning };
}

/** Puts into the figure what a demo draws on. @param {HTMLElement} figure */
export function furnish(figure) {
  const status = figure.querySelector('.status');
  const stage = figure.querySelector('.stage');
  const run = figure.querySelector('.run');
  const again = make('button', {
    type: 'button',
    className: 'again',
    hidden: true,
    textContent: `Again, ${SLOWER} times slower`,
  });
  const recording = make('button', {
    type: 'button',
    className: 'again',
    hidden: isStatic,
    textContent: 'Recording',
  });
  const badge = make('p', { className: 'badge' });
  const drawing = make('div', { className: 'drawing' });
  const numbers = make('div', { className: 'numbers' });
  const details = make('details', {});
  const table = make('table', {});
  details.append(make('summary', { textContent: 'The same as a table' }), table);
  details.hidden = true;
  run.after(again, recording);
  stage.append(drawing, badge, numbers, details);
  return { run, again, recording, status, badge, drawing, numbers, details, table };
}

/** One showing, from the first message to the last. @param {ReturnType<typeof furnish>} parts  @param {number} speed */
export function createScene({ status, badge, drawing, numbers, details, table }, speed) {
  const xray = createXray(drawing);
  let origin = { timelineMs: 0, pageMs: performance.now() };
  let isOver = false;
  numbers.replaceChildren();
  drawing.hidden = badge.hidden = true; // of what is only told there is nothing to draw
  badge.textContent = speed === 1 ? 'true time' : `${speed} times slower than it was`;
  const draw = () => {
    if (isOver) return;
    xray.draw(origin.timelineMs + (performance.now() - origin.pageMs) / speed);
    requestAnimationFrame(draw);
  };
  draw();
  return {
    take(message) {
      xray.take(message);
      if (message.events) drawing.hidden = badge.hidden = false;
      if (message.recorded) badge.hidden = false;
      if (message.origin !== undefined)
        origin = { timelineMs: message.origin, pageMs: performance.now() };
      if (message.recorded) badge.textContent = recordedWords(message.recorded);
      if (message.say) status.textContent = message.say;
      if (message.measurement)
        put(numbers, message.measurement.name, measurementOf(message.measurement));
      if (message.chart) put(numbers, message.chart.name, chartOf(message.chart));
      if (message.end?.error) status.textContent = message.end.error;
    },
    finish() {
      isOver = true;
      xray.draw();
      table.replaceChildren(...tableOf(xray.rows()));
      details.hidden = drawing.hidden;
    },
  };
}

const recordedWords = ({ cpu, cores, node, date }) =>
  `recorded: ${cores} cores (${cpu}), Node ${node}, ${date}`;

function put(place, name, element) {
  element.dataset.name = name;
  const before = place.querySelector(`[data-name="${CSS.escape(name)}"]`);
  if (before) before.replaceWith(element);
  else place.append(element);
}
