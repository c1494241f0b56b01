/** The open vote of the class: a tap on an answer votes, a tap on another changes the vote, on the same takes it back. */
import { ask } from './ask-server.js';
import { all, make } from '../../web/client/elements.js';

/** @param {HTMLElement | null} place  null if no board was joined */
export function createBallot(place) {
  if (!place) return { update() {} };
  const status = make('p', {});
  status.setAttribute('role', 'status');
  let shown = '';
  return {
    /** @param {any} vote  the open one, or null */
    update(vote) {
      const text = JSON.stringify(vote);
      if (text === shown) return;
      shown = text;
      const had = all('button', place).indexOf(/** @type {any} */ (document.activeElement));
      place.hidden = !vote;
      status.textContent = '';
      if (!vote) return place.replaceChildren();
      const title = make('h2', { id: 'ballot-title', textContent: `Vote: ${vote.title}` });
      const rows = vote.questions.map((one, question) =>
        questionOf(one, question, { vote, status }),
      );
      const note = make('p', { className: 'note', textContent: NOTE });
      place.replaceChildren(title, ...rows, status, note);
      if (had >= 0) all('button', place)[had]?.focus();
    },
  };
}

function questionOf({ asks, options }, question, { vote: { name, chosen }, status }) {
  const row = make('fieldset', {});
  const buttons = options.map((textContent, option) => {
    const isMine = chosen[question] === option;
    const button = make('button', { type: 'button', textContent });
    button.setAttribute('aria-pressed', String(isMine));
    button.addEventListener('click', async () => {
      const path = `/votes/${encodeURIComponent(name)}/${question}/${isMine ? 'none' : option}`;
      const { fault } = await ask(path);
      status.textContent = fault ?? '';
    });
    return button;
  });
  row.append(make('legend', { textContent: asks }), ...buttons);
  return row;
}

const NOTE =
  'The class sees how many chose each answer, never who. Tap another to change your vote, the same to take it back.';
