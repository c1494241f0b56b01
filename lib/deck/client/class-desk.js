/** The speaker's desk for the class: the countdown, and the hands raised in a vote. */
import { all, make } from '../../web/client/elements.js';
import { stopwatch } from './pace.js';
import { remember } from './remember.js';
import { countsOf, voteOn } from './vote.js';

const MINUTE_MS = 60_000;
const BREAK_MINUTES = 15;
const MOST_HANDS = 999;
const place = (id) => document.getElementById(id);

export class ClassDesk {
  /** @type {{ hands: Record<string, (number | null)[]>, countdown: import('./countdown.js').Countdown | null }} */
  #state;
  #save;
  #minutes = /** @type {HTMLInputElement} */ (place('minutes'));
  #slideId = '';
  /** @type {import('./board-line.js').BoardCounts} */
  #counts = {};
  #breakMinutes;
  #onChange;

  /** @param {{ breakMinutes: () => number | undefined, onChange: () => void }} options  breakMinutes: of the next break */
  constructor({ breakMinutes, onChange }) {
    this.#breakMinutes = breakMinutes;
    this.#onChange = onChange;
    const first = { hands: {}, countdown: null };
    const { value, save } = remember(sessionStorage, 'forkshop-class', first);
    this.#state = value;
    this.#save = save;
    const actions = {
      turn: () => this.#startCountdown('turn'),
      break: () => this.#startCountdown('break'),
      more: () => this.#addMinute(),
      end: () => this.#setCountdown(null),
    };
    for (const [id, act] of Object.entries(actions)) place(id).addEventListener('click', act);
  }

  /** @returns {import('./wall-line.js').Additions} */
  additions() {
    const { hands, countdown } = this.#state;
    const { here, tasks, votes } = this.#counts;
    return { hands: countsOf(hands, votes), countdown, progress: { here, tasks } };
  }

  /** @param {import('./board-line.js').BoardCounts} counts */
  takeCounts(counts) {
    this.#counts = counts;
    this.#showTaps();
    this.#onChange();
  }

  /** @param {HTMLElement} slide  on the wall */
  show(slide) {
    if (slide.id === this.#slideId) return;
    this.#slideId = slide.id;
    const { kind, minutes } = slide.dataset;
    this.#minutes.value = kind === 'do' ? minutes : String(this.#breakMinutes() ?? BREAK_MINUTES);
    this.#askForHands(slide);
  }

  /** A step or a slide forward ends a break. */
  goOn() {
    if (this.#state.countdown?.kind === 'break') this.#setCountdown(null);
  }

  tick() {
    const { countdown } = this.#state;
    for (const id of ['more', 'end', 'left']) place(id).hidden = !countdown;
    if (countdown)
      place('left').textContent = stopwatch(Math.max(0, countdown.endsMs - Date.now()));
  }

  #startCountdown(/** @type {string} */ kind) {
    const { value } = this.#minutes;
    if (!this.#minutes.checkValidity() || value === '') return void this.#minutes.reportValidity();
    const endsMs = Date.now() + Number(value) * MINUTE_MS;
    this.#setCountdown({ endsMs, kind, id: this.#slideId });
  }

  #addMinute() {
    const { countdown } = this.#state;
    const endsMs = Math.max(countdown.endsMs, Date.now()) + MINUTE_MS;
    this.#setCountdown({ ...countdown, endsMs });
  }

  #setCountdown(/** @type {import('./countdown.js').Countdown | null} */ countdown) {
    this.#state.countdown = countdown;
    this.#changed();
  }

  #changed() {
    this.#save();
    this.#onChange();
    this.tick();
  }

  #askForHands(/** @type {HTMLElement} */ slide) {
    const vote = voteOn(slide, this.#slideId);
    place('hands').hidden = !vote;
    if (!vote) return;
    const hands = (this.#state.hands[vote.name] ??= []);
    const changed = () => this.#changed();
    let box = -1;
    const rows = vote.questions.map(({ options }) => {
      const row = make('p', {});
      row.append(...options.map((label) => labelled(label, fieldOf(hands, (box += 1), changed))));
      return row;
    });
    place('boxes').replaceChildren(...rows);
    place('boxes').dataset.name = vote.name;
    this.#showTaps();
  }

  /** A field shows the count of taps until the speaker types a number. */
  #showTaps() {
    const taps = this.#counts.votes?.[place('boxes').dataset.name ?? ''] ?? [];
    for (const [box, field] of all('input', place('boxes')).entries())
      /** @type {HTMLInputElement} */ (field).placeholder = String(taps[box] ?? '');
  }
}

function fieldOf(/** @type {(number | null)[]} */ hands, /** @type {number} */ box, onChange) {
  const value = String(hands[box] ?? '');
  const field = make('input', { type: 'number', min: '0', max: String(MOST_HANDS), value });
  field.addEventListener('input', () => {
    const number = Math.floor(Number(field.value));
    hands[box] = field.value !== '' && number >= 0 && number <= MOST_HANDS ? number : null;
    onChange();
  });
  return field;
}

function labelled(/** @type {string} */ textContent, /** @type {HTMLElement} */ field) {
  const label = make('label', { textContent, title: textContent });
  label.prepend(field);
  return label;
}
