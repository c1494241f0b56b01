/** A performance on this machine, shown below the recording: its sentence and, if both fit, its drawing. */
import { make } from '../../web/client/elements.js';
import { createXray } from '../../web/client/xray.js';

const LEAST_HEIGHT = 120;

/** @param {HTMLElement} figure  figure.demo */
export function createBeside(figure) {
  const place = make('div', { className: 'beside', hidden: true }); // a section would be a slide
  const words = make('p', {});
  const drawing = make('div', { className: 'drawing' });
  place.setAttribute('role', 'group');
  place.setAttribute('aria-label', 'Here, just now');
  place.append(words, drawing);
  const xray = createXray(drawing, {
    height: () => Math.max(LEAST_HEIGHT, drawing.clientHeight),
    hasLegend: false,
  });
  return {
    place,
    /** @param {any[]} messages  of a performance that reached its end; none: hides it */
    show(messages) {
      place.hidden = messages.length === 0;
      figure.classList.toggle('compares', !place.hidden);
      if (place.hidden) return;
      const said = messages.findLast(({ say }) => say)?.say ?? '';
      const isDoubtful = messages.some(({ doubt }) => doubt);
      const doubt = isDoubtful ? ' (This machine was very busy.)' : '';
      words.replaceChildren(make('b', { textContent: 'Here, just now: ' }), said, doubt);
      xray.forget();
      messages.forEach(xray.take);
      drawing.hidden = false;
      xray.draw();
      const isTooHigh = drawing.scrollHeight > drawing.clientHeight + 1;
      const named = drawing.querySelectorAll('text.lane').length;
      drawing.hidden = isTooHigh || named < xray.rows().length;
    },
  };
}
