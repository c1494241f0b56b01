/** The board's page as HTML; client/board.js fills in the class. */
import { escapeHtml } from '../web/code.js';
import { REPORT_IN_WORDS } from './reports.js';
import { page } from '../web/page-shell.js';

/**
 * @param {{ address: string, code: string, token: string }} where  to join; token: for requests that only this page may make
 * @returns {string}
 */
export function boardPage({ address, code, token }) {
  const command = `npm start -- --join ${address} ${code}`;
  const body = `<header class="top"><h1>The class</h1>
<p id="counts" role="status"></p>
<p class="join">Join: <code>${escapeHtml(command)}</code></p></header>
<main>
<section id="hands" aria-labelledby="hands-title" hidden><h2 id="hands-title">Hands</h2><ol></ol></section>
<div id="nobody"><p>No learner has joined yet. To join, type this and choose a name:</p><p><code>${escapeHtml(command)}</code></p></div>
<div class="table" role="region" aria-label="Who is where" tabindex="0" hidden><table id="class"><thead><tr><th scope="col">Lesson</th><th scope="col">Who</th><th scope="col">Fails, for how many</th></tr></thead><tbody></tbody></table></div>
<details id="seats"><summary>Free a seat</summary>
<p>A machine whose seat is freed leaves the board and says so; to come back, its learner starts again. If you free all seats of an address, it can’t join for five minutes.</p>
<p id="freed" role="status"></p><div></div></details>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<footer><p>✔ passed, ✖ failing, ? undecided, … checking, · reading</p><p>Heard from each machine: ${REPORT_IN_WORDS}. No file leaves a machine, and when the board is stopped all is forgotten.</p></footer>`;
  return page(
    'The class · Forkshop',
    { token },
    {
      styles: ['web/client/theme.css', 'board/client/board.css'],
      script: 'board/client/board.js',
      bodyClass: 'board',
      body,
    },
  );
}
