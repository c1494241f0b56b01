/** The menu of the programs that a check started, grouped by the promise that each was started for. */
import { make } from './elements.js';

/**
 * Offers the programs of a check, those of the chosen promise first.
 * @param {HTMLSelectElement} select @param {{ programs: { name: string }[], promises?: any[] }} check
 * @param {{ promise: any, chosen: number }} choice
 */
export function offerPrograms(select, check, { promise, chosen }) {
  const groups = groupsOf(check, promise);
  const now = JSON.stringify(groups);
  if (select.dataset.holds !== now) select.replaceChildren(...groups.flatMap(optionsOf));
  select.dataset.holds = now;
  select.value = String(chosen);
}

function groupsOf({ programs, promises = [] }, chosen) {
  const left = new Set(programs.keys());
  const groups = [chosen, ...promises].map((one) => ({
    label: one?.sentence ?? '',
    numbers: (one?.programs ?? []).filter((number) => left.delete(number)),
  }));
  const isAlone = left.size === programs.length;
  groups.push({ label: isAlone ? '' : 'Started for none of them', numbers: [...left] });
  return groups
    .filter(({ numbers }) => numbers.length > 0)
    .map(({ label, numbers }) => ({ label, starts: startsIn(numbers, programs) }));
}

/** Numbers the starts of a command that one promise started several times. */
const startsIn = (numbers, programs) =>
  numbers.map((value) => {
    const { name } = programs[value];
    const same = numbers.filter((one) => programs[one].name === name);
    const which = same.length > 1 ? ` (start ${same.indexOf(value) + 1} of ${same.length})` : '';
    return { value, words: `${name}${which}` };
  });

function optionsOf({ label, starts }) {
  const options = starts.map(({ value, words }) =>
    make('option', { textContent: words, value: String(value) }),
  );
  if (!label) return options;
  const group = make('optgroup', { label });
  group.append(...options);
  return [group];
}
