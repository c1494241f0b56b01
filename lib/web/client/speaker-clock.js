/** The speaker's clock: the plan that he has chosen, how he stands against it, and when it will end as it looks now. */
import { minuteOf, paceOf, stopwatch } from './pace.js';
import { remember } from './store.js';
import { timeOf } from './wall.js';

const MINUTE_MS = 60_000;
const place = (id) => document.getElementById(id);

/**
 * @param {{ days: { name: string, items: import('./pace.js').Planned[] }[], ids: string[],
 *   onPlan: (ids: string[]) => void }} options  ids: of the whole deck; onPlan is told the slides of the plan, none without one
 */
export function createClock({ days, ids, onPlan }) {
  const first = { day: '', startMs: Date.now(), shiftMs: 0, pausedMs: 0 }; // pausedMs: since when; 0: it goes
  const { value: state, save } = remember(sessionStorage, 'forkshop-clock', first);
  const plan = /** @type {HTMLSelectElement} */ (place('plan'));
  const start = /** @type {HTMLInputElement} */ (place('start'));
  let id = ids[0];
  takeAddress();
  const itemsOf = () => days.find(({ name }) => name === state.day)?.items;
  const elapsedMs = () => (state.pausedMs || Date.now()) - state.startMs;

  plan.addEventListener('change', () => {
    state.day = plan.value;
    plan.blur();
    changed();
  });
  start.addEventListener('change', () => startAt(start.value) && changed());
  place('on-time').addEventListener('click', () => {
    const items = itemsOf();
    if (items) state.shiftMs = minuteOf(items, { ids, id }) * MINUTE_MS - elapsedMs();
    changed();
  });
  place('pause').addEventListener('click', () => {
    if (state.pausedMs > 0) state.startMs += Date.now() - state.pausedMs;
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
    if (location.search === '') return;
    if (days.some(({ name }) => name === asked.get('plan'))) state.day = asked.get('plan');
    startAt(asked.get('start') ?? '');
    history.replaceState(null, '', location.pathname);
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
    const items = itemsOf();
    plan.value = state.day;
    if (document.activeElement !== start) start.value = timeOf(state.startMs);
    place('pause').textContent = state.pausedMs > 0 ? 'Go on' : 'Pause';
    for (const name of ['on-time', 'finish']) place(name).hidden = !items;
    onPlan(items?.flatMap((item) => item.id ?? []) ?? []);
    tick();
  }

  function tick() {
    place('time').textContent = timeOf(Date.now());
    place('clock').textContent = stopwatch(elapsedMs());
    const items = itemsOf();
    const pace = items && paceOf(items, { ids, id, minute: minuteNow() });
    place('pace').textContent = pace ? wordsOf(pace) : 'no plan';
    place('pace').classList.toggle('late', Boolean(pace && pace.late >= 1));
    if (!pace) return;
    const { next, late, early, finish } = pace; // as it looks now
    const rest = next ? `${next.title.toLowerCase()} ${due(next.fromMinute + late - early)}, ` : '';
    place('finish').textContent = `${rest}end ${due(finish)}`;
  }

  const minuteNow = () => (elapsedMs() + state.shiftMs) / MINUTE_MS;

  /** When a minute of the plan is, by the clock on the wall. */
  const due = (/** @type {number} */ minute) =>
    timeOf(Date.now() + (minute - minuteNow()) * MINUTE_MS);

  function wordsOf(/** @type {import('./pace.js').Pace} */ { isPlanned, early, late, pause }) {
    const begins = Math.ceil(-minuteNow());
    if (begins > 0) return `begins in ${spanOf(begins)}`;
    if (pause) return `${pause.title.toLowerCase()} until ${due(pause.fromMinute + pause.minutes)}`;
    const words =
      late >= 1 ? `${spanOf(late)} behind` : early >= 1 ? `${spanOf(early)} ahead` : 'on time';
    return isPlanned ? words : `${words}, not in the plan`;
  }

  return {
    begin: changed,
    tick,
    /** @param {string} now  the slide that is shown */
    show(now) {
      id = now;
      tick();
    },
    /** The minutes of the next break of the plan. @returns {number | undefined} */
    breakMinutes() {
      const items = itemsOf();
      return items && paceOf(items, { ids, id, minute: minuteNow() }).next?.minutes;
    },
  };
}

/** "1 h 20 min". @param {number} minutes */
function spanOf(minutes) {
  const whole = Math.floor(minutes);
  return `${whole >= 60 ? `${Math.floor(whole / 60)} h ` : ''}${whole % 60} min`;
}
