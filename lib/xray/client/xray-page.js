/** The page of one X-ray: its charts, and its timeline, drawn from data in the page itself. */
import { chartOf } from '../../web/client/charts.js';
import { createEvidence } from '../../web/client/evidence.js';
import { all } from '../../web/client/elements.js';

const { charts, timeline, name, moments } = JSON.parse(
  /** @type {HTMLElement} */ (document.getElementById('data')).textContent ?? '',
);
for (const place of all('[data-chart]')) place.append(chartOf(charts[Number(place.dataset.chart)]));
const section = /** @type {HTMLElement} */ (document.getElementById('evidence'));
const title = 'What happened under load';
createEvidence(section, { title, read: async () => timeline }).show(
  { id: 'xray', programs: [{ name }] },
  { programs: [0], verdict: 'passed', shows: { program: 0, moments } },
);
