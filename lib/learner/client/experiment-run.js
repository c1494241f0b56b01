/** One experiment: its question, the learner's guess, a run, and what was seen in it. */
import { startAndStop } from './activity.js';
import { make } from '../../web/client/elements.js';
import { createActivityEvidence } from '../../web/client/evidence.js';

const NO_GUESS = 'Write down a guess first; "no idea" counts as one.';
let count = 0;

/**
 * @param {{ name: string, question: string, obstacle?: any }} experiment  obstacle: why it can't run on this machine
 * @param {{ key: string, activity: import('./activity.js').Activity, title: HTMLElement }} page @returns {HTMLElement[]}
 */
export function experimentElements({ name, question, obstacle }, { key, activity, title }) {
  const asked = make('p', { className: 'question', textContent: question });
  const status = make('p', { className: 'note' });
  status.setAttribute('role', 'status');
  if (obstacle) {
    status.textContent = `${obstacle.got} ${obstacle.why} To install it: ${obstacle.try}`;
    return [title, asked, status];
  }
  const { form, guess, look, setRunning } = guessForm();
  const seen = make('dl', { className: 'seen' });
  const xray = make('section', { className: 'evidence', hidden: true });
  const evidence = createActivityEvidence(xray, 'What happened in this experiment');

  const finish = (/** @type {any} */ run) => {
    setRunning(false);
    look.textContent = 'Look again';
    status.textContent = problemIn(run);
    if (status.textContent) return;
    seen.replaceChildren(...comparison(run, guess.value.trim()));
    evidence.show(run);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (look.hidden) return;
    if (guess.value.trim() === '') return void (status.textContent = NO_GUESS);
    setRunning(true);
    seen.replaceChildren();
    xray.hidden = true;
    status.textContent = 'It is running.';
    const path = `/lessons/${key}/experiments/${name}`;
    const fault = await activity.start(path, (run) => run.isOver && finish(run));
    if (fault) setRunning(false);
    if (fault) status.textContent = fault;
  });
  return [title, asked, form, status, seen, xray];
}

function guessForm() {
  const form = make('form', {});
  const id = `guess-${(count += 1)}`;
  const guess = make('textarea', { id, rows: 2, maxLength: 500 });
  const look = make('button', { type: 'submit', textContent: 'Look' });
  const { line, setRunning: showRunning } = startAndStop(look);
  form.append(make('label', { htmlFor: id, textContent: 'What do you expect?' }), guess, line);
  const setRunning = (/** @type {boolean} */ isRunning) => {
    showRunning(isRunning);
    guess.readOnly = isRunning;
  };
  return { form, guess, look, setRunning };
}

const problemIn = ({ fault, obstacle }) =>
  fault ?? (obstacle ? `It cannot be shown now. ${obstacle.got} ${obstacle.why}` : '');

/** The guess beside what was seen. */
function comparison({ observed = [], because = [], asExpected }, guess) {
  const why = asExpected ? 'Why' : 'This is not what we saw. What we wanted to show';
  return [
    ...pair('You expected', [guess]),
    ...pair('Seen just now', observed),
    ...pair(why, because),
  ];
}

function pair(name, lines) {
  const details = make('dd', {});
  details.append(...lines.map((textContent) => make('p', { textContent })));
  return [make('dt', { textContent: name }), details];
}
