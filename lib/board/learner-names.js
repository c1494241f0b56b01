/** Names that learners choose: what may be one, and which of them look alike on a wall. */

export const LONGEST_NAME = 24;

const BLANKS = /[\s\u2800]+/gu; // the empty Braille pattern is no white space to Unicode
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu; // controls, writing turned round, letters of no width

/**
 * The name that somebody chose, as it is shown: one line, nothing in it that steers a terminal, turns the writing round or
 * is not to be seen.
 * @param {unknown} value
 * @returns {string | undefined}  undefined for what isn't a name, or is too long
 */
export function nameOf(value) {
  if (typeof value !== 'string' || value.length > 4 * LONGEST_NAME) return undefined;
  const name = value.normalize('NFKC').replace(BLANKS, ' ').replace(UNSEEN, '').trim();
  return /[\p{L}\p{N}]/u.test(name) && [...name].length <= LONGEST_NAME ? name : undefined;
}

/** Letters that look like Latin ones; Unicode's own list (UTS #39) is far longer. */
const ALIKE = new Map(
  [
    ['АВЕЅІЈКМНОРСТУХҮӀԚԜѴ', 'ABESIJKMHOPCTYXYIQWV'], // Cyrillic
    ['авеѕіјкмнорстухүӏԛԝѵһԁ', 'abesijkmhopctyxylqwvhd'],
    ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'], // Greek
    ['αγικνορτυχ', 'ayikvoptux'],
    ['ıɑɡ', 'iag'],
  ].flatMap(([others, latin]) => [...others].map((letter, index) => [letter, latin[index]])),
);

/**
 * What is left of a name on a wall: the same for two that are easily taken for each other.
 * @param {string} name  as nameOf gives it
 */
export function looksOf(name) {
  const letters = [...name.normalize('NFKD')].map((letter) => ALIKE.get(letter) ?? letter);
  return letters.join('').toLowerCase().replace(/[l1|]/g, 'i').replaceAll('0', 'o');
}
