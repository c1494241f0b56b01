/** What the speaker has the wall show the class: a countdown, and the hands that he has counted. */
import { ballotOf, boxesOf } from './ballot.js';
import { make } from '../../web/client/elements.js';
import { stopwatch } from './pace.js';
import { remember } from './remember.js';

const MINUTE_MS = 60_000;
const BREAK_MINUTES = 15;
const place = (id) => document.getElementById(id);

/**
 * @param {{ breakMinutes: () => number | undefined, onChange: () => void }} options
 *   breakMinutes: of the next break of the plan
 */
export function createClassroom({ breakMinutes, onChange }) {
  /** @type {{ hands: Record<string, (number | null)[]>, countdown: null | { endsMs: number, kind: string, id: string } }} */
  const first = { hands: {}, countdown: null };
  const { value: state, save } = remember(sessionStorage, 'forkshop-class', first);
  const minutes = /** @type {HTMLInputElement} */ (place('minutes'));
  let id = '';

  place('turn').addEventListener('click', () => begin('turn'));
  place('break').addEventListener('click', () => begin('break'));
  place('more').addEventListener('click', () => {
    const { countdown } = state;
    state.countdown = { ...countdown, endsMs: Math.max(countdown.endsMs, Date.now()) + MINUTE_MS };
    changed();
  });
  place('end').addEventListener('click', () => {
    state.countdown = null;
    changed();
  });

  function begin(kind) {
    if (!minutes.checkValidity() || minutes.value === '') return void minutes.reportValidity();
    state.countdown = { endsMs: Date.now() + Number(minutes.value) * MINUTE_MS, kind, id };
    changed();
  }

  function changed() {
    save();
    onChange();
    tick();
  }

  function tick() {
    const { countdown } = state;
    for (const name of ['more', 'end', 'left']) place(name).hidden = !countdown;
    if (countdown)
      place('left').textContent = stopwatch(Math.max(0, countdown.endsMs - Date.now()));
  }

  /** A field for each box of the vote, in its rows. */
  function askForHands(/** @type {HTMLElement} */ slide, /** @type {string} */ chapter) {
    const svg = ballotOf(slide);
    place('hands').hidden = !svg;
    if (!svg) return;
    const counts = (state.hands[chapter] ??= []);
    const rows = new Map();
    for (const [index, { y, label }] of boxesOf(svg).entries()) {
      const field = fieldFor(counts[index], (count) => {
        counts[index] = count;
        changed();
      });
      const row = rows.get(y) ?? make('p', {});
      const words = make('label', { textContent: label });
      words.prepend(field);
      row.append(words);
      rows.set(y, row);
    }
    place('boxes').replaceChildren(...rows.values());
  }

  return {
    tick,
    wish: () => ({ hands: state.hands, countdown: state.countdown }),
    /** @param {HTMLElement} slide  the one that is shown */
    show(slide) {
      if (slide.id === id) return;
      id = slide.id;
      const isExercise = slide.dataset.kind === 'do';
      minutes.value = isExercise ? slide.dataset.minutes : String(breakMinutes() ?? BREAK_MINUTES);
      askForHands(slide, id.replace(/-\d+$/, ''));
    },
    /** A step or a slide further: a break is over. */
    goOn() {
      if (state.countdown?.kind === 'break') place('end').click();
    },
  };
}

/** @param {number | null | undefined} count  @param {(count: number | null) => void} onCount */
function fieldFor(count, onCount) {
  const value = count === null || count === undefined ? '' : String(count);
  const field = make('input', { type: 'number', min: '0', max: '999', value });
  field.addEventListener('input', () => {
    const number = Math.floor(Number(field.value));
    onCount(field.value !== '' && number >= 0 && number <= 999 ? number : null);
  });
  return field;
}
