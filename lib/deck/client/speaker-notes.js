/** The speaker's notes, in the chosen size or as much smaller as they need to fit, with the sentence of this step marked. */
import { all } from '../../web/client/elements.js';
import { remember } from './remember.js';

const PX = { first: 21, least: 13, most: 41, by: 2 };

/** @param {HTMLElement} talk  the notes' place */
export function createNotes(talk) {
  const { value: look, save } = remember(localStorage, 'forkshop-notes', { px: PX.first });
  const chosenPx = () => Number(look.px) || PX.first;
  const fit = () => fitInto(talk, chosenPx());
  const resize = (/** @type {number} */ by) => {
    look.px = Math.min(PX.most, Math.max(PX.least, chosenPx() + by));
    save();
    fit();
  };
  new ResizeObserver(fit).observe(talk);
  fit();
  return {
    fit,
    smaller: () => resize(-PX.by),
    larger: () => resize(PX.by),
    /** @param {string} notes  HTML  @param {number} step  of the slide */
    show(notes, step) {
      if (talk.dataset.of !== notes) {
        talk.dataset.of = notes;
        talk.innerHTML = notes;
        talk.scrollTop = 0;
        fit();
      }
      mark(talk, step);
    },
  };
}

const mustScroll = (/** @type {HTMLElement} */ talk) => talk.scrollHeight > talk.clientHeight + 1;

/** Sets the notes in the largest size, up to the wanted one, in which they need no scrolling. */
function fitInto(/** @type {HTMLElement} */ talk, /** @type {number} */ wantedPx) {
  let px = wantedPx;
  do talk.style.fontSize = `${px}px`;
  while (mustScroll(talk) && (px -= 1) >= PX.least);
}

/** Marks the sentence of a step, and scrolls to it if the notes don't fit. */
function mark(/** @type {HTMLElement} */ talk, /** @type {number} */ step) {
  for (const said of all('.step', talk)) {
    const isHere = Number(said.dataset.step) === step;
    said.classList.toggle('here', isHere);
    if (isHere && mustScroll(talk)) said.scrollIntoView({ block: 'nearest' });
  }
}
