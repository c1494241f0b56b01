/**
 * What stands in the way of demos on this machine, above the notes: all of it on the first slide, and on the slide of a demo
 * what is in its way. The notes stay what they are.
 */
import { make } from '../../web/client/elements.js';

/**
 * @param {HTMLElement} talk  the notes
 * @param {{ isStatic: boolean }} page  isStatic: nothing is performed from here
 */
export function createPreflight(talk, { isStatic }) {
  let asked = '';
  const show = (/** @type {string[]} */ lines) => {
    talk.querySelector('.preflight')?.remove();
    if (lines.length === 0) return;
    const box = make('div', { className: 'preflight' });
    box.setAttribute('role', 'status');
    box.append(...lines.map((textContent) => make('p', { textContent })));
    talk.prepend(box);
  };
  return {
    /** A slide is on the wall. @param {HTMLElement} slide  @param {boolean} isFirst */
    async tell(slide, isFirst) {
      if (isStatic || slide.id === asked) return;
      asked = slide.id;
      show([]);
      const names = [...slide.querySelectorAll('[data-demo]')].map(
        (one) => /** @type {HTMLElement} */ (one).dataset.demo ?? '',
      );
      if (!isFirst && names.length === 0) return;
      const response = await fetch('/preflight').catch(() => undefined);
      if (!response?.ok || asked !== slide.id) return;
      const { lines, obstacles, unprepared, busy } = await response.json();
      const own = names.flatMap((name) => obstacles[name] ?? unprepared[name] ?? []);
      show(isFirst ? lines : [...own, ...(busy ? [busy] : [])]);
    },
  };
}
