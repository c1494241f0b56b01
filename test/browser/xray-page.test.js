// Verifies the page that `xray --html` writes: opened from disk it draws, and can be zoomed and moved.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../lib/observe/temporary-folder.js';
import { xrayPage } from '../../lib/xray/page.js';
import { accessibilityFaults, openBrowser, skip } from './browser.js';

const request = (/** @type {number} */ t, /** @type {number} */ client) => [
  { t, pid: 2, what: 'request', client, method: 'GET', url: '/' },
  { t: t + 340, pid: 2, what: 'response', client, status: 200 },
];

const page = xrayPage({
  ...{ name: 'server.js', about: 'GET /, 2 requests a second' },
  conclusion: {
    findings: [
      {
        ...{ id: 'blocks', weight: 70, says: '/ kept the event loop for up to 340 ms.' },
        ...{ evidence: ['3 times'], see: [1, 'block-or-wait'] },
        moments: [{ pid: 2, t: 1_000, toMs: 1_340, says: 'silent for 340 ms' }],
      },
    ],
    undecided: [],
    looked: 'Looked at: 8 requests, GET /, in 3.4 s. Not looked at: other requests.',
  },
  sections: [
    {
      head: 'Latency',
      charts: [
        { name: 'latency', label: 'within', unit: 'ms', rows: [{ name: 'most', value: 341 }] },
      ],
      lines: ['  2 server.js'],
    },
  ],
  facts: {
    silences: [{ pid: 2, fromMs: 1_000, ms: 340, under: '/' }],
    hangs: [],
    load: { fromMs: 500, toMs: 3_340, lastDueMs: 3_000, isOpen: true, isFresh: true },
  },
  events: [
    { t: 0, pid: 2, what: 'start', ppid: 1, role: 'primary' },
    { t: 50, pid: 2, what: 'listening', port: 80 },
    ...[500, 1_000, 2_000, 3_000].flatMap((t) => request(t, 40_000 + t)),
  ],
});

test('is one file, and draws when opened from disk', { skip }, async (t) => {
  const folder = mkdtempSync(join(temporaryFolder(), 'forkshop-page-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'x.html');
  writeFileSync(file, page);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const tab = await browser.newPage();
  /** @type {string[]} */
  const faults = [];
  tab.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  tab.on('pageerror', (error) => faults.push(String(error)));
  tab.on('request', (one) => {
    if (!one.url().startsWith('data:') && !one.url().startsWith(String(pathToFileURL(file))))
      faults.push(`request to ${one.url()}`);
  });
  await tab.goto(String(pathToFileURL(file)));
  await tab.locator('#evidence svg .flag').waitFor();
  const span = () => tab.locator('#evidence .span').textContent();
  const moment = await span();
  await tab.getByRole('button', { name: 'The whole run' }).click();
  assert.match((await span()) ?? '', /^0\.00 s to 3\.34 s of 3\.34 s\./);
  await tab.getByRole('button', { name: 'The moment' }).click();
  assert.equal(await span(), moment);
  assert.equal(await tab.locator('.chart tr').count(), 1);
  assert.deepEqual(await accessibilityFaults(tab), []);
  assert.deepEqual(faults, []);
});
