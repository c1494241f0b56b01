/** The diff with the solution, and the reset to the starter; each asks before it acts. */
import { ask } from './ask-server.js';
import { make, note, onceButton } from '../../web/client/elements.js';

/** @param {HTMLElement} place  @param {string} key */
export async function showDiff(place, key) {
  place.replaceChildren(note('One moment.'));
  const { value, fault } = await ask(`/lessons/${key}/diff`);
  if (fault) return place.replaceChildren(note(fault));
  if (value.reason)
    return place.replaceChildren(
      note(value.reason),
      onceButton('Show it anyway', () => showDiff(place, key)),
    );
  place.replaceChildren(
    ...value.files.flatMap(({ file, patch }) =>
      patch ? [diffOf(linesOf(patch), file)] : [note(`${file} is the same as in the solution.`)],
    ),
  );
}

/** @param {HTMLElement} place  @param {string} key */
export async function showReset(place, key) {
  place.replaceChildren(note('One moment.'));
  const { value, fault } = await ask(`/lessons/${key}/reset/look`);
  if (fault) return place.replaceChildren(note(fault));
  if (value.changed.length === 0)
    return place.replaceChildren(
      note('Nothing to put back: the files are as they were given to you.'),
    );
  const list = make('ul', {});
  for (const path of value.changed) {
    const item = make('li', {});
    item.append(make('code', { textContent: path }));
    list.append(item);
  }
  place.replaceChildren(
    note('These files will be put back to how they were. Your versions are kept.'),
    list,
    onceButton('Put them back', () => putBack(place, key)),
  );
}

async function putBack(place, key) {
  const { value, fault } = await ask(`/lessons/${key}/reset`);
  const kept = value?.backup ? ` Your versions were kept in ${value.backup}.` : '';
  const words = `Done.${kept} What you have passed stays passed. Your editor may have to load the files again.`;
  place.replaceChildren(note(fault ?? words));
}

/** Without the rule above the patch: the figure names the file. */
const linesOf = (/** @type {string} */ patch) =>
  patch.split('\n').filter((line, index) => index > 0 || !/^=+$/.test(line));

/**
 * A unified diff; each line keeps its sign, so the meaning doesn't depend on the colour.
 * @param {string[]} lines @param {string} caption
 */
export function diffOf(lines, caption) {
  const figure = make('figure', { className: 'diff' });
  const pre = make('pre', { tabIndex: 0 });
  pre.append(...lines.map(lineOf));
  figure.append(make('figcaption', { textContent: caption }), pre);
  return figure;
}

function lineOf(text) {
  const kind = /^(={3}|---|\+{3}|@@)/.test(text)
    ? 'place'
    : { '+': 'added', '-': 'taken' }[text[0]];
  return make('span', { className: kind ?? 'same', textContent: `${text}\n` });
}
