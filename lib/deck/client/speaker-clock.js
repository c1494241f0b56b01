/** The speaker's clock: the plan that he has chosen, how he stands against it, and when it will end as it looks now. */
import { minuteOf, paceOf, stopwatch } from './pace.js';
import { remember } from './remember.js';
import { timeOf } from './wall-line.js';

const MINUTE_MS = 60_000;
const place = (id) => document.getElementById(id);

/**
 * @param {{ day: import('./pace.js').Planned[] | null, plan: string, first: string }} options  day: what the plan has, null
 *   without one; plan: its name; first: the first slide
 */
export function createClock({ day, plan, first: firstId }) {
  const first = { startMs: Date.now(), shiftMs: 0, pausedMs: 0, slide: { id: '', sinceMs: 0 } }; // pausedMs: since when; 0: it goes
  const { value: state, save } = remember(sessionStorage, 'forkshop-clock', first);
  const choice = /** @type {HTMLSelectElement} */ (place('plan'));
  const start = /** @type {HTMLInputElement} */ (place('start'));
  let id = firstId;
  let minutes = 0;
  takeAddress();
  const elapsedMs = () => (state.pausedMs || Date.now()) - state.startMs;

  choice.value = plan; // a browser may have kept another through a reload
  choice.addEventListener('change', () => {
    state.shiftMs = 0;
    save();
    location.search = `?plan=${choice.value}`;
  });
  start.addEventListener('change', () => startAt(start.value) && changed());
  place('on-time').addEventListener('click', () => {
    if (day) state.shiftMs = minuteOf(day, id) * MINUTE_MS - elapsedMs();
    changed();
  });
  place('pause').addEventListener('click', () => {
    if (state.pausedMs > 0) state.startMs += Date.now() - state.pausedMs;
    if (state.pausedMs > 0) state.slide.sinceMs += Date.now() - state.pausedMs;
    state.pausedMs = state.pausedMs > 0 ? 0 : Date.now();
    changed();
  });
  place('reset').addEventListener('click', () => {
    Object.assign(state, { startMs: Date.now(), shiftMs: 0, pausedMs: 0 });
    changed();
  });

  /** What the address says, once: a reload keeps what was changed since. */
  function takeAddress() {
    const asked = new URLSearchParams(location.search);
    const isTold = startAt(asked.get('start') ?? '');
    if (isTold) history.replaceState(null, '', `${location.pathname}?plan=${plan}`);
  }

  /** Today at this time. @param {string} text  "09:00" */
  function startAt(text) {
    const [, hour, minute] = /^(\d\d?):(\d\d)$/.exec(text) ?? [];
    if (hour === undefined) return false;
    Object.assign(state, { startMs: new Date().setHours(Number(hour), Number(minute), 0, 0) });
    Object.assign(state, { shiftMs: 0, pausedMs: 0 });
    return true;
  }

  function changed() {
    save();
    if (document.activeElement !== start) start.value = timeOf(state.startMs);
    place('pause').textContent = state.pausedMs > 0 ? 'Go on' : 'Pause';
    for (const name of ['on-time', 'finish']) place(name).hidden = !day;
    tick();
  }

  function tick() {
    place('time').textContent = timeOf(Date.now());
    place('clock').textContent = stopwatch(elapsedMs());
    tickSlide();
    const pace = day && paceOf(day, { id, minute: minuteNow() });
    place('pace').textContent = pace ? wordsOf(pace) : 'no plan';
    place('pace').classList.toggle('late', Boolean(pace && pace.late >= 1));
    if (!pace) return;
    const { next, late, early, finish } = pace; // as it looks now
    const rest = next ? `${next.title.toLowerCase()} ${due(next.fromMinute + late - early)}, ` : '';
    place('finish').textContent = `${rest}end ${due(finish)}`;
  }

  /** How long this slide has been on the wall. */
  function tickSlide() {
    const sinceMs = (state.pausedMs || Date.now()) - state.slide.sinceMs;
    place('slide-time').textContent = `${stopwatch(sinceMs)} of ${stopwatch(minutes * MINUTE_MS)}`;
    place('slide-time').classList.toggle('late', sinceMs > minutes * MINUTE_MS);
  }

  const minuteNow = () => (elapsedMs() + state.shiftMs) / MINUTE_MS;

  /** When a minute of the plan is, by the clock on the wall. */
  const due = (/** @type {number} */ minute) =>
    timeOf(Date.now() + (minute - minuteNow()) * MINUTE_MS);

  function wordsOf(/** @type {import('./pace.js').Pace} */ { early, late, pause }) {
    const begins = Math.ceil(-minuteNow());
    if (begins > 0) return `begins in ${spanOf(begins)}`;
    if (pause) return `${pause.title.toLowerCase()} until ${due(pause.fromMinute + pause.minutes)}`;
    if (late >= 1) return `${spanOf(late)} behind`;
    return early >= 1 ? `${spanOf(early)} ahead` : 'on time';
  }

  return {
    begin: changed,
    tick,
    /** @param {string} now  the slide that is shown  @param {number} planned  its minutes */
    show(now, planned) {
      [id, minutes] = [now, planned];
      if (state.slide.id !== id) state.slide = { id, sinceMs: Date.now() };
      save();
      tick();
    },
    /** The minutes of the next break of the plan. @returns {number | undefined} */
    breakMinutes() {
      return day ? paceOf(day, { id, minute: minuteNow() }).next?.minutes : undefined;
    },
  };
}

/** "1 h 20 min". @param {number} minutes */
function spanOf(minutes) {
  const whole = Math.floor(minutes);
  return `${whole >= 60 ? `${Math.floor(whole / 60)} h ` : ''}${whole % 60} min`;
}
