/** Takes the page to the lesson that is checked, unless it has unsent text: then it only offers a link. */
import { all, make } from '../../web/client/elements.js';

const CAME_FROM = 'forkshop-came-from';

/** @param {HTMLElement} place  for the note  @param {{ key: string, number: string }} lesson  of this page */
export function createFollowing(place, { key, number }) {
  /** @type {number | undefined} the id of the newest check; the checks that the page finds when it opens lead nowhere */
  let seenId;
  const cameFrom = JSON.parse(sessionStorage.getItem(CAME_FROM) ?? 'null');
  sessionStorage.removeItem(CAME_FROM);
  const hasCome = cameFrom?.to === key;
  if (hasCome)
    say(`Lesson ${number} was checked, so the page has come here.`, cameFrom, 'Back to lesson');

  function say(words, lesson, link) {
    const href = `/lessons/${lesson.key}/`;
    place.hidden = false;
    place.replaceChildren(
      `${words} `,
      make('a', { href, textContent: `${link} ${lesson.number}` }),
    );
  }

  return {
    /** Whether the check of this lesson brought the page here. */
    hasCome,
    /** To be called when npm start has restarted: it counts checks from 0 again, and each is new to the page. */
    restart: () => (seenId = 0),
    /** @param {{ id: number, lesson: { key: string, number: number } } | null} newest */
    update(newest) {
      seenId ??= newest?.id ?? 0;
      if (!newest || newest.id <= seenId) return;
      seenId = newest.id;
      const { lesson } = newest;
      if (lesson.key === key) place.hidden = true;
      else if (isTyping()) say(`Lesson ${lesson.number} is checked now.`, lesson, 'Show lesson');
      else {
        sessionStorage.setItem(CAME_FROM, JSON.stringify({ to: lesson.key, key, number }));
        location.assign(`/lessons/${lesson.key}/`);
      }
    },
  };
}

/** Whether a field has unsent text. */
const isTyping = () =>
  all('#predicted, textarea').some(
    (field) => !field.closest('[hidden]') && /** @type {any} */ (field).value.trim() !== '',
  );
