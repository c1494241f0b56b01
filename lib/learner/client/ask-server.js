/** The page's requests to `npm start`, with its last token; a failed one resolves to its fault, in words. */
const meta = document.querySelector('meta[name=token]');
const AWAY = "npm start can't be reached.";

/** Keeps the token of the last message. @param {string} token  @returns {boolean}  whether it has changed */
export function takeToken(token) {
  const isOther = meta.getAttribute('content') !== token;
  if (isOther) meta.setAttribute('content', token);
  return isOther;
}

/**
 * Has something done.
 * @param {string} path @returns {Promise<{ value?: any, fault?: string }>}  fault: in words, why it failed
 */
export const ask = (path) =>
  answerOf(
    fetch(path, {
      method: 'POST',
      headers: { 'x-forkshop-token': meta.getAttribute('content') },
    }),
  );

/** @param {string} path  @returns {ReturnType<typeof ask>} */
export const read = (path) => answerOf(fetch(path));

async function answerOf(/** @type {Promise<Response>} */ asked) {
  const response = await asked.catch(() => undefined);
  if (!response) return { fault: AWAY };
  const text = await response.text().catch(() => '');
  if (!response.ok) return { fault: text.trim() || `It was refused (${response.status}).` };
  const value = text && JSON.parse(text);
  return value?.fault ? { fault: value.fault } : { value };
}
