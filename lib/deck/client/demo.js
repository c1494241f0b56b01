/**
 * A demo on a slide, and its buttons. Run shows what the server performs; in a static export it plays the recording. What was
 * shown can be paused, moved through and replayed more slowly.
 */
import { votesAt } from './ballot.js';
import { isTaken, letGo } from '../../web/client/elements.js';
import { Playback, performed, recordingOf } from './player.js';
import { obstacleTo } from './preflight.js';
import { createScene, furnish, warn } from './scene.js';

const SLOWER = 5;
const DOUBLE_CLICK_MS = 400;
const isStatic = 'static' in document.body.dataset;

export class Demo {
  /** The messages shown last, each with `at`, ms since the first. @type {any[]} */
  #messages = [];
  /** The messages of the last performance here that reached its end. @type {any[]} */
  #performance = [];
  /** Aborts the showing in progress. @type {AbortController | undefined} */
  #showing;
  /** @type {Playback | undefined} */
  #playback;
  #startedMs = -Infinity;
  #name;
  #parts;

  /** @param {HTMLElement} figure  figure.demo */
  constructor(figure) {
    this.figure = figure;
    this.#name = figure.dataset.demo;
    this.#parts = furnish(figure);
    this.#connectButtons();
    this.#offerButtons();
    prepareWhenSeen(figure, {
      name: this.#name,
      parts: this.#parts,
      isUntouched: () => this.isUntouched(),
    });
  }

  isRunning() {
    return this.#showing !== undefined;
  }

  isUntouched() {
    return this.#startedMs === -Infinity;
  }

  toggle() {
    const isDoubleClick = performance.now() - this.#startedMs < DOUBLE_CLICK_MS;
    if (this.isRunning()) return isDoubleClick ? undefined : this.stop();
    if (isStatic) this.playRecording();
    else this.#perform();
  }

  stop() {
    if (this.isRunning()) this.#parts.status.textContent = 'It was stopped.';
    this.#halt();
  }

  /** Plays the recording; a performance that reached its end stays beside it. */
  playRecording() {
    this.#parts.beside.show(this.#performance);
    this.#replay((signal) => recordingOf(this.#name, signal), 1);
  }

  #connectButtons() {
    const { run, again, hold, recording, time } = this.#parts;
    /** @type {[HTMLElement, () => void][]} */
    const actions = [
      [run, () => this.toggle()],
      [again, () => this.#replayShown(SLOWER)],
      [hold, () => this.#pauseOrPlay()],
      [recording, () => this.playRecording()],
    ];
    for (const [button, act] of actions) {
      button.addEventListener('click', letGo);
      button.addEventListener('click', act);
    }
    time.addEventListener('input', () => this.#moveTo(Number(time.value)));
    time.addEventListener('pointerup', () => time.blur()); // the keys turn slides again
  }

  #offerButtons() {
    const { again, hold, recording, time } = this.#parts;
    const isDrawn = hasEvents(this.#messages);
    again.hidden = !isDrawn || this.isRunning();
    time.hidden = hold.hidden = !this.#playback || !isDrawn;
    recording.hidden = isStatic;
    hold.textContent = this.isRunning() ? 'Pause' : 'Play';
  }

  /** @returns {AbortSignal}  of the new showing's end */
  #start() {
    this.#halt();
    this.#playback = undefined;
    this.#startedMs = performance.now();
    return this.#run();
  }

  #run() {
    this.#showing = new AbortController();
    this.#parts.run.textContent = 'Stop';
    return this.#showing.signal;
  }

  #halt() {
    this.#showing?.abort();
    this.#showing = undefined;
    this.#playback?.hold();
    this.#parts.run.textContent = this.#messages.length > 0 ? 'Run again' : 'Run';
    this.#offerButtons();
  }

  async #perform() {
    const signal = this.#start();
    this.#offerButtons();
    this.#parts.beside.show([]);
    this.#messages = [];
    const clock = createTimelineClock();
    const scene = createScene(this.#parts, { nowMs: clock.nowMs });
    const error = await this.#receive({ scene, clock, signal });
    if (signal.aborted) return scene.leave(); // another showing may be drawing already
    this.#performance = error || !hasEvents(this.#messages) ? [] : this.#messages;
    scene.finish();
    this.#makeSeekable(scene, { isShown: true });
    this.#parts.time.value = this.#parts.time.max;
    this.#halt();
    if (error) this.#parts.run.textContent = 'Try again';
  }

  /** @returns {Promise<string | undefined>}  why the performance failed */
  async #receive({ scene, clock, signal }) {
    let error;
    try {
      for await (const message of performed(this.#name, votesAt(this.figure), signal)) {
        this.#messages.push({ at: clock.take(message), ...message });
        scene.take(message);
        error = message.end?.error;
      }
      return error;
    } catch (/** @type {any} */ fault) {
      if (!signal.aborted) this.#sayFault(fault);
      if (!signal.aborted) this.figure.classList.add('in-doubt');
      return fault.message;
    }
  }

  /** @param {(signal: AbortSignal) => Promise<any[]>} source  of messages  @param {number} slower */
  async #replay(source, slower) {
    const signal = this.#start();
    try {
      const messages = await source(signal);
      if (signal.aborted) return;
      this.#messages = messages;
      this.#makeSeekable(createScene(this.#parts, { slower }), { slower });
      this.#playback.play();
      this.#offerButtons();
    } catch (/** @type {any} */ fault) {
      if (signal.aborted) return;
      this.#sayFault(fault);
      this.#halt();
    }
  }

  #replayShown(/** @type {number} */ slower) {
    this.#replay(async () => this.#messages, slower);
  }

  #makeSeekable(scene, { slower = 1, isShown = false }) {
    const { time } = this.#parts;
    this.#playback = new Playback(this.#messages, {
      scene,
      slower,
      isShown,
      onTime: (ms) => (time.value = String(Math.round(ms))),
      onEnd: () => this.#halt(),
    });
    time.max = String(Math.ceil(this.#playback.durationMs));
  }

  #pauseOrPlay() {
    if (this.isRunning()) return this.#halt();
    if (Number(this.#parts.time.value) >= this.#playback.durationMs) return this.#replayShown(1);
    this.#run();
    this.#playback.play();
    this.#offerButtons();
  }

  #moveTo(/** @type {number} */ ms) {
    this.#halt();
    this.#playback.seek(ms);
  }

  #sayFault(/** @type {Error} */ { message }) {
    this.#parts.status.textContent = `It cannot be shown: ${message}`;
  }
}

const hasEvents = (/** @type {any[]} */ messages) => messages.some(({ events }) => events);

/** Follows the timeline of the programs, whose origin the server sends. */
function createTimelineClock() {
  const sinceMs = performance.now();
  let origin = { timelineMs: 0, pageMs: sinceMs };
  return {
    nowMs: () => origin.timelineMs + performance.now() - origin.pageMs,
    /** @returns {number}  ms since the clock was created */
    take(/** @type {any} */ message) {
      const pageMs = performance.now();
      if (message.origin !== undefined) origin = { timelineMs: message.origin, pageMs };
      return pageMs - sinceMs;
    },
  };
}

/** R plays the recording of the demo on the current slide. @param {() => Iterable<Demo>} demos */
export function listenForRecording(demos) {
  document.addEventListener('keydown', (event) => {
    const isOther = event.ctrlKey || event.metaKey || event.altKey || isTaken(event);
    if (isOther || event.key.toLowerCase() !== 'r') return;
    const slide = document.querySelector('section.present');
    for (const demo of demos()) if (slide?.contains(demo.figure)) demo.playRecording();
  });
}

/** Once its slide comes near, learns the recording's lanes for the run, and warns of what keeps the demo from running here. */
function prepareWhenSeen(figure, { name, parts, isUntouched }) {
  const observer = new IntersectionObserver(async ([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    observer.disconnect();
    const known = await recordingOf(name, undefined).catch(() => []);
    const obstacle = isStatic ? undefined : await obstacleTo(name);
    if (!isUntouched()) return;
    if (obstacle) warn(parts, obstacle);
    parts.xray.expect(known);
  });
  observer.observe(figure);
}
