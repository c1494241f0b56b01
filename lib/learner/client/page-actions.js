/** The buttons of "Go further": experiments, faults to spot, the solution, the starter. One is open at a time. */
import { showDiff, showReset } from './diff-and-reset.js';
import { make } from '../../web/client/elements.js';
import { showSpot } from './spot-fault.js';

/**
 * @param {HTMLElement} section
 * @param {{ key: string, activity: import('./activity.js').Activity, experiments: { open: Function, close: Function } }} page
 */
export function createPageActions(section, { key, activity, experiments }) {
  const desk = make('div', { className: 'desk' });
  const line = make('p', { className: 'buttons' });
  let opened;
  const tools = {
    Experiments: (button) => experiments.open(button, '', desk),
    'Spot the fault': () => showSpot(desk, { key, activity }),
    'Compare with the solution': () => showDiff(desk, key),
    'Back to the starter': () => showReset(desk, key),
  };
  const shut = () => {
    opened?.setAttribute('aria-expanded', 'false');
    opened = undefined;
    if (desk.querySelector('.bench')) experiments.close();
    desk.replaceChildren();
  };
  for (const [name, show] of Object.entries(tools)) {
    const button = make('button', { type: 'button', textContent: name });
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const isMine = opened === button && desk.hasChildNodes();
      shut();
      if (isMine) return;
      opened = button;
      show(button);
      button.setAttribute('aria-expanded', 'true');
    });
    line.append(button);
  }
  section.append(make('h3', { textContent: 'Go further', className: 'unseen' }), line, desk);
  section.hidden = false;
}
