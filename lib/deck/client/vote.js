/** What the room is asked on a slide: the rows of a vote's diagram, or what a change may break. */
import { ballotOf, boxesOf, drawHands } from './ballot.js';
import { all, make } from '../../web/client/elements.js';

/**
 * @typedef {object} Vote
 * @property {string} name  the same on the slide with the answers
 * @property {'vote' | 'answer' | 'spot'} kind
 * @property {{ asks: string, options: string[], isShown: boolean }[]} questions  isShown: it has had its step
 */

const LETTERS = 'ABCDEFGH'; // as the slide's cards have them

/** The lesson of a slide. @param {string} id */
export const chapterOf = (id) => id.replace(/-\d+$/, '');

/**
 * @param {ParentNode} slide  as it is on the wall
 * @param {string} id  of it
 * @returns {Vote | null}  null where the room is asked nothing
 */
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

/** What stands left of the boxes of a row asks its question. */
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

/**
 * What was typed for a box counts for it; where nothing was, what learners have tapped does.
 * @param {Record<string, (number | null)[]>} typed  by the name of a vote, for each box
 * @param {Record<string, (number | null)[]>} [tapped]
 * @returns {Record<string, (number | null)[]>}  null: not counted
 */
export function countsOf(typed, tapped = {}) {
  const names = [...new Set([...Object.keys(typed), ...Object.keys(tapped)])];
  const each = names.map((name) => {
    const [mine = [], theirs = []] = [typed[name], tapped[name]];
    const boxes = Array.from({ length: Math.max(mine.length, theirs.length) });
    return [name, boxes.map((_, box) => mine[box] ?? theirs[box] ?? null)];
  });
  return Object.fromEntries(each);
}

/**
 * Writes the counts on the slide.
 * @param {ParentNode} slide
 * @param {(number | null)[]} counts
 */
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
