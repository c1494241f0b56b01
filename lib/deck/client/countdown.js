/** The countdown of an exercise or of a break, as the wall shows it. */
import { make } from '../../web/client/elements.js';
import { stopwatch } from './pace.js';

/** @typedef {{ endsMs: number, kind: string, id: string }} Countdown  kind: 'turn' (an exercise) or 'break'; id: of the slide where it began */

/** @returns {{ show: (slide: HTMLElement, countdown: Countdown | null) => void }}  show: call it several times a second */
export function createCountdown() {
  const sign = make('div', { className: 'countdown', hidden: true });
  sign.setAttribute('role', 'timer');
  return {
    show(slide, countdown) {
      sign.hidden = !countdown || isPast(countdown, slide.id);
      if (sign.hidden) return;
      if (sign.parentElement !== slide) slide.append(sign);
      const isOver = leftMsOf(countdown) === 0;
      sign.className = `countdown ${placeOf(countdown, slide.id)}${isOver ? ' over' : ''}`;
      const lines = linesOf(countdown);
      if (sign.dataset.shows === lines.join()) return;
      sign.dataset.shows = lines.join();
      sign.replaceChildren(...lines.map((textContent) => make('span', { textContent })));
    },
  };
}

const leftMsOf = (/** @type {Countdown} */ { endsMs }) => Math.max(0, endsMs - Date.now());

/** An exercise's countdown that is over stays only on the slide where it began. */
const isPast = (/** @type {Countdown} */ countdown, /** @type {string} */ slideId) =>
  leftMsOf(countdown) === 0 && countdown.kind !== 'break' && countdown.id !== slideId;

function placeOf(/** @type {Countdown} */ { kind, id }, /** @type {string} */ slideId) {
  if (kind === 'break') return 'break';
  return id === slideId ? 'here' : 'aside';
}

function linesOf(/** @type {Countdown} */ countdown) {
  const left = stopwatch(Math.ceil(leftMsOf(countdown) / 1_000) * 1_000);
  if (countdown.kind !== 'break') return [left];
  return ['Break', left, `We go on at ${timeOf(countdown.endsMs)}`];
}

/** "14:05", by the clock on the wall. @param {number} ms  since 1970 */
export const timeOf = (ms) =>
  new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
