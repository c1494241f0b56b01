/** Pages that are told what is new (server-sent events): the whole each time, so that one that missed some needs only the next. */

const AGAIN_MS = 500; // after which a page that lost its line asks anew

/**
 * @param {() => object} whole  what there is to tell, now
 * @param {{ onChange?: (watching: number) => void }} [options]  told how many pages listen, when one has come or gone
 * @returns {{ add: (response: import('express').Response) => void, tell: () => void, watching: () => number, close: () => void }}
 *   add: a page listens from now on; tell: something has changed; watching: how many pages listen
 */
export function createStream(whole, { onChange = () => {} } = {}) {
  /** @type {Set<import('express').Response>} */
  const pages = new Set();
  const message = () => `data: ${JSON.stringify(whole())}\n\n`;
  return {
    add(response) {
      response.type('text/event-stream');
      response.write(`retry: ${AGAIN_MS}\n\n${message()}`);
      pages.add(response);
      onChange(pages.size);
      response.on('close', () => {
        pages.delete(response);
        onChange(pages.size);
      });
    },
    tell() {
      if (pages.size === 0) return;
      const text = message();
      for (const response of pages) response.write(text);
    },
    watching: () => pages.size,
    close() {
      for (const response of pages) response.end();
    },
  };
}
