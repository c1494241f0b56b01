/** Spot the fault: the learner says which promise a change to the solution breaks, and a check of it gives the answer. */
import { startAndStop } from './activity.js';
import { ask } from './ask-server.js';
import { createActivityEvidence } from '../../web/client/evidence.js';
import { diffOf } from './diff-and-reset.js';
import { make, note, onceButton } from '../../web/client/elements.js';
import { SIGNS } from './promises.js';

/** @param {HTMLElement} place  @param {{ key: string, activity: import('./activity.js').Activity }} page */
export async function showSpot(place, { key, activity }) {
  place.replaceChildren(note('One moment.'));
  const { value, fault } = await ask(`/lessons/${key}/spot`);
  if (fault) return place.replaceChildren(note(fault));
  if (value.reason)
    return place.replaceChildren(
      note(value.reason),
      onceButton('Go on anyway', () => showSpot(place, { key, activity })),
    );
  askInTurn(value, { place, key, activity });
}

/** Asks about one change after the other, and counts the right answers. */
function askInTurn(spots, page) {
  const { changes } = spots;
  const { place, key, activity } = page;
  let seen = 0;
  const goTo = (/** @type {number} */ index) => {
    if (index < changes.length) return showChange(index, spots, { ...page, onJudged, goTo });
    place.replaceChildren(
      note(`You saw ${seen} of ${changes.length}.`),
      onceButton('More', () => showSpot(place, { key, activity })),
    );
  };
  const onJudged = ({ isSeen }) => (seen += Number(isSeen));
  if (changes.length === 0) place.replaceChildren(note('This lesson has no changes to show.'));
  else goTo(0);
}

function showChange(index, { changes, promises, right }, { place, key, activity, onJudged, goTo }) {
  const title = make('h3', {
    textContent: `Which promise does it break? ${index + 1} of ${changes.length}`,
    tabIndex: -1,
  });
  const result = make('div', {});
  const finish = (/** @type {any} */ judged) => {
    onJudged(judged);
    const words = index + 1 < changes.length ? 'The next one' : 'How many did you see?';
    showJudged(result, judged, { promises, next: onceButton(words, () => goTo(index + 1)) });
  };
  const judge = (said, hear) => activity.start(`/lessons/${key}/spot/${index}/${said}`, hear);
  const form = answerForm(choicesOf(promises, right), { judge, finish });
  place.replaceChildren(title, ...diffsOf(changes[index]), form, result);
  if (index > 0) title.focus();
}

/** Has one answer judged; after a run that failed the learner can answer again. */
function answerForm(choices, { judge, finish }) {
  const form = make('form', { className: 'spot' });
  const status = note('');
  const answer = make('button', { type: 'submit', textContent: 'That is my answer' });
  const { line, setRunning } = startAndStop(answer);
  form.append(choices, line, status);
  const run = (/** @type {boolean} */ isRunning) => {
    setRunning(isRunning);
    choices.disabled = isRunning;
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    /** @type {HTMLInputElement | null} */
    const chosen = form.querySelector('input:checked');
    if (!chosen) return void (status.textContent = 'Choose one first.');
    if (answer.hidden) return;
    run(true);
    status.textContent = 'It is started and judged.';
    const fault = await judge(chosen.value, (judged) => {
      if (!judged.isOver) return;
      run(false);
      status.textContent = judged.fault ?? '';
      if (judged.fault) return;
      answer.hidden = true;
      choices.disabled = true;
      finish(judged);
    });
    if (fault) run(false);
    if (fault) status.textContent = fault;
  });
  return form;
}

const diffsOf = (files) =>
  files.flatMap(({ file, hunks }) =>
    hunks.map(({ line, lines }) => diffOf(lines, `${file}, from line ${line}`)),
  );

function choicesOf(promises, right) {
  const field = make('fieldset', {});
  field.append(make('legend', { textContent: 'Your answer' }));
  const all = [...promises, { id: right, sentence: 'None: this is right.' }];
  for (const { id, sentence } of all) {
    const label = make('label', {});
    const words = make('span', { textContent: sentence });
    label.append(make('input', { type: 'radio', name: 'said', value: id }), words);
    field.append(label);
  }
  return field;
}

function showJudged(place, judged, { promises, next }) {
  const { isSeen, isRight, breaks, why, bug } = judged;
  const sentenceOf = (id) => promises.find((one) => one.id === id)?.sentence ?? id;
  const answer = isRight ? 'It is right.' : `It breaks: ${breaks.map(sentenceOf).join('; ')}.`;
  const words = make('p', { className: 'told' });
  words.append(make('b', { textContent: isSeen ? 'You saw it.' : 'Not quite.' }), ` ${answer}`);
  words.setAttribute('role', 'status');
  const whose = isRight
    ? 'What is different in it'
    : 'Why someone writes this, and what clients notice';
  const reason = make('p', { textContent: `${whose}: ${why.replaceAll(/\s+/g, ' ')}` });
  const faults = bug ? [note(`This is a fault in Forkshop: ${bug}`)] : [];
  const xray = make('section', { className: 'evidence', hidden: true });
  place.replaceChildren(words, reason, listOf(judged.promises), ...faults, next, xray);
  const failed = judged.promises.find(({ verdict }) => verdict === 'failed');
  createActivityEvidence(xray, 'What happened in it').show(judged, failed);
}

function listOf(promises) {
  const list = make('ul', { className: 'judged' });
  for (const { verdict, sentence, got } of promises) {
    const [sign, word] = SIGNS[verdict];
    const item = make('li', {});
    item.dataset.verdict = verdict;
    item.append(make('b', { textContent: `${sign} ${word}` }), ` ${sentence}`);
    if (got) item.append(make('p', { className: 'got', textContent: got }));
    list.append(item);
  }
  return list;
}
