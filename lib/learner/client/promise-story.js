/** An open promise: expected, got, why, what the program printed; what to try is folded until it fails a second time. */
import { make } from '../../web/client/elements.js';

const FIELDS = { expected: 'Expected', got: 'Got', why: 'Why' };
const GONE = 'An X-ray is drawn of checks that this npm start makes: "Check now" makes one.';

/** @returns {HTMLElement[]}  none for a promise that holds */
export function storyOf(promise, check) {
  const list = make('dl', {});
  const { verdict, output, isAgain } = promise;
  const fields = isAgain || verdict === 'inconclusive' ? { ...FIELDS, try: 'Try' } : FIELDS;
  for (const name of Object.keys(fields).filter((each) => promise[each]))
    list.append(
      make('dt', { textContent: fields[name] }),
      make('dd', { textContent: promise[name], className: name }),
    );
  const isOpen = verdict === 'failed' || verdict === 'inconclusive';
  /** @type {HTMLElement[]} */
  const parts = list.children.length > 0 ? [list] : [];
  if (promise.try && !fields.try)
    parts.push(folded('What to try', make('p', { textContent: promise.try })));
  if (output) parts.push(printedBy(output, starterOf(promise, check)));
  if (isOpen && check.isSaved) parts.push(make('p', { className: 'note', textContent: GONE }));
  return parts;
}

/** The command that started the program. */
function starterOf({ shows, programs = [] }, check) {
  const own = programs.find((one) => check.programs[one] && !check.programs[one].isReference);
  return check.programs[shows?.program ?? own]?.name;
}

function printedBy(text, name) {
  const details = folded('Your program printed', make('pre', { textContent: text, tabIndex: 0 }));
  if (name)
    details.querySelector('summary').append(', started as ', make('code', { textContent: name }));
  return details;
}

function folded(title, element) {
  const details = make('details', { className: 'printed' });
  details.append(make('summary', { textContent: title }), element);
  return details;
}
