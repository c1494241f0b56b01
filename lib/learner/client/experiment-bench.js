/** The bench: the one place on the page where experiments are performed. It moves to the button that opens it. */
import { read } from './ask-server.js';
import { make, note } from '../../web/client/elements.js';
import { experimentElements } from './experiment-run.js';

let count = 0;

/** @param {{ key: string, activity: import('./activity.js').Activity }} page */
export function createBench({ key, activity }) {
  const section = make('section', { className: 'bench', hidden: true });
  let opener;
  let experiments;

  function close() {
    section.hidden = true;
    opener?.setAttribute('aria-expanded', 'false');
    opener = undefined;
  }
  const fill = (/** @type {HTMLElement[]} */ ...elements) =>
    section.replaceChildren(...elements, closeButton(close, opener));
  function showExperiment(experiment) {
    const title = titleOf(section, experiment.title);
    fill(...experimentElements(experiment, { key, activity, title }));
    section.querySelector('textarea')?.focus();
  }

  return {
    /** @param {HTMLElement} button  @param {string} [name]  default: the menu  @param {HTMLElement} [place]  default: below it */
    async open(button, name = '', place) {
      if (opener === button) return close();
      close();
      opener = button;
      button.setAttribute('aria-expanded', 'true');
      putAt(button, section, place);
      fill(note('One moment.'));
      section.hidden = false;
      const asked = experiments ? undefined : await read(`/lessons/${key}/experiments.json`);
      if (asked) experiments = asked.value;
      const found = experiments?.find((one) => one.name === name);
      if (asked?.fault) fill(note(asked.fault));
      else if (found) showExperiment(found);
      else fill(...menuOf(section, experiments, showExperiment));
    },
    close,
  };
}

/** Gives the focus back to the button that opened the bench. */
function closeButton(close, /** @type {HTMLElement | undefined} */ opener) {
  const button = make('button', { type: 'button', className: 'close', textContent: 'Close' });
  button.addEventListener('click', () => {
    close();
    opener?.focus();
  });
  return button;
}

function menuOf(section, experiments, show) {
  const list = make('ol', { className: 'menu' });
  for (const one of experiments) {
    const item = make('li', {});
    const button = make('button', { type: 'button', textContent: one.title });
    button.addEventListener('click', () => show(one));
    item.append(button);
    list.append(item);
  }
  return [titleOf(section, 'Experiments: predict, then look'), list];
}

/** In its own place, or below the paragraph, figure or item of the button. */
function putAt(button, section, place) {
  if (place) return place.replaceChildren(section);
  const block = button.closest('p, figure, li, td, #text > *');
  if (/^(LI|TD)$/.test(block.tagName)) block.append(section);
  else block.after(section);
}

function titleOf(section, textContent) {
  const id = `bench-${(count += 1)}`;
  section.setAttribute('aria-labelledby', id);
  return make('h3', { id, textContent });
}
