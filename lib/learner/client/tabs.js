/** Text and verdict: side by side on a wide screen, else two tabs, each of which keeps its scroll position. */
import { all } from '../../web/client/elements.js';

const BESIDE = '(min-width: 1100px)'; // as in learner.css

/** @returns {{ show: (view: 'text' | 'verdict') => void }} */
export function createViews() {
  const isBeside = matchMedia(BESIDE);
  const places = { text: 0, verdict: 0 };
  const links = all('a[href="#text"], a[href="#verdict"]');
  const viewOf = (link) => link.getAttribute('href').slice(1);
  let shown = 'text';

  function show(view) {
    if (!isBeside.matches && view !== shown) places[shown] = window.scrollY;
    const isOther = view !== shown;
    shown = view;
    document.body.dataset.view = view;
    for (const link of links)
      if (link.closest('#status')) link.setAttribute('aria-current', String(viewOf(link) === view));
    if (isOther && !isBeside.matches) window.scrollTo(0, places[view]);
  }

  for (const link of links)
    link.addEventListener('click', (event) => {
      if (!isBeside.matches) event.preventDefault();
      show(viewOf(link));
    });
  show(location.hash === '#verdict' ? 'verdict' : 'text');
  return { show };
}
