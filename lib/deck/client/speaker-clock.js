/** The speaker's clock: the chosen plan, the pace against it, and when the day will end at this pace. */
import { timeOf } from './countdown.js';
import { minuteOf, paceOf, stopwatch } from './pace.js';
import { remember } from './remember.js';

const MINUTE_MS = 60_000;
const place = (id) => document.getElementById(id);

export class SpeakerClock {
  #day;
  #plan;
  #slide = { id: '', minutes: 0 };
  #state;
  #save;
  #startField = /** @type {HTMLInputElement} */ (place('start'));

  /** @param {{ day: import('./pace.js').Planned[] | null, plan: string, first: string }} options  first: a slide's id */
  constructor({ day, plan, first }) {
    this.#day = day;
    this.#plan = plan;
    this.#slide.id = first;
    const { value, save } = remember(sessionStorage, 'forkshop-clock', {
      startMs: Date.now(),
      shiftMs: 0,
      pausedMs: 0, // when the pause began, or 0
      slide: { id: '', sinceMs: 0 },
    });
    this.#state = value;
    this.#save = save;
    this.#takeStartFromAddress();
    this.#connectFields();
  }

  begin() {
    this.#changed();
  }

  /** @param {string} id  of the slide on the wall  @param {number} minutes  planned for it */
  show(id, minutes) {
    this.#slide = { id, minutes };
    if (this.#state.slide.id !== id) this.#state.slide = { id, sinceMs: Date.now() };
    this.#save();
    this.tick();
  }

  /** The minutes of the plan's next break. @returns {number | undefined} */
  breakMinutes() {
    return this.#pace()?.next?.minutes;
  }

  tick() {
    place('time').textContent = timeOf(Date.now());
    place('clock').textContent = stopwatch(this.#elapsedMs());
    this.#tickSlide();
    const pace = this.#pace();
    place('pace').textContent = pace ? paceInWords(pace, this.#planMinute()) : 'no plan';
    place('pace').classList.toggle('late', Boolean(pace && pace.late >= 1));
    if (pace) place('finish').textContent = outlookInWords(pace, this.#planMinute());
  }

  #tickSlide() {
    const { minutes } = this.#slide;
    const sinceMs = this.#nowMs() - this.#state.slide.sinceMs;
    place('slide-time').textContent = `${stopwatch(sinceMs)} of ${stopwatch(minutes * MINUTE_MS)}`;
    place('slide-time').classList.toggle('late', sinceMs > minutes * MINUTE_MS);
  }

  #connectFields() {
    const choice = /** @type {HTMLSelectElement} */ (place('plan'));
    choice.value = this.#plan; // after a reload the browser may show an earlier choice
    choice.addEventListener('change', () => {
      this.#state.shiftMs = 0;
      this.#save();
      location.search = `?plan=${choice.value}`;
    });
    const start = this.#startField;
    start.addEventListener('change', () => this.#startAt(start.value) && this.#changed());
    const actions = {
      'on-time': () => this.#declareOnTime(),
      pause: () => this.#pauseOrResume(),
      reset: () => this.#restart(Date.now()),
    };
    for (const [id, act] of Object.entries(actions))
      place(id).addEventListener('click', () => {
        act();
        this.#changed();
      });
  }

  /** `?start=09:00` counts once: a reload keeps what the speaker has changed since. */
  #takeStartFromAddress() {
    const start = new URLSearchParams(location.search).get('start') ?? '';
    if (this.#startAt(start))
      history.replaceState(null, '', `${location.pathname}?plan=${this.#plan}`);
  }

  /** @param {string} text  "09:00", of today  @returns {boolean}  false: no such time */
  #startAt(text) {
    const [, hour, minute] = /^(\d\d?):(\d\d)$/.exec(text) ?? [];
    if (hour === undefined) return false;
    this.#restart(new Date().setHours(Number(hour), Number(minute), 0, 0));
    return true;
  }

  #restart(/** @type {number} */ startMs) {
    Object.assign(this.#state, { startMs, shiftMs: 0, pausedMs: 0 });
  }

  #declareOnTime() {
    if (this.#day)
      this.#state.shiftMs = minuteOf(this.#day, this.#slide.id) * MINUTE_MS - this.#elapsedMs();
  }

  #pauseOrResume() {
    const { pausedMs } = this.#state;
    this.#state.pausedMs = pausedMs > 0 ? 0 : Date.now();
    if (pausedMs === 0) return;
    this.#state.startMs += Date.now() - pausedMs;
    this.#state.slide.sinceMs += Date.now() - pausedMs;
  }

  #changed() {
    this.#save();
    const { startMs, pausedMs } = this.#state;
    if (document.activeElement !== this.#startField) this.#startField.value = timeOf(startMs);
    place('pause').textContent = pausedMs > 0 ? 'Go on' : 'Pause';
    for (const id of ['on-time', 'finish']) place(id).hidden = !this.#day;
    this.tick();
  }

  /** The time of day; during a pause, when it began. */
  #nowMs() {
    return this.#state.pausedMs || Date.now();
  }

  #elapsedMs() {
    return this.#nowMs() - this.#state.startMs;
  }

  #planMinute() {
    return (this.#elapsedMs() + this.#state.shiftMs) / MINUTE_MS;
  }

  #pace() {
    return this.#day && paceOf(this.#day, { id: this.#slide.id, minute: this.#planMinute() });
  }
}

const timeOfMinute = (/** @type {number} */ minute, /** @type {number} */ nowMinute) =>
  timeOf(Date.now() + (minute - nowMinute) * MINUTE_MS);

/** "7 min behind". @param {import('./pace.js').Pace} pace  @param {number} nowMinute */
function paceInWords({ early, late, pause }, nowMinute) {
  const begins = Math.ceil(-nowMinute);
  if (begins > 0) return `begins in ${spanOf(begins)}`;
  if (pause) {
    const until = timeOfMinute(pause.fromMinute + pause.minutes, nowMinute);
    return `${pause.title.toLowerCase()} until ${until}`;
  }
  if (late >= 1) return `${spanOf(late)} behind`;
  return early >= 1 ? `${spanOf(early)} ahead` : 'on time';
}

/** "break 10:35, end 17:10", at the present pace. @param {import('./pace.js').Pace} pace  @param {number} nowMinute */
function outlookInWords({ next, late, early, finish }, nowMinute) {
  const end = `end ${timeOfMinute(finish, nowMinute)}`;
  if (!next) return end;
  const begins = timeOfMinute(next.fromMinute + late - early, nowMinute);
  return `${next.title.toLowerCase()} ${begins}, ${end}`;
}

/** "1 h 20 min". @param {number} minutes */
function spanOf(minutes) {
  const whole = Math.floor(minutes);
  return `${whole >= 60 ? `${Math.floor(whole / 60)} h ` : ''}${whole % 60} min`;
}
