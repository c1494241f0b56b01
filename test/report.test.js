// Verifies the report on constant-rate load against windows whose right answers were calculated by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busySharesOf, reportOf, reportTable, unansweredAt } from '../lib/measure/load-report.js';

/**
 * A window of requests that were due every 100 ms from 1,000 on.
 * @param {{ takesMs: number, lateMs?: number, status?: number, error?: string }[]} requests  takesMs: from when due
 */
function windowOf(requests) {
  const answers = requests.map(({ takesMs, lateMs = 0, status, error }, index) => {
    const dueMs = 1_000 + 100 * index;
    return { dueMs, sentMs: dueMs + lateMs, doneMs: dueMs + takesMs, status, error };
  });
  return { startMs: 1_000, endMs: Math.max(...answers.map(({ doneMs }) => doneMs)), answers };
}

test('a steady window: five requests, 10 to 50 ms each', () => {
  const report = reportOf(
    windowOf([10, 20, 30, 40, 50].map((takesMs) => ({ takesMs, status: 200 }))),
  );
  assert.equal(report.requests, 5);
  assert.equal(report.sendingMs, 400);
  assert.equal(report.waitMs, 50); // the last was due at 1,400 and answered at 1,450
  assert.equal(report.ratePerSecond, 12.5); // 5 in 0.4 s, as vegeta counts
  assert.equal(report.throughputPerSecond, 5 / 0.45);
  assert.deepEqual(report.latencyMs, {
    min: 10,
    mean: 30,
    p50: 30,
    p90: 50,
    p95: 50,
    p99: 50,
    max: 50,
  });
  assert.equal(report.success, 1);
  assert.deepEqual(report.statuses, { 200: 5 });
  assert.deepEqual(report.errors, {});
  assert.equal(report.unanswered, 1);
});

test('a failed request is counted, and so is its latency, but not as a success', () => {
  const report = reportOf(
    windowOf([
      { takesMs: 10, status: 200 },
      { takesMs: 10, status: 302 },
      { takesMs: 10, status: 404 },
      { takesMs: 1_700, error: 'timeout' },
    ]),
  );
  assert.equal(report.success, 0.5);
  assert.equal(report.throughputPerSecond, 1); // 2 from 1,000 to 3,000
  assert.deepEqual(report.statuses, { 0: 1, 200: 1, 302: 1, 404: 1 });
  assert.deepEqual(report.errors, { timeout: 1 });
  assert.equal(report.latencyMs.max, 1_700);
  assert.equal(report.latencyMs.mean, 432.5);
});

test('percentiles of a hundred latencies', () => {
  const { latencyMs } = reportOf(
    windowOf(Array.from({ length: 100 }, (_, index) => ({ takesMs: index + 1, status: 200 }))),
  );
  assert.deepEqual(
    [latencyMs.p50, latencyMs.p90, latencyMs.p95, latencyMs.p99],
    [51, 91, 96, 100], // the value that so large a share lies below
  );
});

test('latency counts from when a request was due; counted from when it was sent, the waiting is left out', () => {
  const window = windowOf([
    { takesMs: 20, status: 200 },
    { takesMs: 520, lateMs: 500, status: 200 },
    { takesMs: 820, lateMs: 800, status: 200 },
  ]);
  assert.equal(reportOf(window).latencyMs.p50, 520);
  assert.equal(reportOf(window).lateMs.max, 800);
  assert.deepEqual(
    new Set(Object.values(reportOf(window, 'sentMs').latencyMs)),
    new Set([20]), // every one took 20 ms, once it was sent
  );
});

test('unanswered requests: a server answers nothing until 1,250 ms, and then everything at once', () => {
  const window = windowOf([250, 150, 50, 10].map((takesMs) => ({ takesMs, status: 200 })));
  const waiting = [999, 1_000, 1_150, 1_249, 1_250, 1_305, 1_310].map((t) =>
    unansweredAt(window, t),
  );
  assert.deepEqual(waiting, [0, 1, 2, 3, 0, 1, 0]);
});

test('a single request has no rate', () => {
  const { ratePerSecond, throughputPerSecond } = reportOf(
    windowOf([{ takesMs: 500, status: 200 }]),
  );
  assert.equal(ratePerSecond, 1);
  assert.equal(throughputPerSecond, 2);
});

/** @param {number} user @param {number} sys @param {number} idle */
const core = (user, sys, idle) => ({ model: '', times: { user, nice: 0, sys, idle, irq: 0 } });

test('how busy each core was', () => {
  const before = [core(100, 50, 850), core(0, 0, 1_000), core(5, 5, 5)];
  const after = [core(300, 150, 1_550), core(0, 0, 2_000), core(505, 505, 5)];
  assert.deepEqual(busySharesOf(before, after), [0.3, 0, 1]);
});

test('two reports side by side', () => {
  const report = reportOf(windowOf([10, 1_500].map((takesMs) => ({ takesMs, status: 200 }))));
  const processes = [{ role: 'primary', rssBytes: 50 * 2 ** 20, ussBytes: 10 * 2 ** 20 }];
  const measured = { report, coresBusy: [0.25, 1], processes };
  const lines = reportTable({ one: measured, four: { ...measured, coresBusy: [0, 0] } });
  assert.match(lines[0], /^of all requests +one +four$/);
  assert.ok(new Set(lines.map((line) => line.length)).size === 1, 'The columns are not aligned.');
  const text = lines.join('\n');
  for (const row of [
    /^requests +2 +2$/m,
    /^latency: most +1\.5 s +1\.5 s$/m,
    /25 % 100 % +0 % 0 %$/m,
  ])
    assert.match(text, row);
});
