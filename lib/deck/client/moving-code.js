/** Code that becomes other code: each line that stays goes to its new place, the others come. */
import { all } from '../../web/client/elements.js';

const MOVE_MS = 600;

/**
 * Shows what it has become, or again what it was.
 * @param {HTMLElement} figure  figure.code; nothing moves where there are no `.old` lines in it
 * @param {boolean} isMoved
 */
export function showMoved(figure, isMoved) {
  const isChange = figure.classList.contains('moved') !== isMoved;
  figure.classList.toggle('moved', isMoved);
  const old = all('.old', figure);
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!isChange || !isMoved || old.length === 0 || isStill) return;
  for (const line of all('.line:not(.old)', figure)) move(line, takeSame(line, old));
}

/** The first line that says the same, indented or not; each is taken once. */
function takeSame(line, old) {
  const words = line.textContent.trim();
  const index = old.findIndex((one) => words && one.textContent.trim() === words);
  return index < 0 ? undefined : old.splice(index, 1)[0];
}

function move(line, from) {
  const [to, was] = [line.getBoundingClientRect(), from?.getBoundingClientRect()];
  const zoom = to.width / line.offsetWidth || 1; // the deck is scaled
  const start = was
    ? { transform: `translate(0, ${(was.top - to.top) / zoom}px)` }
    : { opacity: 0, transform: 'translate(40px, 0)' };
  line.animate([start, {}], { duration: MOVE_MS, easing: 'ease-in-out', fill: 'backwards' });
}
