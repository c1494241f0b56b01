/** The button that raises the learner's hand on the board of a class, as the terminal's key does. */
import { ask } from './ask-server.js';

const UNHEARD =
  'Your hand is up, but you are not on the board: npm start says why. The board shows it as soon as you are.';

/** @param {HTMLElement | null} button  null if no board was joined */
export function createHand(button) {
  const note = document.getElementById('hand-note');
  if (!button || !note) return { update() {} };
  let isUp = false;
  const say = (/** @type {string} */ words) => {
    if (note.textContent !== words) note.textContent = words;
    note.hidden = words === '';
  };
  button.addEventListener('click', async () => {
    const { fault } = await ask(`/hand/${isUp ? 'down' : 'up'}`);
    if (fault) say(fault);
  });
  return {
    /** @param {{ isUp: boolean, isHeard: boolean }} hand */
    update(hand) {
      ({ isUp } = hand);
      button.classList.toggle('up', isUp);
      button.textContent = isUp ? 'Take your hand down' : 'Raise your hand';
      const words = hand.isHeard ? 'Your hand is up: it is seen on the board.' : UNHEARD;
      say(isUp ? words : '');
    },
  };
}
