/** The picture of a scene under load, which the check of lesson 12 plays; a click takes it along as a file. */
import { make } from '../../web/client/elements.js';

/** @param {HTMLElement} place @param {{ key: string, number: string | undefined }} page */
export function createScene(place, { key, number }) {
  return {
    update(/** @type {any} */ { id, isOver, scene, seed }) {
      const now = `${id} ${isOver}`;
      place.hidden = !scene;
      if (!scene || place.dataset.holds === now) return;
      place.dataset.holds = now;
      const src = `/lessons/${key}/scene.svg?check=${id}`;
      const link = make('a', { href: src, download: `lesson-${number}.svg` });
      link.append(make('img', { src, alt: wordsOf(scene) }));
      const textContent = `Seed ${seed}. The yellow stripes are the blows, each until all workers served again. A click on the picture saves it.`;
      place.replaceChildren(link, make('figcaption', { className: 'note', textContent }));
    },
  };
}

function wordsOf({ slices, blows }) {
  const sum = (/** @type {string} */ field) => slices.reduce((total, one) => total + one[field], 0);
  const names = blows.map(({ name }, index) => `${index + 1} ${name}`).join(', ');
  return `Answers, latency and workers over time: ${sum('asked')} requests, ${sum('failed')} of them failed. The blows: ${names}.`;
}
