/** The demo on the wall, as it is drawn now, in the small copy of its slide that the speaker has. */
import { all, make } from '../../web/client/elements.js';

const SELDOM_MS = 500; // to copy a drawing takes time from what is measured

/**
 * On the wall.
 * @param {(picture: { id: string, html: string }) => void} send
 * @returns {{ look: (slide: Element) => void, forget: () => void }}  look: as often as one likes, it is sent when it has
 *   changed; forget: there is a window that has none yet
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

/**
 * In the speaker's window.
 * @param {Element} view  the small copy of the slide
 * @param {string} html
 */
export function showStill(view, html) {
  const figure = view.querySelector('figure.demo');
  if (!figure) return;
  figure.outerHTML = html;
  for (const one of all('[data-style]', view)) one.style.cssText = one.dataset.style ?? '';
}

/** A style that stands in HTML is refused by the page's policy; a script may set it. */
function htmlOf(/** @type {HTMLElement} */ copy) {
  for (const one of all('[style]', copy)) {
    one.dataset.style = one.style.cssText;
    one.removeAttribute('style');
  }
  return copy.outerHTML;
}

/** A copy in which nothing can be pressed. @param {Element} figure  @returns {HTMLElement} */
export function still(figure) {
  const copy = /** @type {HTMLElement} */ (figure.cloneNode(true));
  for (const one of all('.transport :not(.badge), .point', copy)) one.remove(); // the speaker has these buttons below the notes
  for (const button of all('button', copy)) {
    const { textContent, hidden } = button;
    button.replaceWith(make('span', { className: 'pressed-there', textContent, hidden }));
  }
  for (const one of all('[id]:not(defs [id]), [tabindex]', copy))
    // a drawing needs its patterns
    for (const name of ['id', 'tabindex']) one.removeAttribute(name);
  return copy;
}
