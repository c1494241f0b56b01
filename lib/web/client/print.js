/** On paper: every step is shown, and every demo as it was recorded. */
import { createDemo } from './demo.js';
import { all } from './page.js';

for (const fragment of all('.fragment')) fragment.classList.add('visible');
const demos = all('figure.demo').map(createDemo);
await Promise.all(demos.map((demo) => demo.showRecorded()));
document.body.dataset.ready = 'yes';
