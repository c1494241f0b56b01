/** Before the load event, shows every step for printing, and the end of each recording that the page has. */
import { all } from '../../web/client/elements.js';
import { createScene, furnish } from './scene.js';

const recordings = JSON.parse(document.getElementById('recordings').textContent);
for (const fragment of all('.fragment')) fragment.classList.add('visible');
for (const figure of all('figure.demo')) {
  const recording = recordings[figure.dataset.demo];
  if (!recording) continue; // as on a learner's paper: the question alone, as large as before a run
  const scene = createScene(furnish(figure));
  for (const message of recording) scene.take(message);
  scene.finish();
}
