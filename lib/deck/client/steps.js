/** The steps of a slide, on the wall and in the small copies of it. */
import { showMoved } from './moving-code.js';
import { all } from '../../web/client/elements.js';

/**
 * What comes at each step, in order: first what has an index (several may share one), then the rest one by one, as reveal.js
 * does it.
 * @param {ParentNode} slide
 * @returns {HTMLElement[][]}
 */
export function stepsOf(slide) {
  const fragments = all('.fragment', slide);
  const groups = new Map();
  const rest = [];
  for (const fragment of fragments) {
    const { fragmentIndex: index } = fragment.dataset;
    if (index === undefined) rest.push([fragment]);
    else groups.set(Number(index), [...(groups.get(Number(index)) ?? []), fragment]);
  }
  const indexed = [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
  return [...indexed, ...rest];
}

/** Shows a copy of a slide as it is after so many steps. @param {HTMLElement} view  @param {number} step */
export function showSteps(view, step) {
  for (const [index, group] of stepsOf(view).entries())
    for (const fragment of group) fragment.classList.toggle('visible', index < step);
  focusLines(view);
}

/** The lines of code that are spoken of stand out. @param {ParentNode} slide */
export function focusLines(slide) {
  for (const figure of all('figure.code', slide)) {
    const marks = all('.focus.visible', figure);
    showMoved(figure, marks.length > 0);
    const wanted = new Set(marks.at(-1)?.dataset.lines.split(' ').filter(Boolean) ?? []);
    figure.classList.toggle('focused', wanted.size > 0);
    for (const [index, line] of all('.line:not(.old)', figure).entries())
      line.classList.toggle('here', wanted.has(String(index + 1)));
  }
}
