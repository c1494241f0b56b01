/** Copies the current drawing of a demo from the wall to the speaker's small copy of the slide. */
import { all, make } from '../../web/client/elements.js';

const SELDOM_MS = 500; // copying takes CPU from the measured server

/**
 * On the wall.
 * @param {(picture: { id: string, html: string }) => void} send
 * @returns {{ look: (slide: Element) => void, forget: () => void }}  look: sends a changed drawing; forget: for a new window
 */
export function createMirror(send) {
  let [sent, nextMs] = ['', 0];
  return {
    look(slide) {
      const figure = slide.querySelector('figure.demo[data-seen]');
      if (!figure || performance.now() < nextMs) return;
      nextMs = performance.now() + SELDOM_MS;
      const html = htmlOf(still(figure));
      if (html !== sent) send({ id: slide.id, html });
      sent = html;
    },
    forget() {
      sent = '';
    },
  };
}

/** In the speaker's window. @param {Element} view  the small copy of the slide @param {string} html  of the drawing */
export function showStill(view, html) {
  const figure = view.querySelector('figure.demo');
  if (!figure) return;
  figure.outerHTML = html;
  for (const one of all('[data-style]', view)) one.style.cssText = one.dataset.style ?? '';
}

/** The page's policy refuses a style in HTML, but not from a script. */
function htmlOf(/** @type {HTMLElement} */ copy) {
  for (const one of all('[style]', copy)) {
    one.dataset.style = one.style.cssText;
    one.removeAttribute('style');
  }
  return copy.outerHTML;
}

/** A copy without buttons. @param {Element} figure  @returns {HTMLElement} */
export function still(figure) {
  const copy = /** @type {HTMLElement} */ (figure.cloneNode(true));
  for (const one of all('.transport :not(.badge), .point', copy)) one.remove();
  for (const button of all('button', copy)) {
    const { textContent, hidden } = button;
    button.replaceWith(make('span', { className: 'pressed-there', textContent, hidden }));
  }
  for (const one of all('[id]:not(defs [id]), [tabindex]', copy))
    // a drawing refers to its defs
    for (const name of ['id', 'tabindex']) one.removeAttribute(name);
  return copy;
}
