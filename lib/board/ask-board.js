/** Requests from a learner's machine to a board: each answer is short, and no request waits long. */
import { visible } from '../verdict/visible.js';

const LIMIT_MS = 5_000;
const MOST_BYTES = 4_000; // of an answer, which comes from another machine

/**
 * @param {string} url  of the board
 * @param {number} [waitMs]  for an answer
 * @returns {{ ask: (method: string, path: string, headers: Record<string, string>, body?: object, limitMs?: number) =>
 *   Promise<{ status: number, text: string }>, stop: () => void }}  stop: aborts the latest request
 */
export function createRequester(url, waitMs = LIMIT_MS) {
  let latest = new AbortController();
  return {
    async ask(method, path, headers, body, limitMs = waitMs) {
      const abort = (latest = new AbortController());
      const timer = setTimeout(() => abort.abort(), limitMs);
      try {
        const response = await fetch(new URL(path, url), {
          ...{ method, redirect: 'error', body: body && JSON.stringify(body) },
          headers: { ...headers, 'content-type': 'application/json' },
          signal: abort.signal,
        });
        return { status: response.status, text: await shortText(response) };
      } finally {
        clearTimeout(timer);
      }
    },
    stop: () => latest.abort(),
  };
}

/** An answer in one line. A large one, or one in another format, isn't from a board. */
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
