const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;
const LINES = 8;
const COLUMNS = 400;
const CUT = ' [...]';

/** Escapes what could clear the screen or print a verdict, as `\u001b[2J`; line ends and tabs stay. @param {string} text */
export function visible(text) {
  const escape = (/** @type {string} */ c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll('\r\n', '\n').replace(CONTROL, escape);
}

/** Escapes every string in a record. @template T @param {T} value  as JSON has it @returns {T} */
export function allVisible(value) {
  if (typeof value === 'string') return /** @type {T} */ (visible(value));
  if (Array.isArray(value)) return /** @type {T} */ (value.map(allVisible));
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).map(([name, each]) => [name, allVisible(each)]);
  return /** @type {T} */ (Object.fromEntries(fields));
}

/** The first lines of a text, each cut to COLUMNS. @param {string} text @returns {string} */
export function cut(text) {
  const lines = text.split('\n');
  const shown = lines.slice(0, LINES).map(cutLine);
  return shown.join('\n') + (lines.length > LINES ? `\n${CUT.trim()}` : '');
}

/** @param {string} line @returns {string} */
export function cutLine(line) {
  return line.length > COLUMNS ? line.slice(0, COLUMNS) + CUT : line;
}
