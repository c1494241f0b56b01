/** Server-sent events for pages: each has the whole state, so a page that missed some needs only the next one. */

const AGAIN_MS = 500; // until a page reconnects

/**
 * @param {(about: string) => object} whole  the present state for pages about this
 * @param {{ onChange?: (watching: number) => void }} [options]  gets the number of pages when it changes
 * @returns {{ add: (response: import('express').Response, about?: string) => void, tell: () => void, watching: () => number,
 *   close: () => void }}  tell: sends the state to all pages; watching: the number of pages
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
