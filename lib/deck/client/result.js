/**
 * What it was, in a few words of the sentence that tells it: "94 of 120" of "Answered: 94 of 120. Failed: 26."
 * @param {string} sentence
 * @param {string} pattern  these words, a star for their number: "* of 120"
 * @returns {string}  '' where the sentence hasn't got them
 */
export function resultIn(sentence, pattern) {
  const [before, after] = pattern.split('*');
  const [words = ''] = new RegExp(`${before}\\d[\\d.,]*${after}`).exec(sentence) ?? [];
  return words.replace(/[.,]$/, '');
}
