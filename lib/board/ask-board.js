/** What a learner's machine asks of a board: each answer is one line, and nothing waits long for it. */
import { visible } from '../verdict/visible.js';

const LIMIT_MS = 5_000;
const MOST_BYTES = 4_000; // of an answer: it comes from elsewhere

/**
 * @param {string} url  of the board
 * @param {number} [waitMs]  for an answer
 * @returns {{ ask: (method: string, path: string, headers: Record<string, string>, body?: object, limitMs?: number) =>
 *   Promise<{ status: number, text: string }>, stop: () => void }}  stop: what was asked last is given up
 */
export function createAsking(url, waitMs = LIMIT_MS) {
  let abort = new AbortController();
  return {
    async ask(method, path, headers, body, limitMs = waitMs) {
      const mine = (abort = new AbortController());
      const timer = setTimeout(() => mine.abort(), limitMs);
      try {
        const response = await fetch(new URL(path, url), {
          ...{ method, redirect: 'error', body: body && JSON.stringify(body) },
          headers: { ...headers, 'content-type': 'application/json' },
          signal: mine.signal,
        });
        return { status: response.status, text: await shortText(response) };
      } finally {
        clearTimeout(timer);
      }
    },
    stop: () => abort.abort(),
  };
}

/** What a board says in one line; whatever else answers there is none. */
async function shortText(response) {
  const length = Number(response.headers.get('content-length') ?? Infinity);
  const isOurs = /^(text\/plain|application\/json)/.test(
    response.headers.get('content-type') ?? '',
  );
  if (isOurs && length <= MOST_BYTES)
    return visible((await response.text()).trim()).replaceAll('\n', ' ');
  await response.body?.cancel();
  return 'What answers there is not a board.';
}
