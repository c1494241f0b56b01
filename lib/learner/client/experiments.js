/** Gives each `npm run try …` of the text a button that opens the experiment below it. */
import { all, make } from '../../web/client/elements.js';
import { createBench } from './experiment-bench.js';

const COMMAND = /^(?:\$ )?npm run try lesson-(\d+)(?: ([a-z0-9-]+))?$/;

/** @param {HTMLElement} text  @param {{ key: string, number: string, activity: import('./activity.js').Activity }} page */
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

/** The names of the experiments that a piece of code runs; '' for a command without a name. */
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
