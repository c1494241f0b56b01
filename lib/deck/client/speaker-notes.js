/** The speaker's notes: as large as was chosen and as fits, with what is said at this step marked. */
import { all } from '../../web/client/elements.js';
import { remember } from './remember.js';

const PX = { first: 21, least: 13, most: 41, by: 2, fits: 13 }; // fits: so small they become by themselves

/** @param {HTMLElement} talk  where they stand */
export function createNotes(talk) {
  const { value: look, save } = remember(localStorage, 'forkshop-notes', { px: PX.first });

  /** As large as was chosen, and smaller where their end would have to be scrolled for. */
  function fit() {
    let px = Number(look.px) || PX.first;
    do talk.style.fontSize = `${px}px`;
    while (talk.scrollHeight > talk.clientHeight + 1 && (px -= 1) >= PX.fits);
  }

  function resize(/** @type {number} */ by) {
    look.px = Math.min(PX.most, Math.max(PX.least, (Number(look.px) || PX.first) + by));
    save();
    fit();
  }

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
        talk.scrollTop = 0; // they begin at their top
        fit();
      }
      mark(step);
    },
  };

  /** Where the notes have to be scrolled, what is said now is in sight. */
  function mark(/** @type {number} */ step) {
    for (const said of all('.step', talk)) {
      const isHere = Number(said.dataset.step) === step;
      said.classList.toggle('here', isHere);
      if (isHere && talk.scrollHeight > talk.clientHeight + 1)
        said.scrollIntoView({ block: 'nearest' });
    }
  }
}
