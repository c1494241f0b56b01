/** Spot the fault: a change to the solution is shown, one says which promise it breaks, and it is started and judged. */
import { stopButton } from './activity.js';
import { ask } from './ask-server.js';
import { createActivityEvidence } from '../../web/client/evidence.js';
import { diffOf } from './diff-and-reset.js';
import { make } from '../../web/client/elements.js';
import { SIGNS } from './promises.js';

/**
 * @param {HTMLElement} place
 * @param {{ key: string, activity: import('./activity.js').Activity }} page
 */
export async function showSpot(place, { key, activity }) {
  place.replaceChildren(note('One moment.'));
  const { value, fault } = await ask(`/lessons/${key}/spot`);
  if (fault) return place.replaceChildren(note(fault));
  if (value.reason)
    return place.replaceChildren(
      note(value.reason),
      button('Go on anyway', () => showSpot(place, { key, activity })),
    );
  sit(value, { place, key, activity });
}

/** One change after the other. */
function sit({ changes, promises, right }, { place, key, activity }) {
  let seen = 0;
  const show = (/** @type {number} */ index) => {
    if (index >= changes.length) return end();
    const title = make('h3', {
      textContent: `Which promise does it break? ${index + 1} of ${changes.length}`,
      tabIndex: -1,
    });
    const form = make('form', { className: 'spot' });
    const choices = choicesOf(promises, right);
    const status = note('');
    const answer = make('button', { type: 'submit', textContent: 'That is my answer' });
    const stop = stopButton();
    stop.hidden = true;
    const line = make('p', {});
    line.append(answer, ' ', stop);
    form.append(choices, line, status);
    const result = make('div', {});
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      /** @type {HTMLInputElement | null} */
      const chosen = form.querySelector('input:checked');
      const said = chosen?.value ?? '';
      if (said === '') return void (status.textContent = 'Choose one first.');
      if (answer.hidden) return;
      run(true);
      status.textContent = 'It is started and judged.';
      const path = `/lessons/${key}/spot/${index}/${said}`;
      const fault = await activity.start(path, (told) => {
        if (!told.isOver) return;
        run(false);
        status.textContent = told.fault ?? '';
        if (told.fault) return;
        answer.hidden = true;
        choices.disabled = true;
        seen += Number(told.isSeen);
        const isLast = index + 1 >= changes.length;
        const next = button(isLast ? 'How many did you see?' : 'The next one', () =>
          show(index + 1),
        );
        tellJudged(result, told, { promises, next });
      });
      if (fault) run(false);
      if (fault) status.textContent = fault;
    });
    const run = (isRunning) => {
      answer.hidden = isRunning;
      stop.hidden = !isRunning;
      choices.disabled = isRunning;
    };
    place.replaceChildren(title, ...diffsOf(changes[index]), form, result);
    if (index > 0) title.focus();
  };
  const end = () =>
    place.replaceChildren(
      note(`You saw ${seen} of ${changes.length}.`),
      button('More', () => showSpot(place, { key, activity })),
    );
  if (changes.length === 0) place.replaceChildren(note('This lesson has no changes to show.'));
  else show(0);
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

function tellJudged(place, told, { promises, next }) {
  const { isSeen, isRight, breaks, why, bug } = told;
  const sentenceOf = (id) => promises.find((one) => one.id === id)?.sentence ?? id;
  const answer = isRight ? 'It is right.' : `It breaks: ${breaks.map(sentenceOf).join('; ')}.`;
  const list = make('ul', { className: 'judged' });
  for (const { verdict, sentence, got } of told.promises) {
    const [sign, word] = SIGNS[verdict];
    const item = make('li', {});
    item.dataset.verdict = verdict;
    item.append(make('b', { textContent: `${sign} ${word}` }), ` ${sentence}`);
    if (got) item.append(make('p', { className: 'got', textContent: got }));
    list.append(item);
  }
  const words = make('p', { className: 'told' });
  words.append(make('b', { textContent: isSeen ? 'You saw it.' : 'Not quite.' }), ` ${answer}`);
  words.setAttribute('role', 'status');
  const whose = isRight
    ? 'What is different in it'
    : 'Why someone writes this, and what clients notice';
  const reason = make('p', { textContent: `${whose}: ${why.replaceAll(/\s+/g, ' ')}` });
  const xray = make('section', { className: 'evidence', hidden: true });
  const parts = [
    words,
    reason,
    list,
    ...(bug ? [note(`This is a fault in Forkshop: ${bug}`)] : []),
  ];
  place.replaceChildren(...parts, next, xray);
  const shown = told.promises.find(({ verdict }) => verdict === 'failed');
  createActivityEvidence(xray, 'What happened in it').show(told, shown);
}

function note(textContent) {
  const words = make('p', { className: 'note', textContent });
  words.setAttribute('role', 'status');
  return words;
}

function button(textContent, act) {
  const line = make('p', {});
  const one = make('button', { type: 'button', textContent });
  one.addEventListener('click', act, { once: true });
  line.append(one);
  return line;
}
