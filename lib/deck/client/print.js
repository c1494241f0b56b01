/** Before the load event, shows every step for printing, and the end of every recording that the page has. */
import { all } from '../../web/client/elements.js';
import { createScene, furnish } from './scene.js';

const recordings = JSON.parse(document.getElementById('recordings').textContent);
for (const fragment of all('.fragment')) fragment.classList.add('visible');
for (const figure of all('figure.demo')) {
  const scene = createScene(furnish(figure));
  for (const message of recordings[figure.dataset.demo] ?? []) scene.take(message);
  scene.finish();
}
