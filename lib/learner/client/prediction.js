/** Asks for the learner's prediction before the first measurement; one from the terminal counts as well. */
import { ask } from './ask-server.js';
import { all } from '../../web/client/elements.js';

/** @param {HTMLElement | null} section  null if the text asks for none  @param {{ key: string }} page */
export function createPrediction(section, { key }) {
  if (!section) return { update() {} };
  const form = section.querySelector('form');
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('predicted'));
  const [fault] = all('#prediction-fault', section);
  const [note] = all('#prediction-note', section);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const value = Number(field.value.replace(',', '.').replace(/x$/i, ''));
    const isGood = field.value.trim() !== '' && Number.isFinite(value) && value > 0;
    fault.textContent = isGood ? '' : 'A prediction is a number above 0, such as 3.5.';
    if (!isGood) return;
    const asked = await ask(`/lessons/${key}/prediction/${value}`);
    fault.textContent = asked.fault ?? '';
    if (!asked.fault) field.value = '';
  });
  return {
    update({ predictions, measured }) {
      const { [key]: value } = predictions;
      section.hidden = measured.includes(key);
      const unit = section.querySelector('.unit')?.textContent;
      const words = `You predicted ${[value, unit].filter(Boolean).join(' ')}. Until it is measured you can correct it.`;
      const now = value === undefined ? '' : words;
      if (note.textContent !== now) note.textContent = now;
    },
  };
}
