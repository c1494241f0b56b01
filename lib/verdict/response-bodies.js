const FEWEST_BYTES = 5_000;
const MOST_BYTES = 10_000;
const LINE_END = /\r?\n$/;
const PART = 16; // hex digits: among 64-bit numbers, a repetition by chance is practically impossible
const PARTS = 32; // samples of each body

/**
 * Why these responses aren't 5,000 to 10,000 random bytes as hex text, different in each.
 * @param {import('../observe/client.js').Answer[]} seen @param {{ isTyped?: boolean, parts?: number }} [options]  isTyped: requires a
 *   content-type of text; parts: samples of each body to look for in all, at least 2
 * @returns {string | undefined}  a sentence; undefined if they are
 */
export function faultOfRandomHex(seen, { isTyped = true, parts = PARTS } = {}) {
  const answers = seen.map(({ body, ...answer }) => ({
    ...answer,
    body: body?.replace(LINE_END, ''),
  }));
  for (const answer of answers) {
    const fault = faultOfOne(answer, isTyped);
    if (fault) return fault;
  }
  const bodies = new Set(answers.map(({ body }) => body));
  if (bodies.size < answers.length) return 'Several answers had the same bytes.';
  const texts = answers.map(({ body }) => body.toLowerCase());
  return faultOfChance(texts, parts);
}

/** @param {string} body @returns {any}  the parsed JSON; {} unless it is a valid object */
export function parseJsonBody(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/** Random bytes contain every digit, and no sample twice. @param {string[]} texts @param {number} parts */
function faultOfChance(texts, parts) {
  const all = texts.join(' ');
  for (const text of texts) {
    const used = new Set(text).size;
    if (used < 16)
      return `Only ${used} of the 16 hex digits occur in it: these aren't random bytes.`;
    const step = (text.length - PART) / (parts - 1);
    for (let number = 0; number < parts; number += 1) {
      const at = Math.floor(number * step);
      const part = text.slice(at, at + PART);
      if (text.indexOf(part, text.indexOf(part) + 1) !== -1)
        return `The digits ${part} occur in it more than once: these aren't random bytes.`;
      if (all.indexOf(part, all.indexOf(part) + 1) !== -1)
        return `The digits ${part} occur in several answers: these aren't random bytes.`;
    }
  }
  return undefined;
}

function faultOfOne({ status, error, headers, body }, isTyped) {
  if (error) return `A request failed: ${error}.`;
  if (status !== 200) return `A request was answered with status ${status}.`;
  if (isTyped && !/^text\//.test(headers['content-type'] ?? '')) {
    return `Its content-type is ${headers['content-type'] ?? 'missing'}.`;
  }
  if (!/^[0-9a-f]*$/i.test(body))
    return `It isn't hex text; it begins with ${JSON.stringify(body.slice(0, 20))}.`;
  if (body.length < 2 * FEWEST_BYTES || body.length > 2 * MOST_BYTES) {
    return `It has ${body.length} hex digits, which are ${body.length / 2} bytes.`;
  }
  if (body.length % 2 !== 0) return `It has ${body.length} hex digits, but two make a byte.`;
  return undefined;
}
