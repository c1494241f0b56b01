/** The elements of the evidence: the drawing, its playback, its table, and the buttons that move it. */
import { make } from './elements.js';
import { createCurtain } from './playback-curtain.js';

const GONE = "This run's evidence is gone, or npm start can't be reached.";
const MOVES = {
  moment: 'The moment',
  whole: 'The whole run',
  earlier: 'Earlier',
  later: 'Later',
  closer: 'Closer',
  wider: 'Wider',
};
let count = 0;

/** @typedef {ReturnType<typeof createParts>} Parts */

/** @param {HTMLElement} section  @param {{ title: string, heading: 'h3' | 'h4' }} options */
export function createParts(section, { title: textContent, heading }) {
  count += 1;
  const title = make(heading, { id: `evidence-title-${count}`, textContent });
  section.setAttribute('aria-labelledby', title.id);
  const label = make('label', { textContent: 'Started as ' });
  const program = make('select', {});
  label.append(program);
  const drawing = grouped('drawing', 'X-ray of the program');
  const marks = make('ol', { className: 'marks', hidden: true });
  const unmarked = make('p', { className: 'note', hidden: true });
  const span = make('p', { className: 'span' });
  const { moves, buttons } = moveButtons();
  const { table, details } = foldedTable();
  const curtain = createCurtain();
  const gone = make('p', { className: 'note', textContent: GONE, hidden: true });
  const shown = [drawing, curtain.line, span, marks, unmarked, buttons, details];
  section.append(title, label, gone, ...shown);
  return { title, curtain, gone, shown, program, drawing, marks, unmarked, span, moves, table };
}

/** An element that the keyboard reaches, with a name. */
function grouped(className, name) {
  const element = make('div', { className, tabIndex: 0, role: 'group' });
  element.setAttribute('aria-label', name);
  return element;
}

function moveButtons() {
  const moves = Object.fromEntries(
    Object.entries(MOVES).map(([key, textContent]) => [
      key,
      make('button', { type: 'button', textContent }),
    ]),
  );
  const buttons = make('p', { className: 'moves' });
  buttons.append(...Object.values(moves));
  return { moves, buttons };
}

function foldedTable() {
  const table = make('table', {});
  const scroll = grouped('table', 'Table');
  scroll.append(table);
  const details = make('details', {});
  details.append(make('summary', { textContent: 'The same as a table' }), scroll);
  return { table, details };
}
