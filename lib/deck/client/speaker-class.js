/** What the speaker has the wall show the class: a countdown, its votes, and how far it has come. */
import { all, make } from '../../web/client/elements.js';
import { stopwatch } from './pace.js';
import { remember } from './remember.js';
import { countsOf, voteOn } from './vote.js';

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
  /** @type {import('./class-line.js').Told} */
  let told = {};

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

  /** A field for each box of the vote, in its rows; a count of taps stands there until another is typed. */
  function askForHands(/** @type {HTMLElement} */ slide) {
    const vote = voteOn(slide, id);
    place('hands').hidden = !vote;
    if (!vote) return;
    const { name, questions } = vote;
    const counts = (state.hands[name] ??= []);
    let box = -1;
    const rows = questions.map(({ options }) => {
      const row = make('p', {});
      row.append(...options.map((label) => labelled(label, fieldOf(counts, (box += 1), changed))));
      return row;
    });
    place('boxes').replaceChildren(...rows);
    place('boxes').dataset.name = name;
    showTaps();
  }

  function showTaps() {
    const taps = told.votes?.[place('boxes').dataset.name ?? ''] ?? [];
    for (const [box, field] of all('input', place('boxes')).entries())
      /** @type {HTMLInputElement} */ (field).placeholder = String(taps[box] ?? '');
  }

  return {
    tick,
    wish: () => {
      const { here, tasks } = told;
      const hands = countsOf(state.hands, told.votes);
      return { hands, countdown: state.countdown, progress: { here, tasks } };
    },
    /** @param {import('./class-line.js').Told} fresh  what the board counts now */
    tell(fresh) {
      told = fresh;
      showTaps();
      onChange();
    },
    /** @param {HTMLElement} slide  the one that is shown */
    show(slide) {
      if (slide.id === id) return;
      id = slide.id;
      const isExercise = slide.dataset.kind === 'do';
      minutes.value = isExercise ? slide.dataset.minutes : String(breakMinutes() ?? BREAK_MINUTES);
      askForHands(slide);
    },
    /** A step or a slide further: a break is over. */
    goOn() {
      if (state.countdown?.kind === 'break') place('end').click();
    },
  };
}

/** @param {(number | null)[]} counts  @param {number} box  @param {() => void} onChange */
function fieldOf(counts, box, onChange) {
  const value = String(counts[box] ?? '');
  const field = make('input', { type: 'number', min: '0', max: '999', value });
  field.addEventListener('input', () => {
    const number = Math.floor(Number(field.value));
    counts[box] = field.value !== '' && number >= 0 && number <= 999 ? number : null;
    onChange();
  });
  return field;
}

function labelled(/** @type {string} */ textContent, /** @type {HTMLElement} */ field) {
  const label = make('label', { textContent, title: textContent });
  label.prepend(field);
  return label;
}
