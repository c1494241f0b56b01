/** Marks the passed lessons and the next one, in the head and on the map. */
import { all } from '../../web/client/elements.js';

/** @param {{ passed: string[], current: string }} progress  keys of lessons */
export function showMap({ passed, current }) {
  const stateOf = (key) => (passed.includes(key) ? 'passed' : key === current ? 'next' : '');
  for (const link of all('.pills a')) {
    const state = stateOf(link.dataset.key);
    link.className = state;
    const words = `${link.title.replace(/, passed$/, '')}${state === 'passed' ? ', passed' : ''}`;
    link.title = words;
    link.querySelector('.unseen').textContent = words;
  }
  for (const place of all('[data-state]')) {
    const state = stateOf(place.dataset.state);
    place.textContent = state === 'next' ? 'you are here' : state;
  }
  for (const place of all('[data-passed]'))
    place.textContent = passed.includes(place.dataset.passed) ? 'passed' : 'not passed yet';
}
