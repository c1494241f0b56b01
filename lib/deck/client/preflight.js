/**
 * Obstacles to demos on this machine, for the wall and for the speaker. Above the speaker's notes, the first slide lists all of
 * them, and the slide of a demo its own.
 */
import { all, make } from '../../web/client/elements.js';

/** @returns {Promise<any>}  from preflightForPage(); undefined while the server is away */
async function askPreflight() {
  const response = await fetch('/preflight').catch(() => undefined);
  return response?.ok ? response.json() : undefined;
}

/** @param {string} name  of a demo  @returns {Promise<string | undefined>}  why it cannot be performed here */
export async function obstacleTo(name) {
  const found = await askPreflight();
  return found?.obstacles[name] ?? found?.unprepared[name];
}

/** @param {HTMLElement} talk  the notes  @param {{ isStatic: boolean }} page */
export function createPreflight(talk, { isStatic }) {
  let shownId = '';
  return {
    /** Shows the obstacles of a new slide. @param {HTMLElement} slide  @param {boolean} isFirst */
    async tell(slide, isFirst) {
      if (isStatic || slide.id === shownId) return;
      shownId = slide.id;
      showLines(talk, []);
      const names = all('[data-demo]', slide).map(({ dataset }) => dataset.demo ?? '');
      if (!isFirst && names.length === 0) return;
      const found = await askPreflight();
      if (!found || shownId !== slide.id) return;
      const { lines, obstacles, unprepared, busy } = found;
      const own = names.flatMap((name) => obstacles[name] ?? unprepared[name] ?? []);
      showLines(talk, isFirst ? lines : [...own, ...(busy ? [busy] : [])]);
    },
  };
}

function showLines(/** @type {HTMLElement} */ talk, /** @type {string[]} */ lines) {
  talk.querySelector('.preflight')?.remove();
  if (lines.length === 0) return;
  const box = make('div', { className: 'preflight' });
  box.setAttribute('role', 'status');
  box.append(...lines.map((textContent) => make('p', { textContent })));
  talk.prepend(box);
}
