// Verifies findings on things that grow with each request, and on one worker that gets nearly all: on events and counts
// written by hand. Pure: nothing is started.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf, sift, unexplained } from '../lib/xray/report/findings.js';
import { growthsOf } from '../lib/xray/report/growth.js';
import { unevenOf } from '../lib/xray/spread.js';

const MB = 2 ** 20;

/**
 * Under load from 1,000 to 5,000: forty values, a tenth of a second apart.
 * @template T
 * @param {(index: number) => T} valueOf
 */
const during = (valueOf) =>
  Array.from({ length: 40 }, (_, index) => ({ t: 1_000 + index * 100, value: valueOf(index) }));

const beatsOf = (/** @type {(index: number) => Record<string, unknown>} */ fieldsOf) =>
  during(fieldsOf).map(({ t, value }) => ({ t, pid: 7, what: 'beat', ...value }));

/** @param {{ events?: import('../lib/observe/timeline.js').Event[], counts?: (index: number) => number }} seen */
function grown({ events = beatsOf(() => ({})), counts }) {
  const descriptors = new Map(counts ? [[7, during(counts)]] : []);
  const load = { fromMs: 1_000, toMs: 5_000, requestsOf: () => 200 };
  return growthsOf({ events, descriptors, ...load });
}

test('handles that requests leave open grow in each part of the load, and stay', () => {
  assert.deepEqual(grown({ counts: (index) => 20 + index * 5 }), [
    { pid: 7, requests: 200, of: 'descriptors', from: 20, to: 215, times: 3 },
  ]);
  assert.deepEqual(
    grown({ counts: (index) => 20 + Math.min(index, 15) * 10 }),
    [],
    'a pool is full',
  );
  assert.deepEqual(
    grown({ counts: (index) => 20 + (index < 39 ? index * 5 : 0) }),
    [],
    'closed late',
  );
  assert.deepEqual(grown({ counts: (index) => 20 + (index % 2) * 300 }), [], 'open for a moment');
  assert.deepEqual(grown({ counts: (index) => 20 + index }), [], 'by few of the requests');
});

test('listeners for one event grow with the requests', () => {
  const some = (/** @type {number} */ index) => ({ listeners: 11 + index * 5, crowded: 'drain' });
  assert.deepEqual(grown({ events: beatsOf(some) }), [
    { pid: 7, requests: 200, of: 'listeners', from: 11, to: 206, times: 3, event: 'drain' },
  ]);
  const many = { listeners: 300, crowded: 'drain' };
  assert.deepEqual(grown({ events: beatsOf(() => many) }), [], 'many, and no more');
});

test('memory grows evenly, and is alive after garbage collections', () => {
  const rssOf = (/** @type {number} */ index) => (50 + index * 3) * MB;
  /** @param {Record<number, number>} alive  in MB, by index */
  const beats = (alive, rss = rssOf) =>
    beatsOf((index) => ({ rss: rss(index), live: alive[index] && alive[index] * MB }));
  assert.deepEqual(grown({ events: beats({ 5: 20, 30: 90 }) }), [
    { pid: 7, requests: 200, of: 'memory', from: 20 * MB, to: 90 * MB, times: 3 },
  ]);
  assert.deepEqual(grown({ events: beats({}) }), [], 'garbage, for all we know');
  assert.deepEqual(grown({ events: beats({ 5: 20 }) }), [], 'seen once');
  assert.deepEqual(grown({ events: beats({ 5: 20, 30: 22 }) }), [], 'most of it was garbage');
  assert.deepEqual(grown({ events: beats({ 5: 20, 20: 90, 30: 60 }) }), [], 'it was given back');
  const fills = (/** @type {number} */ index) => (50 + Math.min(index, 20) * 6) * MB;
  assert.deepEqual(grown({ events: beats({ 5: 20, 30: 90 }, fills) }), [], 'a cache that is full');
});

/** @param {Record<string, any>} more */
const factsWith = (more) =>
  /** @type {any} */ ({
    ...{ zeroMs: 0, port: 80, policy: undefined, processes: [], silences: [], growths: [] },
    ...{ hangs: [], streams: 0, cores: 2 },
    ...{ seen: 200, starved: 0, load: { fromMs: 1_000, toMs: 5_000, isOpen: true, isFresh: true } },
    report: { requests: 200, ratePerSecond: 50, unanswered: 1, statuses: { 200: 200 }, errors: {} },
    ...more,
  });

test('each kind of growth is one finding; data kept for a pending answer is held rightly', () => {
  const growth = { pid: 7, requests: 200, of: 'descriptors', from: 20, to: 215, times: 3 };
  const listeners = { ...growth, of: 'listeners', event: 'drain' };
  const both = factsWith({ growths: [growth, { ...growth, pid: 8, to: 300 }, listeners] });
  const found = findingsOf(both).filter(({ id }) => id === 'leaks');
  assert.deepEqual(
    found.map(({ says }) => says),
    [
      'Requests leave files or connections open: 20 became 300, even after all were answered.',
      "Requests leave listeners for 'drain' on one and the same object: 20 became 215.",
    ],
  );
  assert.equal(found[0].evidence[1], 'in 2 processes alike');
  const { report } = both;
  const waits = { ...both, report: { ...report, errors: { timeout: 1 } } };
  assert.deepEqual(sift(findingsOf(waits)).findings, []);
  const behind = { ...report, unanswered: 90, throughputPerSecond: 20 };
  assert.deepEqual(
    findingsOf({ ...both, report: behind }).map(({ id }) => id),
    ['behind'],
  );
});

const worker = { ppid: 1, name: 'server.js', isNode: true, role: 'worker', given: 5, startMs: 10 };
const workersWith = (/** @type {Record<string, any>[]} */ ...some) =>
  some.map((one, index) => ({ ...worker, pid: 7 + index, worker: index + 1, ...one }));

test('of several similar processes, the busiest is looked at again', () => {
  const uneven = (/** @type {Record<string, any>[]} */ ...some) =>
    unevenOf(factsWith({ processes: workersWith(...some) }));
  const [all, none] = [{ requests: 190 }, { requests: 0 }];
  const [some, few] = [{ requests: 80 }, { requests: 2 }];
  assert.deepEqual(uneven(all, none, few), { pid: 7, peers: [7, 8, 9], requests: 192, own: 190 });
  assert.equal(uneven(some, some), undefined, 'even');
  assert.equal(uneven(all), undefined, 'alone');
  assert.equal(uneven(all, { ...none, given: 6 }), undefined, 'it may have another job');
  assert.equal(uneven(all, { ...none, name: 'mail.js' }), undefined, 'it has another job');
  assert.equal(uneven(all, { ...none, endMs: 20 }), undefined, 'it has exited');
  assert.equal(uneven({ ...all, listenedMs: 20 }, { ...none, listenedMs: 20 }), undefined, 'idle');
  assert.equal(uneven({ requests: 40 }, none), undefined, 'too few for a finding');
  const child = { role: 'process', given: undefined };
  assert.equal(
    uneven({ ...all, ...child }, { ...none, ...child }),
    undefined,
    'the number is unknown',
  );
  assert.equal(uneven({ ...all, ...child }, { ...few, ...child })?.own, 190);
});

test('it is a finding if many clients at once, from many addresses, get the same process', () => {
  const spread = { pid: 7, peers: [7, 8], requests: 192, own: 190 };
  const found = (/** @type {Record<string, number>} */ more) =>
    findingsOf(
      factsWith({
        processes: workersWith({ requests: 190 }, { requests: 2 }),
        spread: { ...spread, ...more },
      }),
    ).filter(({ id }) => id === 'uneven');
  const [finding] = found({ clients: 16, ownAtOnce: 16 });
  assert.equal(
    finding.says,
    'worker 1 (pid 7) executed 190 of 192 requests, and another that was started alike the rest.',
  );
  assert.equal(finding.evidence[0], 'worker 2 (pid 8): 2');
  assert.deepEqual(found({ clients: 16, ownAtOnce: 8 }), [], 'it deals by the address');
  assert.deepEqual(found({}), [], 'this system has one address only');
});

test('failed requests that no finding explains do not acquit the server', () => {
  const { report } = factsWith({});
  const left = (/** @type {number} */ timeout, /** @type {any[]} */ ...found) =>
    unexplained(factsWith({ report: { ...report, errors: { timeout } } }), found);
  assert.deepEqual(left(2), [], 'one in a hundred');
  assert.deepEqual(left(3, { id: 'hangs' }), []);
  const [{ says, doubt }] = left(3, { id: 'leaks' });
  assert.equal(says, '3 of 200 requests failed or were left unanswered.');
  assert.ok(doubt);
});
