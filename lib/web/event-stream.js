/** Pages that are told what is new (server-sent events): the whole each time, so that one that missed some needs only the next. */

const AGAIN_MS = 500; // after which a page that lost its line asks again

/**
 * @param {(about: string) => object} whole  what there is to tell, now, to pages about this
 * @param {{ onChange?: (watching: number) => void }} [options]  told how many pages listen, when one has come or gone
 * @returns {{ add: (response: import('express').Response, about?: string) => void, tell: () => void, watching: () => number,
 *   close: () => void }}  add: a page listens from now on; tell: something has changed; watching: how many pages listen
 */
export function createStream(whole, { onChange = () => {} } = {}) {
  /** @type {Map<import('express').Response, string>} */
  const pages = new Map();
  const message = (/** @type {string} */ about) => `data: ${JSON.stringify(whole(about))}\n\n`;
  return {
    add(response, about = '') {
      response.type('text/event-stream');
      response.write(`retry: ${AGAIN_MS}\n\n${message(about)}`);
      pages.set(response, about);
      onChange(pages.size);
      response.on('close', () => {
        pages.delete(response);
        onChange(pages.size);
      });
    },
    tell() {
      const texts = new Map([...new Set(pages.values())].map((about) => [about, message(about)]));
      for (const [response, about] of pages) response.write(String(texts.get(about)));
    },
    watching: () => pages.size,
    close() {
      for (const response of pages.keys()) response.end();
    },
  };
}
