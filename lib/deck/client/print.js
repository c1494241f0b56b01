/** On paper: every step is shown, and every demo as it was recorded, if the page has its recording. Done before the page counts as loaded. */
import { all } from '../../web/client/elements.js';
import { createScene, furnish } from './scene.js';

const recordings = JSON.parse(document.getElementById('recordings').textContent);
for (const fragment of all('.fragment')) fragment.classList.add('visible');
for (const figure of all('figure.demo')) {
  const scene = createScene(furnish(figure));
  for (const message of recordings[figure.dataset.demo] ?? []) scene.take(message);
  scene.finish();
}
