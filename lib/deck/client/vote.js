/** The vote of a slide: the rows of a diagram, or the promises that a change may break. */
import { ballotOf, boxesOf, drawHands } from './ballot.js';
import { all, make } from '../../web/client/elements.js';

/**
 * @typedef {{ asks: string, options: string[], isShown: boolean }} Question  isShown: after its step
 * @typedef {{ name: string, kind: 'vote' | 'answer' | 'spot', questions: Question[] }} Vote  name: shared with its answer's slide
 * @typedef {Record<string, (number | null)[]>} Counts  by the name of a vote: for each box, null if not counted
 */

const LETTERS = 'ABCDEFGH'; // as the slide's cards have them

/** The key of a slide's chapter. @param {string} id */
export const chapterOf = (id) => id.replace(/-\d+$/, '');

/** @param {ParentNode} slide  in its present step  @param {string} id  of it  @returns {Vote | null} */
export function voteOn(slide, id) {
  const svg = ballotOf(slide);
  if (svg) {
    const kind = /** @type {'vote' | 'answer'} */ (svg.dataset.ballot);
    return { name: chapterOf(id), kind, questions: questionsIn(svg) };
  }
  const options = all('.options li', slide).map(
    ({ firstChild }, at) => `${LETTERS[at]} ${textOf(firstChild)}`,
  );
  if (options.length === 0) return null;
  const asks = 'Which does it break?';
  return { name: id, kind: 'spot', questions: [{ asks, options, isShown: true }] };
}

/** A row's question is the text to the left of its boxes. */
function questionsIn(/** @type {SVGSVGElement} */ svg) {
  const boxes = boxesOf(svg);
  const texts = all('text', svg).map((element) => {
    const [x, y] = ['x', 'y'].map((name) => Number(element.getAttribute(name)));
    return { x, y, words: textOf(element) };
  });
  return [...new Set(boxes.map(({ y }) => y))].map((top) => {
    const row = boxes.filter(({ y }) => y === top);
    const [{ x: left, height }] = row;
    const asks = texts
      .filter(({ x, y }) => x < left && y > top && y < top + height)
      .map(({ words }) => words);
    const options = row.map(({ label }) => label);
    return { asks: asks.join(' '), options, isShown: row.every(({ isShown }) => isShown) };
  });
}

const textOf = (/** @type {Node | null} */ node) =>
  node?.textContent?.replace(/\s+/g, ' ').trim() ?? '';

/** The speaker's typed count replaces the learners' taps. @param {Counts} typed  @param {Counts} [tapped]  @returns {Counts} */
export function countsOf(typed, tapped = {}) {
  const names = [...new Set([...Object.keys(typed), ...Object.keys(tapped)])];
  const each = names.map((name) => {
    const [mine = [], theirs = []] = [typed[name], tapped[name]];
    const boxes = Array.from({ length: Math.max(mine.length, theirs.length) });
    return [name, boxes.map((_, box) => mine[box] ?? theirs[box] ?? null)];
  });
  return Object.fromEntries(each);
}

/** @param {ParentNode} slide  @param {(number | null)[]} counts  for each box */
export function drawCounts(slide, counts) {
  const svg = ballotOf(slide);
  if (svg) drawHands(svg, counts);
  for (const [box, option] of all('.options li', slide).entries()) {
    option.querySelector('.hands')?.remove();
    const count = counts[box] ?? null;
    if (count === null) continue;
    const mark = make('b', { className: 'hands', textContent: String(count) });
    mark.setAttribute('aria-label', `, hands: ${count}`);
    option.append(mark);
  }
}
