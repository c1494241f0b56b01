/** What the page asks of `npm start`: with the token that it was told last, and never with an error that nobody sees. */
const meta = document.querySelector('meta[name=token]');
const AWAY = 'npm start is not to be reached.';

/** From now on this is the token. @param {string} token  @returns {boolean}  is it another than before? */
export function takeToken(token) {
  const isOther = meta.getAttribute('content') !== token;
  if (isOther) meta.setAttribute('content', token);
  return isOther;
}

/**
 * Has something done.
 * @param {string} path
 * @returns {Promise<{ value?: any, fault?: string }>}  fault: in words, why it was not done
 */
export const ask = (path) =>
  answerOf(
    fetch(path, {
      method: 'POST',
      headers: { 'x-forkshop-token': meta.getAttribute('content') },
    }),
  );

/** Reads something. @param {string} path  @returns {ReturnType<typeof ask>} */
export const read = (path) => answerOf(fetch(path));

async function answerOf(/** @type {Promise<Response>} */ asked) {
  const response = await asked.catch(() => undefined);
  if (!response) return { fault: AWAY };
  const text = await response.text().catch(() => '');
  if (!response.ok) return { fault: text.trim() || `It was refused (${response.status}).` };
  const value = text && JSON.parse(text);
  return value?.fault ? { fault: value.fault } : { value };
}
