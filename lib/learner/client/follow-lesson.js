/** Takes the page to the lesson that is checked, unless it has unsent text: then it only offers a link. */
import { all, make } from '../../web/client/elements.js';

const CAME = 'forkshop-came-from';

/** @param {HTMLElement} place  for the note  @param {{ key: string, number: string }} lesson  of this page */
export function createFollowing(place, { key, number }) {
  /** @type {number | undefined} the newest check so far */
  let seen;
  const came = JSON.parse(sessionStorage.getItem(CAME) ?? 'null');
  sessionStorage.removeItem(CAME);
  const hasCome = came?.to === key;
  if (hasCome)
    say(`Lesson ${number} was checked, so the page has come here.`, came, 'Back to lesson');

  function say(words, { key: to, number: of }, link) {
    place.hidden = false;
    place.replaceChildren(
      `${words} `,
      make('a', { href: `/lessons/${to}/`, textContent: `${link} ${of}` }),
    );
  }

  return {
    /** Whether the check of this lesson brought the page here. */
    hasCome,
    /** After a restart npm start counts checks from 0 again. */
    forget: () => (seen = 0),
    /** @param {{ id: number, lesson: { key: string, number: number } } | null} newest */
    update(newest) {
      seen ??= newest?.id ?? 0;
      if (!newest || newest.id <= seen) return;
      seen = newest.id;
      const { lesson } = newest;
      if (lesson.key === key) return void (place.hidden = true);
      if (isTyping()) return say(`Lesson ${lesson.number} is checked now.`, lesson, 'Show lesson');
      sessionStorage.setItem(CAME, JSON.stringify({ to: lesson.key, key, number }));
      location.assign(`/lessons/${lesson.key}/`);
    },
  };
}

/** Whether a field has unsent text. */
const isTyping = () =>
  all('#predicted, textarea').some(
    (field) => !field.closest('[hidden]') && /** @type {any} */ (field).value.trim() !== '',
  );
