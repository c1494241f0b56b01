// Verifies what an X-ray's and the peers' results become: the page in one file, the choice of a number of workers,
// EVIDENCE.md. Pure: nothing is started.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidencePage } from '../bench/peers/evidence.js';
import { trialFindings } from '../lib/xray/report/findings-trials.js';
import { chosen } from '../lib/xray/scale.js';
import { traceOf } from '../lib/xray/report/trace.js';
import { scaleSection, trialSection } from '../lib/xray/report/tell-trials.js';
import { xrayPage } from '../lib/xray/page.js';

const hostile = '</script><img src=x onerror=alert(1)>';

test('the page of an X-ray needs no other file, and no text in it becomes markup', () => {
  const html = xrayPage({
    ...{ name: hostile, about: hostile },
    facts: /** @type {any} */ ({ silences: [], hangs: [], load: { toMs: 9 } }),
    sections: [{ head: hostile, says: [hostile], lines: [`  ${hostile}`], adds: [hostile] }],
    conclusion: {
      findings: [{ id: 'x', weight: 1, says: hostile, evidence: [hostile] }],
      undecided: [{ id: 'y', weight: 1, says: hostile, evidence: [hostile], doubt: hostile }],
      looked: hostile,
    },
    events: [{ t: 1, pid: 1, what: 'start', ppid: 0, role: hostile }],
  });
  assert.ok(!html.includes('<img'));
  const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? [];
  assert.equal(JSON.parse(data).timeline.events.at(-1).t, 9, 'it is drawn to the end of the load');
  assert.equal(html.match(/<\/script>/g)?.length, 3, 'the map, the data, and the program');
  assert.doesNotMatch(html, /<[a-z][^>]* (?:src|href)=|url\(/);
  const [, map] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? [];
  const { imports } = JSON.parse(map);
  const names = Object.keys(imports);
  assert.ok(
    names.includes('xray/client/xray-page.js') && names.includes('web/client/xray-story.js'),
  );
  for (const [name, url] of Object.entries(imports)) {
    const text = Buffer.from(url.split(',')[1], 'base64').toString();
    const wanted = [...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';/gm)];
    for (const [, other] of wanted) assert.ok(names.includes(other), `${name} imports ${other}`);
  }
});

test('chooses the fewest workers than which no larger number is surely faster', () => {
  const rates = (/** @type {number[][]} */ ...all) =>
    Object.fromEntries(all.map((some, index) => [`${2 ** index} workers`, some]));
  const flat = rates([100, 101, 99, 100], [200, 199, 201, 200], [202, 198, 203, 199]);
  assert.equal(chosen([1, 2, 4], flat), 2);
  const steep = rates([100, 101, 99, 100], [200, 199, 201, 200], [400, 398, 402, 400]);
  assert.equal(chosen([1, 2, 4], steep), 4);
  const vague = rates([100, 400, 50, 100], [200, 20, 600, 200], [400, 30, 900, 400]);
  assert.equal(chosen([1, 2, 4], vague), undefined);
});

test('scaling is reported with its intervals, or with the number that was not obeyed', () => {
  const ratio = { value: 1.98, low: 1.9, high: 2.05 };
  const steps = [
    { asked: 1, serve: 1, perSecond: 60, ratio: { value: 1, low: 1, high: 1 }, ceiling: 1 },
    { asked: 2, serve: 2, perSecond: 119, ratio, ceiling: 1.7 },
  ].map((one) => ({ ...one, errors: 0 }));
  const scaled = { kind: /** @type {const} */ ('scale'), variable: 'W', isObeyed: true, steps };
  const [ratios, choice] = scaleSection({ ...scaled, choice: 2 }, 'x').adds ?? [];
  assert.match(ratios, /^2 against 1: 1\.98 times as fast \(95 % interval 1\.90 to 2\.05\)/);
  assert.match(choice, /^It would choose 2, the most that were tried/);
  assert.match(scaleSection({ ...scaled, choice: 1 }, 'x').adds?.[1] ?? '', /choose 1: more are/);
  const [says] = scaleSection({ ...scaled, isObeyed: false }, 'x').says ?? [];
  assert.match(says, /not the requested one: 1 with W=1, 2 with W=2\. .*--workers-env/);
});

test('a reload by a command names that command, and how it failed', () => {
  const none = { fresh: 0, kept: 0 };
  const trial = {
    ...{ kind: /** @type {const} */ ('reload'), command: 'pm2 reload shop', atMs: 2, zeroMs: 1 },
    ...{ sent: { fresh: 10, kept: 10 }, lost: none, begun: 0, repeated: 0, errors: {} },
    ...{ left: [], servers: 2, replaced: 0, failed: { code: 1, printed: 'oh\nno such process' } },
  };
  const [what, ...says] = trialSection(trial, 'x').says ?? [];
  assert.match(what, /^`pm2 reload shop`, with 10 requests/);
  assert.deepEqual(says, [
    'No request was lost.',
    'The command exited with code 1: no such process.',
    '0 of 2 were replaced.',
  ]);
  const [finding] = trialFindings({ ...trial, lost: { fresh: 0, kept: 3 } });
  assert.equal(finding.evidence[0], '`pm2 reload shop` at 0.00 s');
});

test('several reloads have a row each, and losses are summed up', () => {
  const both = (/** @type {number} */ fresh, /** @type {number} */ kept) => ({ fresh, kept });
  const each = [0, 3].map((kept, index) => ({
    ...{ atMs: 10 + index * 2_000, tookMs: 1_200 + index * 300 },
    ...{ sent: both(30, 31), lost: both(0, kept) },
  }));
  const trial = {
    ...{ kind: /** @type {const} */ ('reload'), signal: 'SIGHUP', pid: 7, atMs: 10, zeroMs: 1 },
    ...{ sent: both(60, 62), lost: both(0, 3), begun: 3, repeated: 0 },
    ...{ errors: { ECONNRESET: 3 }, left: [], servers: 2, replaced: 2, tookMs: 1_500, each },
  };
  const { says = [], lines } = trialSection(trial, 'x');
  assert.equal(says.at(-1), 'All 2 were replaced in each of 2 reloads, within 1.20 to 1.50 s.');
  assert.deepEqual(lines, [
    '  reload          took   lost, fresh    lost, kept',
    '       1        1.20 s       0 of 30       0 of 31',
    '       2        1.50 s       0 of 30       3 of 31',
  ]);
  const [finding] = trialFindings(trial);
  assert.equal(finding.says, '2 reloads lost 3 of 122 requests.');
  assert.deepEqual(finding.evidence.slice(1), [
    '0 on fresh connections, 3 on kept ones',
    '3 in number 2',
    'ECONNRESET: 3',
  ]);
  const broken = { ...trial, each: [each[0], { ...each[1], tookMs: undefined }] };
  const { says: last = [] } = trialSection({ ...broken, tookMs: undefined }, 'x');
  assert.equal(last.at(-1), 'Reload 2 did not replace all 2, so it was the last.');
});

test('EVIDENCE.md lists its measurements, its gaps with reasons, and its conditions', () => {
  const interval = { value: 2, low: 1.9, high: 2.1 };
  const speedup = { ...interval, ceiling: 2, errors: 0, windows: 8 };
  const rates = { controlPerSecond: 90, candidatePerSecond: 180 };
  const lost = { sent: { fresh: 1000, kept: 0 }, lost: { fresh: 22, kept: 0 }, times: 20 };
  const page = evidencePage({
    ...{ command: 'npm run bench:peers', date: '2026-11-22', minutes: 9.2, memoryGb: 8 },
    conditions: {
      ...{ node: '24.0.0', platform: 'linux x64', cpu: 'A CPU', cores: 2, quotaCores: null },
      ...{ load: 0, busyCores: null, stealPercent: null, throttledMs: null },
    },
    disturbance: 'the machine had a load of 9',
    amounts: {
      workers: 2,
      trials: 3,
      reloads: 20,
      reloadRequests: 5000,
      blockingMs: 1,
      cpuMs: 1,
      untilMs: 1,
    },
    results: [
      {
        ...{ name: 'pm2', about: 'pm2 start', version: 'pm2 7', doubts: ['reload: it | broke'] },
        blocking: { ...speedup, ...rates },
        cpu: { ...speedup, ...rates, low: 0, high: Infinity, note: 'inconclusive: busy' },
        reload: { eachMs: { value: 3000, low: 2900, high: 3100 }, lost, wanted: 20 },
      },
      { name: 'reusePort', about: 'by itself', obstacle: 'it needs Node.js 23.1', doubts: [] },
    ],
  });
  assert.match(page, /^<!-- Written by npm run bench:peers: change .*, not this\. -->\n/);
  assert.match(page, /\*\*Do not trust these numbers: the machine had a load of 9\.\*\*/);
  assert.match(page, /^- Measured by `npm run bench:peers` on 2026-11-22, in 9 minutes\.$/m);
  assert.match(page, /^- Machine: A CPU, 2 cores, 8 GB, linux x64\. Node\.js 24\.0\.0\.$/m);
  assert.match(
    page,
    /^\| reusePort \| by itself\. Not measured: it needs Node\.js 23\.1\. \| {2}\|$/m,
  );
  assert.match(
    page,
    /^\| pm2 \| 2\.00 \[1\.90 to 2\.10\] \| 2\.00 \| 90\.0 → 180 \| 2\.00 \(too rough to tell\) \(inconclusive: busy\) /m,
  );
  assert.match(
    page,
    /^\| pm2 \| 20 \| 3\.00 \[2\.90 to 3\.10\] \| 22 of 1000 \[1\.46 to 3\.31 %\] \| – \|$/m,
  );
  assert.match(page, /^## What could not be measured\n\n- pm2, reload: it \| broke$/m);
});

/** The Trace Event Format's demands on an event of each phase. @type {Record<string, (event: any) => boolean>} */
const PHASES = {
  M: ({ name, args }) => name === 'process_name' && typeof args.name === 'string',
  X: ({ dur }) => Number.isFinite(dur) && dur >= 0,
  b: ({ id2, cat }) => id2.local !== undefined && typeof cat === 'string',
  e: ({ id2, cat }) => id2.local !== undefined && typeof cat === 'string',
  i: ({ s }) => ['g', 'p', 't'].includes(s),
};

test('a trace follows the Trace Event Format, and has the same number of events of each kind as the timeline', () => {
  const at = (/** @type {number} */ t, /** @type {string} */ what, more = {}) => ({
    ...{ t, pid: 7, what, ...more },
  });
  const request = { method: 'GET', url: '/a' };
  const events = [
    at(10, 'start', { ppid: 1, role: 'primary' }),
    at(11, 'fork', { worker: 1, workerPid: 8 }),
    at(12, 'start', { pid: 8, ppid: 7, role: 'worker', worker: 1 }),
    at(13, 'listening', { pid: 8, port: 80 }),
    at(14, 'beat', { pid: 8, late: 0, elu: 0 }),
    ...[20, 21, 22].map((t) => at(t, 'request', { pid: 8, client: t, ...request })),
    ...[23, 24].map((t) => at(t, 'response', { pid: 8, client: t - 3, status: 200 })),
    at(30, 'crash', { pid: 8, error: 'Error: x' }),
    at(31, 'worker-exit', { worker: 1, workerPid: 8, code: 1, signal: null }),
  ];
  const silences = [{ pid: 8, fromMs: 15, ms: 60, under: '/a' }];
  const { traceEvents } = JSON.parse(JSON.stringify(traceOf({ events, silences, zeroMs: 10 })));
  for (const event of traceEvents) {
    assert.ok(PHASES[event.ph]?.(event), JSON.stringify(event));
    assert.ok(Number.isInteger(event.pid) && Number.isInteger(event.tid));
    if (event.ph !== 'M') assert.ok(event.ts >= 0, JSON.stringify(event));
  }
  const count = (/** @type {string} */ ph) =>
    traceEvents.filter((/** @type {any} */ event) => event.ph === ph).length;
  assert.deepEqual(['M', 'b', 'e', 'X', 'i'].map(count), [2, 3, 3, 1, 6]);
  const ends = new Map(
    traceEvents.flatMap((/** @type {any} */ one) => (one.ph === 'e' ? [[one.id2.local, one]] : [])),
  );
  for (const begin of traceEvents.filter((/** @type {any} */ { ph }) => ph === 'b')) {
    const { name, pid, cat, ts } = ends.get(begin.id2.local);
    assert.deepEqual({ name, pid, cat }, { name: begin.name, pid: begin.pid, cat: begin.cat });
    assert.ok(ts >= begin.ts);
  }
});
