/** The steps of a slide, on the wall and in the speaker's small copies of it. */
import { all } from '../../web/client/elements.js';

const MOVE_MS = 600;

/** The fragments of each step: by index, then those without. @param {ParentNode} slide @returns {HTMLElement[][]} */
export function stepsOf(slide) {
  const groups = new Map();
  const rest = [];
  for (const fragment of all('.fragment', slide)) {
    const { fragmentIndex: index } = fragment.dataset;
    if (index === undefined) rest.push([fragment]);
    else groups.set(Number(index), [...(groups.get(Number(index)) ?? []), fragment]);
  }
  const indexed = [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
  return [...indexed, ...rest];
}

/** Shows a copy of a slide as it is after a number of steps. @param {HTMLElement} view  @param {number} step */
export function showSteps(view, step) {
  for (const [index, group] of stepsOf(view).entries())
    for (const fragment of group) fragment.classList.toggle('visible', index < step);
  focusLines(view);
}

/** Highlights the lines of code of the current step. @param {ParentNode} slide */
export function focusLines(slide) {
  for (const figure of all('figure.code', slide)) {
    const marks = all('.focus.visible', figure);
    showSolution(figure, marks.length > 0);
    const wanted = new Set(marks.at(-1)?.dataset.lines.split(' ').filter(Boolean) ?? []);
    figure.classList.toggle('focused', wanted.size > 0);
    for (const [index, line] of all('.line:not(.old)', figure).entries())
      line.classList.toggle('here', wanted.has(String(index + 1)));
  }
}

/** Turns a starter's code, its `.old` lines, into the solution's: lines in both move, the others fly in. */
function showSolution(/** @type {HTMLElement} */ figure, /** @type {boolean} */ isSolution) {
  const isChange = figure.classList.contains('moved') !== isSolution;
  figure.classList.toggle('moved', isSolution);
  const old = all('.old', figure);
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!isChange || !isSolution || old.length === 0 || isStill) return;
  for (const line of all('.line:not(.old)', figure)) move(line, takeSame(line, old));
}

/** Removes and returns the first old line with the same words, whatever its indent. */
function takeSame(/** @type {HTMLElement} */ line, /** @type {HTMLElement[]} */ old) {
  const words = line.textContent.trim();
  const index = old.findIndex((one) => words && one.textContent.trim() === words);
  return index < 0 ? undefined : old.splice(index, 1)[0];
}

function move(/** @type {HTMLElement} */ line, /** @type {HTMLElement | undefined} */ from) {
  const [to, was] = [line.getBoundingClientRect(), from?.getBoundingClientRect()];
  const zoom = to.width / line.offsetWidth || 1; // the deck is scaled
  const start = was
    ? { transform: `translate(0, ${(was.top - to.top) / zoom}px)` }
    : { opacity: 0, transform: 'translate(40px, 0)' };
  line.animate([start, {}], { duration: MOVE_MS, easing: 'ease-in-out', fill: 'backwards' });
}
