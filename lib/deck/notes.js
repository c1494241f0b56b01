/**
 * Prepares notes for the speaker's window: marks the sentences for the steps of the slide ("One: ... Two: ..."), and sets the
 * answer to a question, in brackets after it, apart from what the speaker says.
 */

const NUMBERS = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'];
const STEP = new RegExp(`\\b(${NUMBERS.join('|')}):\\s`, 'g');
/** The end of a sentence before a bracket. */
const BRACKET = /[.?!](?:&quot;|<\/\w+>)*\s(?=\()/g;

/** @param {string} html @param {boolean} isVote  a vote shows its first row before its first step @returns {string} */
export const setNotes = (html, isVote) =>
  html.replace(/(?<=<p>).*?(?=<\/p>)/gs, (text) => markAnswers(markSteps(text, isVote ? 0 : 1)));

/** @param {string} text  of a paragraph  @param {number} first  the step of "One:" */
function markSteps(text, first) {
  const found = [...text.matchAll(STEP)];
  const marked = found.map(({ 1: word, index }, at) => {
    const step = NUMBERS.indexOf(word) + first;
    return `<span class="step" data-step="${step}">${text.slice(index, found[at + 1]?.index)}</span>`;
  });
  return text.slice(0, found[0]?.index) + marked.join('');
}

function markAnswers(/** @type {string} */ text) {
  let [set, from] = ['', 0];
  for (const { 0: end, index } of text.matchAll(BRACKET)) {
    const open = index + end.length;
    const close = closeOf(text, open);
    if (open < from || close < 0 || !text.slice(0, open).includes('?')) continue;
    set += `${text.slice(from, open)}<span class="answer">${text.slice(open, close)}</span>`;
    from = close;
  }
  return set + text.slice(from);
}

/** The index after the closing bracket, or -1. */
function closeOf(/** @type {string} */ text, /** @type {number} */ open) {
  for (let [index, depth] = [open, 0]; index < text.length; index += 1) {
    depth += { '(': 1, ')': -1 }[text[index]] ?? 0;
    if (depth === 0) return index + 1;
  }
  return -1;
}
