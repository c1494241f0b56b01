/** Names that learners choose: which are valid, and which look alike on a wall. */

export const LONGEST_NAME = 24;

const BLANKS = /[\s\u2800]+/gu; // Unicode doesn't count the blank Braille pattern as white space
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu; // control characters, changes of direction, letters without width

/**
 * A name in one line without invisible characters, which could control a terminal or reverse the text.
 * @param {unknown} value @returns {string | undefined}  undefined if it isn't a name, or is too long
 */
export function parseName(value) {
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
 * The skeleton of a name, as UTS #39 calls it: the same for two names that are easily confused.
 * @param {string} name  from parseName()
 */
export function skeletonOf(name) {
  const letters = [...name.normalize('NFKD')].map((letter) => ALIKE.get(letter) ?? letter);
  return letters.join('').toLowerCase().replace(/[l1|]/g, 'i').replaceAll('0', 'o');
}
