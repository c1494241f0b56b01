/** Each `npm run try …` of the text is a button: it asks for a prediction, performs the experiment, and shows what was seen. */
import { read } from './ask-server.js';
import { createActivityEvidence } from '../../web/client/evidence.js';
import { stopButton } from './activity.js';
import { all, make } from '../../web/client/elements.js';

const COMMAND = /^(?:\$ )?npm run try lesson-(\d+)(?: ([a-z0-9-]+))?$/;
let count = 0;

/**
 * @param {HTMLElement} text
 * @param {{ key: string, number: string, activity: import('./activity.js').Activity }} page
 */
export function createExperiments(text, { key, number, activity }) {
  const bench = createBench({ key, activity });
  for (const code of all('code', text)) {
    const names = commandsIn(code, number);
    if (names.length === 0) continue;
    const figure = code.closest('figure');
    const buttons = names.map((name) => tryButton(name, (button) => bench.open(button, name)));
    if (figure) {
      const line = make('p', { className: 'tries' });
      line.append(...buttons);
      figure.after(line);
    } else code.after(' ', ...buttons);
  }
  return bench;
}

/** The names of the experiments that a piece of code runs; '' where it names none. */
function commandsIn(code, number) {
  const lines = code.closest('pre') ? code.textContent.split('\n') : [code.textContent];
  return lines.flatMap((line) => {
    const [, lesson, name = ''] = COMMAND.exec(line.trim()) ?? [];
    return lesson === number && !/^(all|\d+)$/.test(name) ? [name] : [];
  });
}

function tryButton(name, open) {
  const button = make('button', { type: 'button', className: 'try' });
  button.append('Try it');
  button.append(make('span', { className: 'unseen', textContent: name ? `: ${name}` : ' here' }));
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', () => open(button));
  return button;
}

/** The one place where an experiment is performed: it stands where it was asked for. */
function createBench({ key, activity }) {
  const section = make('section', { className: 'bench', hidden: true });
  /** @type {HTMLElement | undefined} */
  let opener;
  /** @type {any[] | undefined} */
  let experiments;

  function close() {
    section.hidden = true;
    opener?.setAttribute('aria-expanded', 'false');
    opener = undefined;
  }

  function show(...elements) {
    const shut = make('button', { type: 'button', className: 'close', textContent: 'Close' });
    shut.addEventListener('click', () => {
      const back = opener;
      close();
      back?.focus();
    });
    section.replaceChildren(...elements, shut);
  }

  function menu() {
    const title = titled(section, 'Experiments: predict, then look');
    const list = make('ol', { className: 'menu' });
    for (const one of experiments) {
      const item = make('li', {});
      const button = make('button', { type: 'button', textContent: one.title });
      button.addEventListener('click', () => showOne(one));
      item.append(button);
      list.append(item);
    }
    show(title, list);
  }

  function showOne(experiment) {
    show(
      ...createPerformance(experiment, { key, activity, title: titled(section, experiment.title) }),
    );
    section.querySelector('textarea')?.focus();
  }

  return {
    /**
     * @param {HTMLElement} button  where it was asked for
     * @param {string} [name]  of an experiment, or all are offered
     * @param {HTMLElement} [place]  in which it is shown, unless below the button
     */
    async open(button, name = '', place) {
      if (opener === button) return close();
      close();
      opener = button;
      button.setAttribute('aria-expanded', 'true');
      if (place) place.replaceChildren(section);
      else putBelow(button, section);
      show(make('p', { className: 'note', textContent: 'One moment.' }));
      section.hidden = false;
      const { value, fault } = experiments
        ? { value: experiments }
        : await read(`/lessons/${key}/experiments.json`);
      experiments = value;
      const found = experiments?.find((one) => one.name === name);
      if (fault) show(make('p', { className: 'note', textContent: fault }));
      else if (found) showOne(found);
      else menu();
    },
    close,
  };
}

/** Below the paragraph, figure or item that it was asked for in. */
function putBelow(button, section) {
  const block = button.closest('p, figure, li, td, #text > *');
  if (/^(LI|TD)$/.test(block.tagName)) block.append(section);
  else block.after(section);
}

function titled(section, textContent) {
  const id = `bench-${(count += 1)}`;
  section.setAttribute('aria-labelledby', id);
  return make('h3', { id, textContent });
}

/** The question, the prediction, and what came of it. @returns {HTMLElement[]} */
function createPerformance({ name, question, obstacle }, { key, activity, title }) {
  const asked = make('p', { className: 'question', textContent: question });
  const status = make('p', { className: 'note' });
  status.setAttribute('role', 'status');
  if (obstacle) {
    status.textContent = `${obstacle.got} ${obstacle.why} To install it: ${obstacle.try}`;
    return [title, asked, status];
  }
  const form = make('form', {});
  const id = `guess-${(count += 1)}`;
  const guess = make('textarea', { id, rows: 2, maxLength: 500 });
  const look = make('button', { type: 'submit', textContent: 'Look' });
  const stop = stopButton();
  const line = make('p', {});
  line.append(look, ' ', stop);
  form.append(make('label', { htmlFor: id, textContent: 'What do you expect?' }), guess, line);
  const seen = make('dl', { className: 'seen' });
  const xray = make('section', { className: 'evidence', hidden: true });
  const evidence = createActivityEvidence(xray, 'What happened in this experiment');
  stop.hidden = true;

  const run = (isRunning) => {
    stop.hidden = !isRunning;
    look.hidden = isRunning;
    guess.readOnly = isRunning;
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!look.hidden && guess.value.trim() === '')
      return void (status.textContent = 'Write down a guess first; "no idea" is one, too.');
    if (look.hidden) return;
    run(true);
    seen.replaceChildren();
    xray.hidden = true;
    status.textContent = 'It is running.';
    const path = `/lessons/${key}/experiments/${name}`;
    const fault = await activity.start(path, (told) => {
      if (!told.isOver) return;
      run(false);
      look.textContent = 'Look again';
      tell(told);
    });
    if (fault) run(false);
    if (fault) status.textContent = fault;
  });

  function tell(told) {
    const { fault, obstacle: now, observed = [], because = [], asExpected } = told;
    status.textContent = fault ?? (now ? `It cannot be shown now. ${now.got} ${now.why}` : '');
    if (fault || now) return;
    const why = asExpected ? 'Why' : 'This is not what we saw. What we wanted to show';
    seen.replaceChildren(
      ...pair('You expected', [guess.value.trim()]),
      ...pair('Seen just now', observed),
      ...pair(why, because),
    );
    evidence.show(told);
  }
  return [title, asked, form, status, seen, xray];
}

function pair(name, lines) {
  const told = make('dd', {});
  told.append(...lines.map((textContent) => make('p', { textContent })));
  return [make('dt', { textContent: name }), told];
}
