/** One promise opened up: expected, got, why, what to try, and what the program printed that decided it. */
import { make } from './page.js';

const FIELDS = { expected: 'Expected', got: 'Got', why: 'Why', try: 'Try' };
const GONE = 'An X-ray is drawn of checks that this npm start makes: "Check now" makes one.';

/** Of what held there is only its sentence. @returns {HTMLElement[]} */
export function storyOf(promise, check) {
  const list = make('dl', {});
  for (const name of Object.keys(FIELDS).filter((each) => promise[each]))
    list.append(
      make('dt', { textContent: FIELDS[name] }),
      make('dd', { textContent: promise[name], className: name }),
    );
  const { verdict, output } = promise;
  const isOpen = verdict === 'failed' || verdict === 'inconclusive';
  /** @type {HTMLElement[]} */
  const parts = list.children.length > 0 ? [list] : [];
  if (output) parts.push(printedBy(output, starterOf(promise, check)));
  if (isOpen && check.isKept) parts.push(make('p', { className: 'note', textContent: GONE }));
  return parts;
}

/** How the program was started that printed it. */
function starterOf({ shows, programs = [] }, check) {
  const own = programs.find((one) => check.programs[one] && !check.programs[one].isReference);
  return check.programs[shows?.program ?? own]?.name;
}

function printedBy(text, name) {
  const details = make('details', { className: 'printed' });
  const title = make('summary', { textContent: 'Your program printed' });
  if (name) title.append(', started as ', make('code', { textContent: name }));
  details.append(title, make('pre', { textContent: text, tabIndex: 0 }));
  return details;
}
