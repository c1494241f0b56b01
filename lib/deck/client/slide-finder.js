/** Finds slides by number, or by words of their title, their chapter or their text. */
import { make } from '../../web/client/elements.js';

const MOST = 9;

/** @param {{ slides: () => HTMLElement[], goTo: (id: string) => void }} options */
export function createFinder({ slides, goTo }) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('finder'));
  const field = /** @type {HTMLInputElement} */ (dialog.querySelector('input'));
  const list = dialog.querySelector('ol');
  dialog.addEventListener('close', () =>
    /** @type {HTMLElement} */ (document.activeElement).blur(),
  ); // so that Space doesn't open it again
  field.addEventListener('input', search);
  field.addEventListener('keydown', ({ key }) => key === 'Escape' && dialog.close()); // the browser would only empty the field
  dialog.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('button')?.click();
  });

  function search() {
    const found = findSlides(slides(), field.value).slice(0, MOST);
    list.replaceChildren(...found.map(choiceOf));
  }

  function choiceOf({ slide, number }) {
    const textContent = `${number}  ${slide.querySelector('h1').textContent} (${slide.dataset.chapter})`;
    const button = make('button', { type: 'button', textContent });
    button.addEventListener('click', () => {
      dialog.close();
      goTo(slide.id);
    });
    const item = make('li', {});
    item.append(button);
    return item;
  }

  return {
    open() {
      field.value = '';
      dialog.showModal();
      search();
    },
  };
}

/** Slides with the words in their title come first. @param {HTMLElement[]} slides  @param {string} text */
function findSlides(slides, text) {
  const words = text.trim().toLowerCase().split(/\s+/);
  const all = slides.map((slide, index) => ({ slide, number: index + 1 }));
  const has = (of) => (one) => words.every((word) => of(one.slide).toLowerCase().includes(word));
  const inTitle = has(
    (slide) => `${slide.querySelector('h1').textContent} ${slide.dataset.chapter}`,
  );
  const inText = has((slide) => slide.textContent);
  if (/^\d+$/.test(text.trim())) return all.filter(({ number }) => number === Number(text));
  const first = all.filter(inTitle);
  return [...first, ...all.filter((one) => !first.includes(one) && inText(one))];
}
