/** The votes on a diagram. A vote and its answer have the same boxes in the same order, so a box's number is its key. */
import { all, make } from '../../web/client/elements.js';

const SVG = 'http://www.w3.org/2000/svg';
const RADIUS = 22;

/** The diagram of a vote or of its answer. @param {ParentNode} slide @returns {SVGSVGElement | null} */
export const ballotOf = (slide) => slide.querySelector('svg[data-ballot]');

/**
 * @typedef {{ x: number, y: number, width: number, height: number, label: string, isShown: boolean }} Box  isShown: after its step
 * @param {SVGSVGElement} svg  @returns {Box[]}  row by row
 */
export function boxesOf(svg) {
  return all('rect.box', svg)
    .map((rect) => {
      const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) =>
        Number(rect.getAttribute(name)),
      );
      const isShown = !rect.closest('.fragment:not(.visible)');
      return { x, y, width, height, label: labelOf(rect), isShown };
    })
    .sort((a, b) => a.y - b.y || a.x - b.x);
}

function labelOf(/** @type {Element} */ rect) {
  const lines = [];
  for (let next = rect.nextElementSibling; next?.matches('text'); next = next.nextElementSibling)
    lines.push(next.textContent);
  return lines.join(' ');
}

/** Writes the counts on the boxes and into the drawing's label. @param {SVGSVGElement} svg @param {(number | null)[]} counts */
export function drawHands(svg, counts) {
  for (const mark of all('.hands', svg)) mark.remove();
  svg.dataset.words ??= svg.getAttribute('aria-label') ?? '';
  const told = [];
  for (const [index, { x, y, width, label, isShown }] of boxesOf(svg).entries()) {
    const count = counts[index] ?? null;
    if (count === null || !isShown) continue;
    told.push(`${label} ${count}`);
    svg.append(markOf(x + width - RADIUS / 2, y + RADIUS / 2, count));
  }
  const hands = told.length > 0 ? ` Hands: ${told.join(', ')}.` : '';
  svg.setAttribute('aria-label', `${svg.dataset.words}${hands}`);
}

/**
 * The votes for the options of one question.
 * @typedef {{ label: string, count: number }} OptionVotes
 * @param {SVGSVGElement} svg  @param {(number | null)[]} counts  @param {number} row  from 1
 * @returns {OptionVotes[]}  without options that were not counted
 */
export function votesInRow(svg, counts, row) {
  const boxes = boxesOf(svg);
  const rows = [...new Set(boxes.map(({ y }) => y))];
  return boxes.flatMap(({ y, label }, index) => {
    const count = counts[index] ?? null;
    return y === rows[row - 1] && count !== null ? [{ label, count }] : [];
  });
}

/**
 * Shows the votes at the demo that answers them; after the demo, beside its result.
 * @param {HTMLElement} figure  figure.demo; data-was: its demo has ended
 * @param {OptionVotes[]} [said]  default: as in the last call
 */
export function showVote(figure, said) {
  const place = /** @type {HTMLElement | null} */ (figure.querySelector('.said'));
  if (!place) return;
  if (said) place.dataset.said = JSON.stringify(said);
  const votes = votesAt(figure);
  const all = votes.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(...votes.map(({ count }) => count));
  const winners = votes.filter(({ count }) => count === most).map(({ label }) => label);
  const isOver = 'was' in figure.dataset;
  const result = isOver
    ? resultIn(figure.querySelector('.status')?.textContent ?? '', figure.dataset.result ?? '')
    : '';
  const each = votes.map(({ label, count }) => `${label}: ${count}`).join(', ');
  const words = isOver ? `${winners.join(' or ')} (${most} of ${all} hands)` : each;
  const told = make('span', {});
  told.append(make('b', { textContent: 'You said: ' }), words);
  place.hidden = all === 0 && !result;
  place.replaceChildren(
    ...(result ? [make('strong', { className: 'result', textContent: result })] : []),
    ...(all > 0 ? [told] : []),
  );
}

/** The votes at a demo, which its performance gets. @param {HTMLElement} figure  @returns {OptionVotes[]} */
export function votesAt(figure) {
  const place = /** @type {HTMLElement | null} */ (figure.querySelector('.said'));
  return JSON.parse(place?.dataset.said ?? '[]');
}

function markOf(x, y, count) {
  const mark = document.createElementNS(SVG, 'g');
  mark.setAttribute('class', 'hands');
  const disc = document.createElementNS(SVG, 'circle');
  const text = document.createElementNS(SVG, 'text');
  const put = (element, values) => {
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
  };
  put(disc, { cx: x, cy: y, r: RADIUS });
  put(text, { x, y: y + 10, 'text-anchor': 'middle' });
  text.textContent = String(count);
  mark.append(disc, text);
  return mark;
}

/**
 * Finds the result in the sentence that reports it: "94 of 120" in "Answered: 94 of 120. Failed: 26."
 * @param {string} sentence  @param {string} pattern  a star for the number: "* of 120"; '' for no result
 * @returns {string}  '' if the sentence lacks it
 */
export function resultIn(sentence, pattern) {
  const [before, after] = pattern.split('*');
  if (after === undefined) return ''; // the votes only chose what is shown
  const [words = ''] = new RegExp(`${before}\\d[\\d.,]*${after}`).exec(sentence) ?? [];
  return words.replace(/[.,]$/, '');
}
