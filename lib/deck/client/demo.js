/**
 * A demo on a slide: its buttons, and what they do. Live it shows what the server sends, a JSON object a line; in a
 * static export it plays what was recorded. What was shown can be held, moved through, and seen again more slowly. The
 * recording is played over what was performed here, if that came to its end.
 */
import { isTaken, letGo } from '../../web/client/elements.js';
import { createPlayback, performed, recordingOf } from './player.js';
import { createScene, furnish, warn } from './scene.js';

const SLOWER = 5;
const DOUBLE_CLICK_MS = 400;
const isStatic = 'static' in document.body.dataset;

/** @param {HTMLElement} figure  figure.demo */
export function createDemo(figure) {
  const { demo: name } = figure.dataset;
  const parts = furnish(figure);
  const { run, again, hold, recording, time, status } = parts;
  /** @type {any[]} what was shown last, each with the time at which it came */
  let messages = [];
  /** @type {any[]} of the last performance here that came to its end */
  let live = [];
  /** @type {AbortController | undefined} of what runs now */
  let end;
  /** @type {ReturnType<typeof createPlayback> | undefined} */
  let playback;
  let startedMs = -Infinity;
  const isRunning = () => end !== undefined;

  /** Nothing runs any more. @param {string} [words]  for the wall */
  function stop(words) {
    end?.abort();
    playback?.hold();
    if (isRunning() && words) status.textContent = words;
    end = undefined;
    run.textContent = messages.length > 0 ? 'Run again' : 'Run';
    offer();
  }

  /** The buttons that have a sense now. */
  function offer() {
    const isShown = messages.some(({ events }) => events);
    again.hidden = !isShown || isRunning();
    time.hidden = hold.hidden = !playback || !isShown;
    recording.hidden = isStatic;
    hold.textContent = isRunning() ? 'Pause' : 'Play';
  }

  function start() {
    stop();
    playback = undefined;
    end = new AbortController();
    startedMs = performance.now();
    run.textContent = 'Stop';
    return end.signal;
  }

  async function showLive() {
    const signal = start();
    offer();
    parts.beside.show([]);
    messages = [];
    const sinceMs = performance.now();
    let origin = { timelineMs: 0, pageMs: sinceMs };
    const nowMs = () => origin.timelineMs + performance.now() - origin.pageMs;
    const scene = createScene(parts, { nowMs });
    let error;
    try {
      for await (const message of performed(name, signal)) {
        const pageMs = performance.now();
        if (message.origin !== undefined) origin = { timelineMs: message.origin, pageMs };
        messages.push({ at: pageMs - sinceMs, ...message });
        scene.take(message);
        error = message.end?.error;
      }
    } catch (/** @type {any} */ fault) {
      if (!signal.aborted) status.textContent = `It cannot be shown: ${fault.message}`;
      error = fault.message;
      if (!signal.aborted) figure.classList.add('in-doubt');
    }
    if (signal.aborted) return scene.leave(); // and somebody else draws already
    live = error || !messages.some(({ events }) => events) ? [] : messages;
    scene.finish();
    arm(scene, { isShown: true });
    time.value = time.max;
    stop();
    if (error) run.textContent = 'Try again';
  }

  /** @param {(signal: AbortSignal) => Promise<any[]>} source  @param {number} slower */
  async function showKnown(source, slower) {
    const signal = start();
    try {
      const found = await source(signal);
      if (signal.aborted) return;
      messages = found;
      const scene = createScene(parts, { slower });
      arm(scene, { slower });
      playback.play();
      offer();
    } catch (/** @type {any} */ error) {
      if (signal.aborted) return;
      status.textContent = `It cannot be shown: ${error.message}`;
      stop();
    }
  }

  /** What was shown can be moved through from now on. */
  function arm(scene, { slower = 1, isShown = false }) {
    playback = createPlayback(messages, {
      scene,
      slower,
      isShown,
      onTime: (ms) => (time.value = String(Math.round(ms))),
      onEnd: () => stop(),
    });
    time.max = String(Math.ceil(playback.durationMs));
  }

  const playRecording = () => {
    parts.beside.show(live);
    return showKnown((signal) => recordingOf(name, signal), 1);
  };
  const slower = () => showKnown(async () => messages, SLOWER);
  const toggle = () => {
    if (isRunning() && performance.now() - startedMs < DOUBLE_CLICK_MS) return; // the second half of a double click
    if (isRunning()) stop('It was stopped.');
    else if (isStatic) playRecording();
    else showLive();
  };
  const goOn = () => {
    end = new AbortController();
    run.textContent = 'Stop';
    playback.play();
    offer();
  };
  const holdOrGoOn = () => {
    if (isRunning()) stop();
    else if (Number(time.value) < playback.durationMs) goOn();
    else showKnown(async () => messages, 1);
  };

  for (const one of [run, again, hold, recording]) one.addEventListener('click', letGo);
  run.addEventListener('click', toggle);
  again.addEventListener('click', slower);
  recording.addEventListener('click', playRecording);
  hold.addEventListener('click', holdOrGoOn);
  time.addEventListener('input', () => {
    const wanted = Number(time.value);
    stop();
    playback.seek(wanted);
  });
  time.addEventListener('pointerup', () => time.blur()); // the keys are the presenter's again
  offer();
  /** Until it has been started, or its recording. */
  const isUntouched = () => startedMs === -Infinity;
  prepareWhenSeen(figure, { name, parts, isUntouched });
  return {
    figure,
    stop: () => stop('It was stopped.'),
    ...{ isRunning, isUntouched, toggle },
    playRecording,
    slower,
    hold: holdOrGoOn,
  };
}

/** R plays the recording of the demo on the slide that is shown. @param {() => Iterable<ReturnType<typeof createDemo>>} demos */
export function listenForRecording(demos) {
  document.addEventListener('keydown', (event) => {
    const isOther = event.ctrlKey || event.metaKey || event.altKey || isTaken(event);
    if (isOther || event.key.toLowerCase() !== 'r') return;
    const slide = document.querySelector('section.present');
    for (const demo of demos()) if (slide?.contains(demo.figure)) demo.playRecording();
  });
}

/** When its slide comes near: the lanes of the recording stand there, empty; and what stands in its way here is told. */
function prepareWhenSeen(figure, { name, parts, isUntouched }) {
  const { drawing, xray } = parts;
  const observer = new IntersectionObserver(async ([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    observer.disconnect();
    const known = await recordingOf(name, undefined).catch(() => []);
    const obstacle = isStatic ? undefined : await obstacleTo(name);
    if (!isUntouched()) return;
    if (obstacle) warn(parts, obstacle);
    xray.expect(known);
    drawing.hidden = !known.some(({ events }) => events);
    if (!drawing.hidden) xray.draw();
  });
  observer.observe(figure);
}

/** Why the demo cannot be performed here, if so. @returns {Promise<string | undefined>} */
async function obstacleTo(name) {
  const response = await fetch('/preflight').catch(() => undefined);
  if (!response?.ok) return undefined;
  const { obstacles, unprepared } = await response.json();
  return obstacles[name] ?? unprepared[name];
}
